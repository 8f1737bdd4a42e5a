/// Finds `CRLF "--" boundary` without looking at most bytes: Horspool's search, which steps by the delimiter's
/// length wherever the byte under its end is none of the delimiter's (Software: Practice and Experience 10, 1980).
struct MultipartDelimiter: Sendable {
    let bytes: [UInt8]
    /// The steps of the window by its last byte.
    private let steps: [UInt8]

    init(boundary: String) {
        let bytes = Array("\r\n--\(boundary)".utf8)
        precondition(bytes.count <= 255, "a step must fit in a byte")
        var steps = [UInt8](repeating: UInt8(bytes.count), count: 256)
        for (offset, byte) in bytes.dropLast().enumerated() {
            steps[Int(byte)] = UInt8(bytes.count - 1 - offset)
        }
        self.bytes = bytes
        self.steps = steps
    }

    var count: Int { self.bytes.count }

    /// Returns the start of the first whole delimiter in `haystack`.
    func first(in haystack: ArraySlice<UInt8>) -> Int? {
        let last = self.count - 1
        guard haystack.count > last else { return nil }
        let needle = self.bytes.span
        let steps = self.steps.span
        let hay = haystack.span
        var start = 0
        while start + last < hay.count {
            let byte = hay[start + last]
            if byte == needle[last] {
                var offset = 0
                while offset < last, hay[start + offset] == needle[offset] { offset += 1 }
                if offset == last { return haystack.startIndex + start }
            }
            start += Int(steps[Int(byte)])
        }
        return nil
    }
}
