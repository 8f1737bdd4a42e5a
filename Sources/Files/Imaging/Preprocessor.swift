/// A photograph ready for upload, with what was done to it.
package struct PreprocessedPhoto: Hashable, Sendable {
    package let jpeg: [UInt8]
    /// The size of `jpeg`.
    package let size: PixelSize
    /// The size of the original photo.
    package let sourceSize: PixelSize
    /// Whether it was turned clockwise, being more than twice as high as wide.
    package let wasRotated: Bool
    /// The value that was added to every channel; 1 is the whole range.
    package let brightnessAdjustment: Double
}

/// The output of the app's filters for a photo, before it is scaled down: its `PreprocessingResult` without
/// the time.
package struct FilteredPhoto: Hashable, Sendable {
    /// The JPEG; the original if it could not be decoded.
    package let jpeg: [UInt8]
    package let wasRotated: Bool
    /// 0 when it could not be decoded.
    package let brightnessAdjustment: Double
    /// The sizes of the original photo and of `jpeg`; nil if it could not be decoded.
    package let sizes: Sizes?

    package struct Sizes: Hashable, Sendable {
        package let source: PixelSize
        package let filtered: PixelSize
    }
}

/// Which of the app's filters run.
package enum NoiseReduction: Hashable, Sendable {
    case on
    /// For comparisons with other implementations: the filter itself is an approximation.
    case off
}

/// The app's way of making a photo ready for upload (Docs/apps.md section 9): decode, turn if it is
/// tall, raise the contrast, measure the luminance, adjust the brightness, reduce noise, encode at 0.85; then
/// decode, resize to at most 1920 pixels, encode at 0.85 again.
///
/// EXIF orientation is ignored, as in the app. What cannot be decoded passes the filters unchanged, with
/// zeros, and is refused by the resize. Decision 0080 says where this differs from the letter of the section:
/// noise reduction is an approximation, and pictures beyond 5760 pixels are decoded at 1/2 or less before the
/// resize.
///
/// **Memory** for a photo of n pixels, besides its file: 3 n bytes decoded, which serve both times, and 1.5 n
/// converted; then, without the latter, the pixels of the upload, at most 11 MB; all the time the JPEG in between. So the
/// bound is that JPEG and 4.5 n, or 3 n and the upload's pixels where that is more: 54 MB and a few for 12 megapixels,
/// 288 MB for `JPEGDecoder.pixelsMax`. For a progressive JPEG the decoder keeps up to 6 n of coefficients as well.
/// Nothing is kept for the next photograph. `preprocess` prints what a process took; its tests hold it to this.
///
/// One thread owns a preprocessor; it holds a decoder, an encoder and nothing shared.
package struct Preprocessor: ~Copyable {
    /// The longer side of an upload, in pixels.
    package static let longSideMax = 1920
    /// The minimum long side of a picture that is decoded at a reduced size before the resize: 1.5 times the
    /// result. The triangle filter then removes nearly all that the decoder's scaling would otherwise remove.
    static let decodedLongSideMin = longSideMax * 3 / 2

    private var decoder: JPEGDecoder
    private var encoder = JPEGEncoder()
    /// The memory that the filters decoded into, reused by the resize.
    private var memory: PictureMemory?

    /// Photographs of more than `pixelsMax` pixels are refused from their header.
    package init(pixelsMax: Int = JPEGDecoder.pixelsMax) {
        self.decoder = JPEGDecoder(pixelsMax: pixelsMax)
    }

    /// Filters and resize.
    package mutating func run(
        _ jpeg: [UInt8], noise: NoiseReduction = .on
    ) throws(ImagingError) -> PreprocessedPhoto {
        try self.resize(self.filter(jpeg, noise: noise))
    }

    /// The filters, at full size.
    package mutating func filter(_ jpeg: [UInt8], noise: NoiseReduction = .on) -> FilteredPhoto {
        do throws(ImagingError) {
            let pixels = try self.decode(jpeg, scale: .full)
            let size = pixels.size
            let luminance = MeanColor(of: pixels).contrastedLuminance
            let brightness = MeanColor.brightnessAdjustment(luminance: luminance)
            let planes = try self.develop(pixels, ToneMap(brightness: brightness), noise)
            return FilteredPhoto(
                jpeg: try self.encoder.encode(planes, quality: JPEGEncoder.uploadQuality),
                wasRotated: size.isTall, brightnessAdjustment: brightness,
                sizes: .init(source: size, filtered: planes.size))
        } catch {
            return FilteredPhoto(jpeg: jpeg, wasRotated: false, brightnessAdjustment: 0, sizes: nil)
        }
    }

    /// The resize of an upload.
    package mutating func resize(_ photo: FilteredPhoto) throws(ImagingError) -> PreprocessedPhoto {
        let size = try self.decoder.header(of: photo.jpeg).size
        let target = size.fitted(longSideMax: Self.longSideMax)
        let decoded = try self.decode(photo.jpeg, scale: .covering(longSide: Self.decodedLongSideMin))
        let pixels = decoded.resized(to: target)
        return PreprocessedPhoto(
            jpeg: try self.encoder.encode(pixels, quality: JPEGEncoder.uploadQuality),
            size: target, sourceSize: photo.sizes?.source ?? size, wasRotated: photo.wasRotated,
            brightnessAdjustment: photo.brightnessAdjustment)
    }

    /// A photograph after some of the filters, encoded for users to look at.
    mutating func glimpse(
        _ jpeg: [UInt8], _ tone: ToneMap, _ noise: NoiseReduction, quality: Int
    ) throws(ImagingError) -> [UInt8] {
        let planes = try self.develop(try self.decode(jpeg, scale: .full), tone, noise)
        return try self.encoder.encode(planes, quality: quality)
    }

    private mutating func decode(_ jpeg: [UInt8], scale: DecodeScale) throws(ImagingError) -> PhotoPixels {
        try self.decoder.decodePixels(jpeg, scale: scale, into: self.memory.take())
    }

    private mutating func develop(
        _ pixels: consuming PhotoPixels, _ tone: ToneMap, _ noise: NoiseReduction
    ) throws(ImagingError) -> PhotoPlanes {
        let planes = try PhotoDeveloper.develop(
            pixels, tone, isTurned: pixels.size.isTall, with: &self.encoder)
        self.memory = pixels.takeMemory()
        if noise == .on { NoiseFilter.apply(to: planes) }
        return planes
    }
}

extension PixelSize {
    /// Step 1's condition: strictly more than twice as high as wide.
    fileprivate var isTall: Bool { self.height > self.width * 2 }
}
