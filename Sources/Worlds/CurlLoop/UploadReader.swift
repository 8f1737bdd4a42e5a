import CCurl

/// Feeds one part of an upload to libcurl, from where the bytes are.
final class UploadReader {
    private let source: PhotoSource
    private var offset = 0

    init(_ source: PhotoSource) { self.source = source }

    var count: Int { self.source.count }

    /// Copies what fits; returns how much, 0 at the end.
    @unsafe func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        var done = 0
        if self.offset < self.source.head.count {
            done = unsafe Self.copy(self.source.head, from: self.offset, into: room)
        }
        if let shared = self.source.shared, self.offset + done >= self.source.head.count, done < room.count {
            let from = self.offset + done - self.source.head.count + self.source.sharedFrom
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[done...])
            done += unsafe Self.copy(shared.bytes, from: from, into: rest)
        }
        self.offset += done
        return done
    }

    /// False for a position outside the content.
    func seek(to offset: Int) -> Bool {
        guard (0...self.source.count).contains(offset) else { return false }
        self.offset = offset
        return true
    }

    @unsafe private static func copy(
        _ bytes: [UInt8], from: Int, into room: UnsafeMutableRawBufferPointer
    ) -> Int {
        let count = min(bytes.count - from, room.count)
        guard count > 0 else { return 0 }
        unsafe bytes.withUnsafeBytes { source in
            unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[from..<(from + count)]))
        }
        return count
    }
}

/// libcurl's `curl_mime`: a multipart body whose parts are read by callback.
@safe struct MultipartBody: ~Copyable {
    private let raw: OpaquePointer
    // Borrowed by libcurl.
    private let readers: [UploadReader]

    /// Becomes the body of the transfer until the handle is given another.
    init(_ parts: [TransferRequest.Part], of easy: borrowing EasyHandle) {
        guard let raw = unsafe curl_mime_init(easy.raw) else {
            preconditionFailure("libcurl has no memory for a body")
        }
        unsafe self.raw = raw
        self.readers = parts.map { UploadReader($0.content) }
        for (part, reader) in zip(parts, self.readers) { unsafe Self.add(part, reader, to: raw) }
        _ = unsafe shim_easy_set_mime(easy.raw, raw)
    }

    deinit { unsafe curl_mime_free(self.raw) }

    @unsafe private static func add(
        _ part: TransferRequest.Part, _ reader: UploadReader, to mime: OpaquePointer
    ) {
        let raw = unsafe curl_mime_addpart(mime)
        unsafe curl_mime_name(raw, part.name)
        if let filename = part.filename { unsafe curl_mime_filename(raw, filename) }
        if let type = part.contentType { unsafe curl_mime_type(raw, type) }
        let context = unsafe Unmanaged.passUnretained(reader).toOpaque()
        unsafe curl_mime_data_cb(
            raw, curl_off_t(reader.count),
            { buffer, size, count, context in
                guard let context = unsafe context, let buffer = unsafe buffer else { return 0 }
                let reader = unsafe Unmanaged<UploadReader>.fromOpaque(context).takeUnretainedValue()
                return unsafe reader.read(
                    into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
            },
            { context, offset, origin in
                // 0 is SEEK_SET, the only one that libcurl uses.
                guard let context = unsafe context, origin == 0 else { return CURL_SEEKFUNC_CANTSEEK }
                let reader = unsafe Unmanaged<UploadReader>.fromOpaque(context).takeUnretainedValue()
                return reader.seek(to: Int(offset)) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
            }, nil, context)
    }
}
