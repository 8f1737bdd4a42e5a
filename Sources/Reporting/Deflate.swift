import CZlib

/// zlib's format (RFC 1950), which HdrHistogram's logs are packed in.
enum Deflate {
    /// Nil when memory is short.
    static func packed(_ bytes: [UInt8]) -> [UInt8]? {
        // Stored as they are, bytes take a little more than themselves; a small window makes the blocks short.
        var length = bytes.count + bytes.count / 8 + 64
        var packed = [UInt8](repeating: 0, count: length)
        let code = unsafe shim_deflate(bytes, bytes.count, &packed, &length)
        guard code == Z_OK else { return nil }
        packed.removeLast(packed.count - length)
        return packed
    }

    /// Nil when it is not of that format, or larger than told.
    static func unpacked(_ bytes: [UInt8], bytesMax: Int) -> [UInt8]? {
        var length = uLong(bytesMax)
        var unpacked = [UInt8](repeating: 0, count: bytesMax)
        guard unsafe uncompress(&unpacked, &length, bytes, uLong(bytes.count)) == Z_OK else { return nil }
        unpacked.removeLast(bytesMax - Int(length))
        return unpacked
    }
}
