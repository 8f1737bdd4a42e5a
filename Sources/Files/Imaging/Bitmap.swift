/// A picture in memory: 8-bit sRGB, three bytes a pixel (red, green, blue), rows from the top without
/// padding.
package struct Bitmap: Hashable, Sendable {
    package static let bytesPerPixel = 3

    package let width: Int
    package let height: Int
    /// `width * height * 3` bytes.
    package internal(set) var pixels: [UInt8]

    package init(width: Int, height: Int, pixels: [UInt8]) {
        precondition(width > 0 && height > 0, "a bitmap has at least one pixel")
        precondition(pixels.count == width * height * Self.bytesPerPixel, "pixels do not fill the bitmap")
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    package var size: PixelSize { PixelSize(width: self.width, height: self.height) }

    /// The mean brightness, 0 to 255: 0.299 R + 0.587 G + 0.114 B (Docs/apps.md section 9, step 3a).
    package var meanLuma: Double {
        var sums: (red: UInt64, green: UInt64, blue: UInt64) = (0, 0, 0)
        for start in stride(from: 0, to: self.pixels.count, by: Self.bytesPerPixel) {
            sums.red += UInt64(self.pixels[start])
            sums.green += UInt64(self.pixels[start + 1])
            sums.blue += UInt64(self.pixels[start + 2])
        }
        let weighted = 0.299 * Double(sums.red) + 0.587 * Double(sums.green) + 0.114 * Double(sums.blue)
        return weighted / Double(self.width * self.height)
    }
}

/// The size of a picture in pixels.
package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    package let width: Int
    package let height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package var description: String { "\(self.width) x \(self.height)" }

    /// The size of an upload, by the app's rule: the longer side at most `longSideMax`, never enlarged, the
    /// aspect ratio kept, the shorter side rounded to the nearest pixel and at least 1
    /// (Docs/apps.md section 9, "Resize").
    package func fitted(longSideMax: Int) -> PixelSize {
        precondition(longSideMax > 0, "a picture has at least one pixel")
        let long = max(self.width, self.height)
        let short = min(self.width, self.height)
        guard long > longSideMax else { return self }
        let fittedShort = max(1, (short * longSideMax + long / 2) / long)
        return self.width > self.height
            ? PixelSize(width: longSideMax, height: fittedShort)
            : PixelSize(width: fittedShort, height: longSideMax)
    }
}
