/// The lighting of the shelf. The means are those of the finished picture (`Bitmap.meanLuma`), chosen on the
/// three sides of the app's thresholds (Docs/contract.md section 9, step 3b: it brightens a source below 109
/// and darkens one above 162).
package enum ShelfLight: String, CaseIterable, Hashable, Sendable {
    /// A lamp in the evening: warm, uneven, noisy.
    case dark
    /// A room by day.
    case normal
    /// A window behind the phone, white furniture.
    case bright

    var meanLuma: Float {
        switch self {
        case .dark: 62
        case .normal: 124
        case .bright: 184
        }
    }
}

/// The contrast of the picture.
package enum ShelfContrast: String, CaseIterable, Hashable, Sendable {
    case normal
    /// Haze on the lens: half the contrast.
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

/// Paints a bookshelf as a phone would photograph it.
///
/// No two runs share anything but the seed; there is no clock, no system randomness, and no operation but
/// addition, multiplication, division and square root, so the pixels do not depend on the machine's
/// mathematics library.
package enum ShelfPainter {
    /// Smaller pictures show no lettering, and hardly a book.
    package static let sideMin = 64
    package static let pixelsMax = 16_000_000
    /// The JPEG quality. It keeps a painted photo near the size of one in a messenger or on a web page.
    package static let quality = 78

    /// `picture.size` must have sides of at least `sideMin` and at most `pixelsMax` pixels.
    package static func paint(_ picture: ShelfPicture) -> Bitmap {
        let size = picture.size
        precondition(min(size.width, size.height) >= Self.sideMin, "a shelf needs room")
        precondition(size.width * size.height <= Self.pixelsMax, "too large a picture to paint")
        let film = ShelfScene(picture).photograph()
        return CameraModel(picture).develop(film)
    }

    /// The painted picture as a JPEG.
    package static func jpeg(
        _ picture: ShelfPicture, encoder: inout JPEGEncoder
    ) throws(ImagingError) -> [UInt8] {
        try encoder.encode(self.paint(picture), quality: Self.quality)
    }
}
