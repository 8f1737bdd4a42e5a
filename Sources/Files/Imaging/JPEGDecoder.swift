internal import CTurboJPEG

/// The properties in a JPEG's header, read before decoding.
package struct JPEGHeader: Hashable, Sendable {
    package let size: PixelSize
    package let isGreyscale: Bool
}

/// The resolution at which a JPEG is decoded.
package enum DecodeScale: Hashable, Sendable {
    case full
    /// The smallest of 1/8, 1/4, 1/2 and 1 that leaves the longer side at least this long. The decoder leaves
    /// out frequencies instead of computing pixels that a resize would average away: 1/2 costs a third of the
    /// time.
    case covering(longSide: Int)
}

/// libturbojpeg's decoder, to be reused and again by one thread.
///
/// EXIF orientation is ignored, as in the app, which works on the raw picture (Docs/apps.md section 9).
@safe package struct JPEGDecoder: ~Copyable {
    /// More than any phone's sensor gives (8064 x 6048), little enough that a header cannot exhaust memory.
    package static let pixelsMax = 64_000_000

    private var handle: tjhandle
    private let pixelsMax: Int

    /// Pictures of more than `pixelsMax` pixels are refused from their header.
    package init(pixelsMax: Int = JPEGDecoder.pixelsMax) {
        unsafe self.handle = Self.newHandle()
        self.pixelsMax = pixelsMax
    }

    private static func newHandle() -> tjhandle {
        guard let handle = unsafe tjInitDecompress() else {
            preconditionFailure("no memory for a JPEG decoder")
        }
        return unsafe handle
    }

    deinit { _ = unsafe tjDestroy(self.handle) }

    /// Reads the header alone; refuses what `decode` would refuse from it.
    package mutating func header(of jpeg: [UInt8]) throws(ImagingError) -> JPEGHeader {
        guard jpeg.isEmpty == false else { throw .empty }
        guard jpeg.starts(with: [0xFF, 0xD8, 0xFF]) else {
            // The start of a JPEG's start is a JPEG cut off, not another kind of file.
            let isStart = [0xFF, 0xD8, 0xFF].starts(with: jpeg)
            throw isStart ? .truncated : .notAJPEG(found: Array(jpeg.prefix(4)))
        }
        var width: Int32 = 0
        var height: Int32 = 0
        var subsampling: Int32 = 0
        var colorspace: Int32 = 0
        let code = unsafe jpeg.withUnsafeBufferPointer { bytes in
            unsafe tjDecompressHeader3(
                self.handle, bytes.baseAddress, UInt(bytes.count), &width, &height, &subsampling, &colorspace)
        }
        if code != 0, self.isHarmless == false {
            let error = self.error(in: jpeg)
            // libturbojpeg 2.1 does not abort after a bad header: the same handle would continue reading the
            // next picture in the middle of this one.
            _ = unsafe tjDestroy(self.handle)
            unsafe self.handle = Self.newHandle()
            throw error
        }
        guard width > 0, height > 0 else { throw .truncated }

        let size = PixelSize(width: Int(width), height: Int(height))
        guard size.width * size.height <= self.pixelsMax else {
            throw .tooLarge(width: size.width, height: size.height, pixelsMax: self.pixelsMax)
        }
        switch UInt32(bitPattern: colorspace) {
        case TJCS_CMYK.rawValue: throw .unsupported(reason: "CMYK colors (a print file, not a photograph)")
        case TJCS_YCCK.rawValue: throw .unsupported(reason: "YCCK colors (a print file, not a photograph)")
        case TJCS_GRAY.rawValue: return JPEGHeader(size: size, isGreyscale: true)
        default: return JPEGHeader(size: size, isGreyscale: false)
        }
    }

    /// Decodes to RGB; a greyscale picture gets three equal channels.
    ///
    /// A picture that ends early or whose data is damaged is an error although libturbojpeg would fill the
    /// rest with grey. Stray bytes between markers, which some cameras write, are passed over.
    package mutating func decode(_ jpeg: [UInt8], scale: DecodeScale) throws(ImagingError) -> Bitmap {
        try self.decodePixels(jpeg, scale: scale, into: nil).bitmap
    }

    /// Decodes to the pixels of a photograph in work, into `memory` if it is large enough.
    mutating func decodePixels(
        _ jpeg: [UInt8], scale: DecodeScale, into memory: consuming PictureMemory?
    ) throws(ImagingError) -> PhotoPixels {
        let pixels = PhotoPixels(
            size: Self.scaled(try self.header(of: jpeg).size, by: scale), in: memory)
        let size = pixels.size
        let code = unsafe jpeg.withUnsafeBufferPointer { bytes in
            unsafe tjDecompress2(
                self.handle, bytes.baseAddress, UInt(bytes.count), pixels.rows.base, Int32(size.width), 0,
                Int32(size.height), Int32(TJPF_RGB.rawValue), TJFLAG_LIMITSCANS)
        }
        if code != 0, self.isHarmless == false || Self.hasEnd(jpeg) == false { throw self.error(in: jpeg) }
        return pixels
    }

    private static func scaled(_ size: PixelSize, by scale: DecodeScale) -> PixelSize {
        switch scale {
        case .full:
            return size
        case .covering(let longSide):
            let divisor = [8, 4, 2].first { max(size.width, size.height) >= longSide * $0 } ?? 1
            // TJSCALED: rounded up.
            return PixelSize(
                width: (size.width + divisor - 1) / divisor, height: (size.height + divisor - 1) / divisor)
        }
    }

    /// Whether the last call failed by nothing but a warning that leaves the picture whole.
    ///
    /// Recognized by its message: after a warning libturbojpeg 2.1 calls a fatal error a warning too
    /// (`tjGetErrorCode`), but its text is then the fatal one's. Of several warnings it keeps the first.
    private var isHarmless: Bool {
        let words = self.words
        return words.contains("extraneous bytes before marker") || words.contains("unknown JFIF revision")
            || words.contains("Unknown Adobe color transform")
    }

    private var words: String {
        guard let text = unsafe tjGetErrorStr2(self.handle) else { return "unknown" }
        return unsafe String(cString: text)
    }

    private static func hasEnd(_ jpeg: [UInt8]) -> Bool {
        zip(jpeg, jpeg.dropFirst()).contains { $0 == 0xFF && $1 == 0xD9 }
    }

    /// Returns the error for libturbojpeg's last message. Its messages are fixed English text (jerror.h).
    private func error(in jpeg: [UInt8]) -> ImagingError {
        let words = self.words
        if words.contains("remature end") || words.contains("contains no image") { return .truncated }
        if words.contains("nsupported") || words.contains("Could not determine subsampling")
            || words.contains("scans")
        {
            return .unsupported(reason: words)
        }
        return Self.hasEnd(jpeg) ? .damaged(reason: words) : .truncated
    }
}
