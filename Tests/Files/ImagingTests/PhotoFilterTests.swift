import Testing

@testable import Imaging

/// Red, green and blue from a picture's own rule.
private func pixels(_ width: Int, _ height: Int, _ level: (_ x: Int, _ y: Int, _ channel: Int) -> Int)
    -> PhotoPixels
{
    let pixels = PhotoPixels(size: PixelSize(width: width, height: height))
    for y in 0..<height {
        let row = unsafe pixels.rows.row(y)
        for x in 0..<(width * 3) { unsafe row[x] = UInt8(level(x / 3, y, x % 3)) }
    }
    return pixels
}

/// The levels of a plane, without what pads it.
private func levels(_ plane: borrowing ByteRows, _ width: Int, _ height: Int) -> [[Int]] {
    var rows: [[Int]] = []
    for y in 0..<height {
        let row = unsafe plane.row(y)
        rows.append((0..<width).map { unsafe Int(row[$0]) })
    }
    return rows
}

/// A picture of luma alone.
private func planes(_ width: Int, _ height: Int, _ luma: (Int, Int) -> Int) -> PhotoPlanes {
    let planes = PhotoPlanes(size: PixelSize(width: width, height: height))
    for y in 0..<height {
        let row = unsafe planes.luma.row(y)
        for x in 0..<width { unsafe row[x] = UInt8(luma(x, y)) }
    }
    return planes
}

private func luma(_ planes: borrowing PhotoPlanes) -> [[Int]] {
    levels(planes.luma, planes.size.width, planes.size.height)
}

private func mapped(_ tone: ToneMap, _ levels: [UInt8]) -> [UInt8] {
    var target = [UInt8](repeating: 0, count: levels.count)
    unsafe levels.withUnsafeBufferPointer { source in
        unsafe target.withUnsafeMutableBufferPointer { target in
            guard let source = source.baseAddress, let target = target.baseAddress else { return }
            unsafe tone.map(source, to: target, count: levels.count)
        }
    }
    return target
}

@Suite struct PhotoFilterTests {
    // MARK: Contrast and brightness

    @Test(arguments: [0, 0.1, 0.1366, 0.2, -0.1, -0.2])
    func `every level becomes what the formula says`(brightness: Double) {
        let all = (0...255).map { UInt8($0) }
        // 1.5 v - 63.75 + 255 b, clamped at the end; brightness is rounded to 1/32 of a level.
        let added = (brightness * 255 * 32).rounded() / 32
        let expected = all.map { level in
            UInt8(min(255, max(0, (1.5 * Double(level) - 63.75 + added + 0.5).rounded(.down))))
        }
        #expect(mapped(ToneMap(brightness: brightness), all) == expected)
        #expect(mapped(.none, all) == all)
    }

    @Test func `black stays black and white stays white although both are adjusted`() {
        // An implementation that clamps between the filters makes 51 and 204 of them.
        for (level, brightness) in [(0, 0.2), (255, -0.2)] {
            let luminance = MeanColor(of: pixels(9, 7) { _, _, _ in level }).contrastedLuminance
            #expect(luminance == Double(level))
            #expect(MeanColor.brightnessAdjustment(luminance: luminance) == brightness)
            #expect(mapped(ToneMap(brightness: brightness), [UInt8(level)]) == [UInt8(level)])
        }
    }

    // MARK: Luminance

    // Docs/apps.md section 9, steps 3a and 3b.
    @Test(arguments: [
        (0, 0.2), (50, 0.2), (75, 0.15), (99, 0.102), (100, 0), (140, 0), (180, 0), (181, -0.102),
        (205, -0.15), (230, -0.2), (255, -0.2),
    ])
    func `the adjustment jumps at both thresholds and is capped`(luminance: Double, expected: Double) {
        #expect(abs(MeanColor.brightnessAdjustment(luminance: luminance) - expected) < 1e-12)
    }

    @Test func `the luminance is that of one pixel of eight bits`() {
        // 1.5 x 128 - 63.75 = 128.25, which eight bits hold as 128.
        #expect(abs(MeanColor(red: 128, green: 128, blue: 128).contrastedLuminance - 128) < 1e-9)
        // Beyond black and white a pixel cannot go: red 255, green 0, blue 86.25 rounded to 86.
        let clamped = MeanColor(red: 240, green: 20, blue: 100).contrastedLuminance
        #expect(abs(clamped - (0.299 * 255 + 0.114 * 86)) < 1e-9)
    }

    @Test(arguments: [(1, 1), (7, 3), (8, 2), (601, 5), (2100, 2)])
    func `the mean is that of every pixel`(width: Int, height: Int) {
        let level = { (x: Int, y: Int, channel: Int) in
            [(x * 7 + y * 5) % 256, (x * 3 + 200) % 256, 255][channel]
        }
        let color = MeanColor(of: pixels(width, height, level))
        let means = (0..<3).map { channel in
            let all = (0..<height).flatMap { y in (0..<width).map { level($0, y, channel) } }
            return Double(all.reduce(0, +)) / Double(all.count)
        }
        #expect(color == MeanColor(red: means[0], green: means[1], blue: means[2]))
    }

