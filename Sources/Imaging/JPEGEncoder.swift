internal import CTurboJPEG

/// libturbojpeg's encoder, to be used again and again by one thread. It keeps its output buffer between
/// pictures.
///
/// Baseline JPEG, YCbCr with 4:2:0 chroma: what the cameras and the app's own encoder write at this quality,
/// and what makes the sizes come out alike. (That the app's 0.85 equals quality 85 of libjpeg is an
/// assumption: Apple publishes no table.)
@safe package struct JPEGEncoder: ~Copyable {
    /// The app's 0.85 (CONTRACT.md section 9, step 5).
    package static let uploadQuality = 85
    /// libjpeg's own limit for a side.
    package static let sideMax = 65_500

    private let handle: tjhandle
    private var buffer: UnsafeMutablePointer<UInt8>?
    private var capacity = 0

    package init() {
        guard let handle = unsafe tjInitCompress() else {
            preconditionFailure("no memory for a JPEG encoder")
        }
        unsafe self.handle = handle
        unsafe self.buffer = nil
    }

    deinit {
        unsafe tjFree(self.buffer)
        _ = unsafe tjDestroy(self.handle)
    }

    /// `quality` is 1 to 100.
    package mutating func encode(_ bitmap: Bitmap, quality: Int) throws(ImagingError) -> [UInt8] {
        precondition((1...100).contains(quality), "a JPEG's quality is 1 to 100")
        guard bitmap.width <= Self.sideMax, bitmap.height <= Self.sideMax else {
            throw .notEncodable(reason: "\(bitmap.size) pixels; a side has at most \(Self.sideMax) (sideMax)")
        }
        let subsampling = Int32(TJSAMP_420.rawValue)
        try self.reserve(Int(tjBufSize(Int32(bitmap.width), Int32(bitmap.height), subsampling)))
        var length = UInt(self.capacity)
        let code = unsafe bitmap.pixels.withUnsafeBufferPointer { pixels in
            unsafe tjCompress2(
                self.handle, pixels.baseAddress, Int32(bitmap.width), 0, Int32(bitmap.height),
                Int32(TJPF_RGB.rawValue), &self.buffer, &length, subsampling, Int32(quality), TJFLAG_NOREALLOC
            )
        }
        guard code == 0, let buffer = unsafe self.buffer else {
            throw .notEncodable(
                reason: unsafe tjGetErrorStr2(self.handle).map { unsafe String(cString: $0) } ?? "unknown")
        }
        return unsafe Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
    }

    /// Room for the worst case, so that libturbojpeg never has to move the buffer.
    private mutating func reserve(_ bytes: Int) throws(ImagingError) {
        guard bytes > self.capacity else { return }
        unsafe tjFree(self.buffer)
        unsafe self.buffer = tjAlloc(Int32(bytes))
        guard unsafe self.buffer != nil else {
            self.capacity = 0
            throw .notEncodable(reason: "no memory for \(bytes) bytes")
        }
        self.capacity = bytes
    }
}
