extension ResponseHead {
    /// Whether raw header lines begin with a 1xx status line.
    static func isInterim(_ bytes: [UInt8]) -> Bool { (100..<200).contains(Self.status(in: bytes[...])) }

    /// Whether raw header lines begin with the status line of `101 Switching Protocols`.
    static func isSwitching(_ bytes: [UInt8]) -> Bool { Self.status(in: bytes[...]) == 101 }

    /// Reads header lines as libcurl delivered them, which has checked the status line.
    init(parsing bytes: [UInt8]) {
        self.init(status: 0, fields: [])
        var isStatusLine = true
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard let first = line.first else { continue }
            if isStatusLine {
                self.status = Self.status(in: line)
                isStatusLine = false
            } else if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
                // RFC 9112 section 5.2: a folded line is one value with a space.
                guard let last = self.fields.indices.last else { continue }
                self.fields[last].value += " " + Self.text(line)
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                self.fields.append(
                    HeaderField(Self.text(line[..<colon]), Self.text(line[line.index(after: colon)...])))
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

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        while let first = bytes.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
            bytes.removeFirst()
        }
        while let last = bytes.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
            bytes.removeLast()
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
