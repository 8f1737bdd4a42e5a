import CZlib

/// Compression in zlib's format (RFC 1950), which the logs of HdrHistogram and the evidence of Locust workers have.
package enum Deflate {
    /// Returns the compressed bytes; nil if memory is short.
    package static func packed(_ bytes: [UInt8]) -> [UInt8]? {
        // Stored as they are, bytes take a little more than themselves; a small window makes the blocks short.
        var length = bytes.count + bytes.count / 8 + 64
        var packed = [UInt8](repeating: 0, count: length)
        let code = unsafe shim_deflate(bytes, bytes.count, &packed, &length)
        guard code == Z_OK else { return nil }
        packed.removeLast(packed.count - length)
        return packed
    }

    /// Nil when it is not of that format, or larger than the limit.
    static func unpacked(_ bytes: [UInt8], bytesMax: Int) -> [UInt8]? {
        var length = uLong(bytesMax)
        var isWhole = false
        // Written by zlib alone: to clear the room first would cost more than to unpack.
        let unpacked = unsafe [UInt8](unsafeUninitializedCapacity: bytesMax) { room, count in
            isWhole = unsafe uncompress(room.baseAddress, &length, bytes, uLong(bytes.count)) == Z_OK
            count = isWhole ? Int(length) : 0
        }
        return isWhole ? unpacked : nil
    }
}
