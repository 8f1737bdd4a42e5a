#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Reading files and folders with the C library.
enum FileBytes {
    /// The whole file; refuses one of more than `bytesMax` bytes, folders, devices and pipes before reading.
    static func contents(of path: String, bytesMax: Int) throws(ImagingError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.unreadable(path) }
        defer { close(descriptor) }

        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.unreadable(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable(path: path, reason: "it is not a file")
        }
        let length = Int(status.st_size)
        guard length <= bytesMax else { throw .fileTooLarge(path: path, bytes: length, bytesMax: bytesMax) }

        var failure: ImagingError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            while filled < length {
                let count = unsafe Self.readOnce(
                    descriptor,
                    UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]))
                if count < 0 { failure = Self.unreadable(path) }
                // Zero: it became shorter since; what is there is for the decoder to judge.
                if count <= 0 { break }
                filled += count
            }
        }
        if let failure { throw failure }
        return bytes
    }

    private static func readOnce(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        var count = -1
        repeat {
            count = unsafe read(descriptor, buffer.baseAddress, buffer.count)
        } while count < 0 && errno == EINTR
        return count
    }

    /// The names in a folder, but for "." and "..", in no particular order.
    static func names(inFolder path: String) throws(ImagingError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw Self.unreadable(path) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(
                    to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)
                ) {
                    unsafe String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Writes a whole file, replacing what was there.
    static func write(_ bytes: [UInt8], to path: String) throws(ImagingError) {
        guard let file = unsafe fopen(path, "wb") else { throw Self.unreadable(path) }
        let written = unsafe bytes.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
        let failure = written == bytes.count ? nil : Self.unreadable(path)
        guard unsafe fclose(file) == 0, failure == nil else { throw failure ?? Self.unreadable(path) }
    }

    private static func unreadable(_ path: String) -> ImagingError {
        let code = errno
        guard let words = unsafe strerror(code) else {
            return .unreadable(path: path, reason: "error \(code)")
        }
        return .unreadable(path: path, reason: unsafe String(cString: words))
    }
}
