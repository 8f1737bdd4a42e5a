/// The conversion of pixels to the planes of the encoder: rotation, contrast, brightness and color in one
/// pass, strip by strip; each strip stays in the processor's cache.
enum PhotoDeveloper {
    /// Rows of a strip: even, since chroma has one for two.
    private static let stripRows = 16

    /// `isTurned` turns the picture clockwise by a quarter.
    static func develop(
        _ pixels: borrowing PhotoPixels, _ tone: ToneMap, isTurned: Bool, with encoder: inout JPEGEncoder
    ) throws(ImagingError) -> PhotoPlanes {
        let source = pixels.size
        let size = isTurned ? PixelSize(width: source.height, height: source.width) : source
        let planes = PhotoPlanes(size: size)
        let rowBytes = size.width * Bitmap.bytesPerPixel
        let strip = ByteRows(width: rowBytes, height: min(Self.stripRows, size.height))
        for top in stride(from: 0, to: size.height, by: Self.stripRows) {
            let rows = min(Self.stripRows, size.height - top)
            if isTurned {
                unsafe Self.turn(pixels, columns: top..<(top + rows), into: strip.base)
                unsafe tone.map(strip.base, to: strip.base, count: rows * rowBytes)
            } else {
                unsafe tone.map(pixels.rows.row(top), to: strip.base, count: rows * rowBytes)
            }
            try unsafe encoder.convert(strip.base, rows: rows, into: planes, top: top)
        }
        return planes
    }

    /// Columns of the source become rows: the pixel (u, v) goes to (height - 1 - v, u)
    /// (Docs/apps.md section 9, step 1).
    private static func turn(
        _ pixels: borrowing PhotoPixels, columns: Range<Int>, into strip: UnsafeMutablePointer<UInt8>
    ) {
        let height = pixels.size.height
        for v in 0..<height {
            var source = unsafe pixels.rows.row(v) + columns.lowerBound * 3
            var target = unsafe strip + (height - 1 - v) * 3
            for _ in columns {
                unsafe target[0] = source[0]
                unsafe target[1] = source[1]
                unsafe target[2] = source[2]
                unsafe source += 3
                unsafe target += height * 3
            }
        }
    }
}
