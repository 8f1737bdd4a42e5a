internal import SimBase

/// The lighting of the shelf.
package enum ShelfLight: String, CaseIterable, Hashable, Sendable {
    case dark
    case normal
    case bright

    /// The mean of the finished picture (`Bitmap.meanLuma`), on the three sides of the app's thresholds
    /// (Docs/apps.md section 9, step 3b: it brightens a source below 109 and darkens one above 162).
    fileprivate var meanLuma: Double {
        switch self {
        case .dark: 62
        case .normal: 124
        case .bright: 176
        }
    }

    /// The standard deviation of the noise in hundredths of a level. It is chosen for the bytes of the JPEG,
    /// which are most in the dark.
    fileprivate var noise: Int {
        switch self {
        case .dark: 320
        case .normal: 165
        case .bright: 160
        }
    }
}

/// The contrast of the picture.
package enum ShelfContrast: String, CaseIterable, Hashable, Sendable {
    case normal
    /// Half the contrast, as with haze on the lens.
    case low
}

/// The picture to paint. The same values give the same pixels in every process.
package struct ShelfPicture: Hashable, Sendable {
    /// Landscape shows one row of books, portrait two, a tall one (2:1 or more) three.
    package let size: PixelSize
    package let light: ShelfLight
    package let contrast: ShelfContrast
    package let seed: UInt64
}

/// Paints what a phone's photo of a bookshelf is to the rest of the program: a JPEG of its size in pixels and
/// bytes, of its brightness and with noise. Only a simulated backend looks at it, so the shelf is a plain
/// drawing.
///
/// The same seed gives the same pixels on every machine, because the painter does not use the math library.
package enum ShelfPainter {
    /// Smaller pictures hardly show a book.
    package static let sideMin = 64
    package static let pixelsMax = 16_000_000
    /// The JPEG quality. It keeps a painted photo near the size of one in a messenger or on a web page.
    package static let quality = 78

    /// The unit of a tone before it is rounded: the sum of four random bytes has a standard deviation of
    /// 147.8, and noise is given in hundredths.
    private static let unitsPerLevel = 14_780

    /// `picture.size` must have sides of at least `sideMin` and at most `pixelsMax` pixels.
    package static func paint(_ picture: ShelfPicture) -> Bitmap {
        let size = picture.size
        precondition(min(size.width, size.height) >= Self.sideMin, "a shelf needs room")
        precondition(size.width * size.height <= Self.pixelsMax, "too large a picture to paint")
        let drawing = ShelfDrawing(picture).bitmap
        let tones = Self.tones(picture, mean: drawing.meanLuma)
        return Self.expose(drawing, tones, picture)
    }

    /// The painted picture as a JPEG.
    package static func jpeg(
        _ picture: ShelfPicture, encoder: inout JPEGEncoder
    ) throws(ImagingError) -> [UInt8] {
        try encoder.encode(self.paint(picture), quality: Self.quality)
    }

    /// The tone of each level, in units. Levels are scaled towards black or towards white, so that the mean
    /// is that of the light and nothing is clamped.
    private static func tones(_ picture: ShelfPicture, mean: Double) -> [Int] {
        let target = picture.light.meanLuma
        let contrast = picture.contrast == .low ? 0.48 : 1
        return (0...255).map { level in
            let level = Double(level)
            let exposed =
                mean > target
                ? level * target / mean : 255 - (255 - level) * (255 - target) / (255 - mean)
            let tone = target + (exposed - target) * contrast
            return Int((tone + 0.5) * Double(Self.unitsPerLevel))
        }
    }

    /// Applies the tones and adds noise, which is the same in all channels of a pixel.
    private static func expose(_ drawing: Bitmap, _ tones: [Int], _ picture: ShelfPicture) -> Bitmap {
        let random = KeyedRandom(seed: picture.seed)
        let strength = picture.light.noise
        var pixels = drawing.pixels
        for start in stride(from: 0, to: pixels.count, by: Bitmap.bytesPerPixel) {
            let bits = random.draw(.paint, PaintTrait.noise.rawValue, UInt64(start))
            // About normal, with a mean of 510.
            let sum = (bits & 0xFF) + (bits >> 8 & 0xFF) + (bits >> 16 & 0xFF) + (bits >> 24 & 0xFF)
            let noise = (Int(sum) - 510) * strength
            for index in start..<(start + Bitmap.bytesPerPixel) {
                let level = (tones[Int(pixels[index])] + noise) / Self.unitsPerLevel
                pixels[index] = UInt8(min(255, max(0, level)))
            }
        }
        return Bitmap(width: drawing.width, height: drawing.height, pixels: pixels)
    }
}