    // MARK: Noise

    /// The formula in doubles, as decision 0080 writes it.
    private func smoothed(_ luma: [[Int]]) -> [[Double]] {
        let (height, width) = (luma.count, luma[0].count)
        func level(_ x: Int, _ y: Int) -> Double {
            Double(luma[min(max(y, 0), height - 1)][min(max(x, 0), width - 1)])
        }
        let weights = [1.0, 2, 1]
        return (0..<height).map { y in
            (0..<width).map { x in
                var around = 0.0
                for (dy, down) in weights.enumerated() {
                    for (dx, across) in weights.enumerated() {
                        around += down * across * level(x + dx - 1, y + dy - 1) / 16
                    }
                }
                let detail = level(x, y) - around
                let size = abs(detail)
                let noise = 0.02 * 255
                return size < noise
                    ? level(x, y) - detail * (1 - size / noise)
                    : level(x, y) + min(0.4 * (size - noise), 40) * (detail < 0 ? -1 : 1)
            }
        }
    }

    @Test(arguments: [(64, 48), (1, 1), (1, 9), (9, 1), (2, 2), (37, 23)])
    func `noise reduction is its formula, to a level`(width: Int, height: Int) {
        let picture = planes(width, height) { x, y in
            (x * 3 + y * 2 + (x * 37 ^ y * 91) % 11 + x / 20 * 60) % 256
        }
        let expected = self.smoothed(luma(picture))
        NoiseFilter.apply(to: picture)
        for (made, expected) in zip(luma(picture).joined(), expected.joined()) {
            #expect(abs(Double(made) - min(max(expected, 0), 255)) <= 1)
        }
    }

    @Test func `small differences become smaller, large ones larger, none at all stays none`() {
        func swing(_ height: Int) -> Int {
            let picture = planes(16, 16) { x, y in 120 + (x + y) % 2 * height }
            NoiseFilter.apply(to: picture)
            let row = luma(picture)[8]
            return abs(row[7] - row[8])
        }
        #expect(swing(0) == 0)
        #expect(swing(3) < 2)
        #expect(swing(40) > 40)
    }

    @Test func `no level overflows, whatever its neighbors`() {
        for (inside, outside) in [(0, 255), (255, 0)] {
            let picture = planes(5, 5) { x, y in x == 2 && y == 2 ? inside : outside }
            NoiseFilter.apply(to: picture)
            #expect(luma(picture)[2][2] == inside)
            #expect(luma(picture)[0][0] == outside)
        }
    }

    @Test func `what pads odd sides is the last row and column`() {
        let picture = planes(3, 5) { x, y in 40 * x + 20 * y }
        NoiseFilter.apply(to: picture)
        let all = levels(picture.luma, 4, 6)
        #expect(all.map { $0[3] } == all.map { $0[2] })
        #expect(all[5] == all[4])
    }

    // MARK: Rotation

    /// Grey pictures: luma is the level.
    private func turned(_ width: Int, _ height: Int, _ level: (Int, Int) -> Int) throws -> [[Int]] {
        var encoder = JPEGEncoder()
        let source = pixels(width, height) { x, y, _ in level(x, y) }
        let planes = try PhotoDeveloper.develop(source, .none, isTurned: true, with: &encoder)
        #expect(planes.size == PixelSize(width: height, height: width))
        return luma(planes)
    }

    @Test(arguments: [(2, 6), (3, 7), (5, 12), (40, 99), (33, 130), (1, 1)])
    func `a quarter turn takes the pixel (u, v) to (height - 1 - v, u)`(width: Int, height: Int) throws {
        let level = { (x: Int, y: Int) in (x * 31 + y * 17) % 256 }
        let expected = (0..<width).map { u in (0..<height).map { level(u, height - 1 - $0) } }
        #expect(try self.turned(width, height, level) == expected)
    }

    @Test func `developing in strips is converting at once`() throws {
        for (width, height) in [(37, 50), (16, 16), (8, 33), (2, 1)] {
            var encoder = JPEGEncoder()
            let picture = pattern(width, height)
            func source() -> PhotoPixels {
                pixels(width, height) { Int(picture.pixels[($1 * width + $0) * 3 + $2]) }
            }
            let strips = try PhotoDeveloper.develop(source(), .none, isTurned: false, with: &encoder)
            let whole = PhotoPlanes(size: picture.size)
            let rows = source()
            try unsafe encoder.convert(rows.rows.base, rows: height, into: whole, top: 0)
            #expect(luma(strips) == luma(whole))
            #expect(try encoder.encode(strips, quality: 85) == encoder.encode(whole, quality: 85))
            // Where nothing is padded, the planes give what the encoder makes of the pixels at once.
            guard width % 16 == 0, height % 16 == 0 else { continue }
            #expect(try encoder.encode(strips, quality: 85) == encoder.encode(picture, quality: 85))
        }
    }
}
