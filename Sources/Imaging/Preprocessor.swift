/// A photograph ready for upload, with what was done to it.
package struct PreprocessedPhoto: Hashable, Sendable {
    package let jpeg: [UInt8]
    /// Of `jpeg`.
    package let size: PixelSize
    /// Of the photograph that came in.
    package let sourceSize: PixelSize
    /// Whether rotation, contrast, brightness and denoising ran. False: `Preprocessor` does not have them
    /// yet.
    package let filtersApplied: Bool
}

/// The app's way of making a photograph ready for upload (CONTRACT.md section 9), as far as it goes here:
/// decode, resize to at most 1920 pixels, encode at 0.85. **The filters of steps 1 to 4 are not applied**;
/// they belong between the decoder and the resize.
///
/// A picture is decoded at 1/2, 1/4 or 1/8 of its size when that still covers the upload.
///
/// One thread owns a preprocessor; it holds a decoder, an encoder and nothing shared.
package struct Preprocessor: ~Copyable {
    /// The longer side of an upload, in pixels.
    package static let longSideMax = 1920

    private var decoder: JPEGDecoder
    private var encoder = JPEGEncoder()

    /// Photographs of more than `pixelsMax` pixels are refused from their header.
    package init(pixelsMax: Int = JPEGDecoder.pixelsMax) {
        self.decoder = JPEGDecoder(pixelsMax: pixelsMax)
    }

    package mutating func run(_ jpeg: [UInt8]) throws(ImagingError) -> PreprocessedPhoto {
        let sourceSize = try self.decoder.header(of: jpeg).size
        let size = sourceSize.fitted(longSideMax: Self.longSideMax)
        let bitmap = try self.decoder.decode(jpeg, scale: .covering(longSide: Self.longSideMax))
        return PreprocessedPhoto(
            jpeg: try self.encoder.encode(bitmap.resized(to: size), quality: JPEGEncoder.uploadQuality),
            size: size, sourceSize: sourceSize, filtersApplied: false)
    }
}
