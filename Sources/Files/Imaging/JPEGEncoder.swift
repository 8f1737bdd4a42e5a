internal import CTurboJPEG

/// libturbojpeg's encoder, to be reused and again by one thread. It keeps its output buffer between
/// pictures.
///
/// Baseline JPEG, YCbCr with 4:2:0 chroma: what the cameras and the app's own encoder write at this quality,
/// and what makes the sizes come out alike. (That the app's 0.85 equals quality 85 of libjpeg is an
/// assumption: Apple publishes no table.)
@safe package struct JPEGEncoder: ~Copyable {
    /// The app's 0.85 (Docs/apps.md section 9, step 5).
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
        let result = unsafe bitmap.pixels.withUnsafeBufferPointer { pixels in
            guard let base = pixels.baseAddress else { preconditionFailure("a bitmap has a pixel") }
            return Result { () throws(ImagingError) in
                try unsafe self.encode(base, bitmap.size, quality: quality)
            }
        }
        return try result.get()
    }

    /// `quality` is 1 to 100.
    mutating func encode(_ pixels: borrowing PhotoPixels, quality: Int) throws(ImagingError) -> [UInt8] {
        try unsafe self.encode(pixels.rows.base, pixels.size, quality: quality)
    }

    private mutating func encode(
        _ pixels: UnsafePointer<UInt8>, _ size: PixelSize, quality: Int
    ) throws(ImagingError) -> [UInt8] {
        try self.reserve(for: size, quality: quality)
        var length = UInt(self.capacity)
        let code = unsafe tjCompress2(
            self.handle, pixels, Int32(size.width), 0, Int32(size.height), Int32(TJPF_RGB.rawValue),
            &self.buffer, &length, Self.subsampling, Int32(quality), Self.flags)
        return try self.written(code, length)
    }

    /// `quality` is 1 to 100.
    mutating func encode(_ planes: borrowing PhotoPlanes, quality: Int) throws(ImagingError) -> [UInt8] {
        let size = planes.size
        try self.reserve(for: size, quality: quality)
        var length = UInt(self.capacity)
        let code = unsafe planes.withAddresses(top: 0) { addresses, strides in
            unsafe addresses.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: 3) { addresses in
                unsafe tjCompressFromYUVPlanes(
                    self.handle, addresses, Int32(size.width), strides, Int32(size.height), Self.subsampling,
                    &self.buffer, &length, Int32(quality), Self.flags)
            }
        }
        return try self.written(code, length)
    }

    /// Converts a strip of a picture in red, green and blue, three bytes a pixel, to planes, beginning with row `top`,
    /// which is even; so is the number of `rows` but for the last strip's.
    mutating func convert(
        _ pixels: UnsafePointer<UInt8>, rows: Int, into planes: borrowing PhotoPlanes, top: Int
    ) throws(ImagingError) {
        let width = Int32(planes.size.width)
        let code = unsafe planes.withAddresses(top: top) { addresses, strides in
            unsafe tjEncodeYUVPlanes(
                self.handle, pixels, width, 0, Int32(rows), Int32(TJPF_RGB.rawValue), addresses, strides,
                Self.subsampling, 0)
        }
        guard code == 0 else { throw .notEncodable(reason: self.words) }
    }

    private static let subsampling = Int32(TJSAMP_420.rawValue)
    private static let flags = TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT

    private func written(_ code: Int32, _ length: UInt) throws(ImagingError) -> [UInt8] {
        guard code == 0, let buffer = unsafe self.buffer else { throw .notEncodable(reason: self.words) }
        return unsafe Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
    }

    private var words: String {
        unsafe tjGetErrorStr2(self.handle).map { unsafe String(cString: $0) } ?? "unknown"
    }

    /// Room for the worst case, so that libturbojpeg never has to move the buffer; pages that no picture reaches cost
    /// nothing.
    private mutating func reserve(for size: PixelSize, quality: Int) throws(ImagingError) {
        precondition((1...100).contains(quality), "a JPEG's quality is 1 to 100")
        guard size.width <= Self.sideMax, size.height <= Self.sideMax else {
            throw .notEncodable(reason: "\(size) pixels; a side has at most \(Self.sideMax) (sideMax)")
        }
        let bytes = Int(tjBufSize(Int32(size.width), Int32(size.height), Self.subsampling))
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
