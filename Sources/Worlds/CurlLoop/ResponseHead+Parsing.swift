import Wire

extension ResponseHead {
    /// Whether raw header lines begin with a 1xx status line.
    static func isInterim(_ bytes: [UInt8]) -> Bool { (100..<200).contains(Self.status(in: bytes[...])) }

    /// Whether raw header lines begin with the status line of `101 Switching Protocols`.
    static func isSwitching(_ bytes: [UInt8]) -> Bool { Self.status(in: bytes[...]) == 101 }

    /// Reads header lines as libcurl delivered them, which has checked the status line.
    init(parsing bytes: [UInt8]) {
        self.init(status: Self.status(in: bytes[...]), headers: HeaderFields())
        var start = 0
        var isStatusLine = true
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let line = Self.trimmed(bytes[start..<end])
            let first = bytes[start]
            start = end + 1
            guard !isStatusLine else {
                isStatusLine = false
                continue
            }
            if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
                self.headers.fold(line)
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                self.headers.append(
                    name: Self.trimmed(line[..<colon]), value: Self.trimmed(line[(colon + 1)...]))
            }
        }
    }

    /// The three digits after the first space, or 0.
    private static func status(in line: ArraySlice<UInt8>) -> Int {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return 0 }
        let digits = line[line.index(after: space)...].prefix(3)
        guard digits.count == 3, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            return 0
        }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Without blanks and a carriage return at the ends.
    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
        }
        var (start, end) = (bytes.startIndex, bytes.endIndex)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while start < end, isBlank(bytes[end - 1]) { end -= 1 }
        return bytes[start..<end]
    }
}
