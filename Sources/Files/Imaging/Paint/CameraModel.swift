/// Makes the picture from the film: how the phone was held, its lens, its exposure, its sensor.
struct CameraModel {
    private let picture: ShelfPicture
    private let own: PaintRandom
    private let grain: Grain

    init(_ picture: ShelfPicture) {
        self.picture = picture
        self.own = PaintRandom(seed: picture.seed).thing(.camera, 2)
        self.grain = Grain(self.own.bits(.grain))
    }

    func develop(_ film: Raster) -> Bitmap {
        let view = self.view(of: film)
        let curve = self.curve(for: view)
        return self.expose(view, curve)
    }

    // MARK: Lens

    /// Turns the film a little, tips it, bends it as a wide lens does, and darkens the corners.
    private func view(of film: Raster) -> Raster {
        let width = self.picture.size.width
        let height = self.picture.size.height
        let radius = (Float(width * width + height * height)).squareRoot() / 2
        let turn = self.own.real(-0.016...0.016, .tilt)
        let tipX = self.own.real(-0.025...0.025, .keystone)
        let tipY = self.own.real(-0.025...0.025, .keystone, 1)
        let corners: Float = self.picture.light == .dark ? 0.5 : 0.3
        let tint = self.tint
        let view = Raster(width: width, height: height, ink: .black)
        for row in 0..<height {
            let y = (Float(row) + 0.5 - Float(height) / 2) / radius
            for column in 0..<width {
                let x = (Float(column) + 0.5 - Float(width) / 2) / radius
                let squared = x * x + y * y
                let bend = (1 + 0.012 * squared) / (1 + tipX * x + tipY * y)
                let filmX = (x - turn * y) * bend * radius + Float(film.width) / 2
                let filmY = (y + turn * x) * bend * radius + Float(film.height) / 2
                let falloff = 1 - corners * squared * (1 + squared) / 2
                view[column, row] = film.sample(filmX, filmY).scaled(falloff).tinted(tint)
            }
        }
        return view
    }

    /// The color of the light, less what the phone's white balance takes out of it.
    private var tint: Ink {
        switch self.picture.light {
        case .dark: Ink(red: 1.22, green: 0.98, blue: 0.66)
        case .normal: Ink(red: 1.05, green: 1, blue: 0.92)
        case .bright: Ink(red: 0.99, green: 1, blue: 1.03)
        }
    }

    // MARK: Exposure

    /// Bytes as a function of light.
    private struct Curve {
        let gain: Float
        let contrast: Float
        let mean: Float

        /// 0 to 1 from linear light: the square root is the gamma, then a shoulder that keeps lights from
        /// clipping.
        func tone(_ linear: Float) -> Float {
            let value = (max(0, linear) * self.gain).squareRoot()
            // A little toe for depth in the shadows.
            let toed = value * value / (value + 0.035)
            let shoulder = toed < 0.7 ? toed : 0.7 + 0.3 * (toed - 0.7) / (toed - 0.7 + 0.3)
            return self.mean + (shoulder - self.mean) * self.contrast
        }
    }

    /// Finds the exposure that gives the picture the mean its light should have, as a phone's meter does.
    private func curve(for view: Raster) -> Curve {
        var counts = [Int](repeating: 0, count: 512)
        let step = max(1, min(view.width, view.height) / 240)
        var total = 0
        for row in stride(from: 0, to: view.height, by: step) {
            for column in stride(from: 0, to: view.width, by: step) {
                let value = view[column, row].luma.squareRoot()
                counts[min(511, Int(value * 256))] += 1
                total += 1
            }
        }
        let target = self.picture.light.meanLuma / 255
        let contrast: Float = self.picture.contrast == .low ? 0.48 : 1
        var low: Float = 0.01
        var high: Float = 64
        for _ in 0..<24 {
            let middle = (low + high) / 2
            let curve = Curve(gain: middle, contrast: 1, mean: target)
            var sum: Float = 0
            for (bin, count) in counts.enumerated() where count > 0 {
                let value = (Float(bin) + 0.5) / 256
                sum += curve.tone(value * value) * Float(count)
            }
            if sum / Float(total) < target { low = middle } else { high = middle }
        }
        return Curve(gain: (low + high) / 2, contrast: contrast, mean: target)
    }

    // MARK: Sensor

    /// Tones, the phone's sharpening, and noise: more of it in the shadows, more in the dark, in colors too.
    private func expose(_ view: Raster, _ curve: Curve) -> Bitmap {
        let width = view.width
        let saturation: Float = self.picture.light == .bright ? 0.7 : 0.8
        let strength: Float =
            switch self.picture.light {
            case .dark: 3.4
            case .normal: 1.5
            case .bright: 1.1
            }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * view.height * Bitmap.bytesPerPixel)
        for row in 0..<view.height {
            for column in 0..<width {
                let ink = view[column, row]
                // Toned channel by channel colors grow too strong; the sensor's are paler.
                let toned = Ink(
                    red: curve.tone(ink.red), green: curve.tone(ink.green), blue: curve.tone(ink.blue))
                let grey = toned.luma
                let pale = Ink(red: grey, green: grey, blue: grey).mixed(toned, saturation)
                let red = pale.red
                let green = pale.green
                let blue = pale.blue
                let noise = strength * (1.25 - 0.8 * green)
                let light = self.gaussian(Int32(column), Int32(row)) * noise
                let cell = (Int32(column / 2), Int32(row / 2))
                let warm = self.gaussian(cell.0 &+ 100_000, cell.1) * noise * 0.45
                let cool = self.gaussian(cell.0, cell.1 &+ 100_000) * noise * 0.45
                pixels.append(Self.byte(red * 255 + light + warm))
                pixels.append(Self.byte(green * 255 + light))
                pixels.append(Self.byte(blue * 255 + light + cool))
            }
        }
        return Bitmap(width: width, height: view.height, pixels: pixels)
    }

    /// About normal, with deviation 1: the sum of four bytes.
    private func gaussian(_ x: Int32, _ y: Int32) -> Float {
        let bits = self.grain.bits(x, y)
        let sum = (bits & 0xFF) + (bits >> 8 & 0xFF) + (bits >> 16 & 0xFF) + bits >> 24
        return (Float(sum) - 510) / 147.8
    }

    private static func byte(_ value: Float) -> UInt8 { UInt8(min(255, max(0, value + 0.5))) }
}
