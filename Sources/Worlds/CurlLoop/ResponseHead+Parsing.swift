import SimBase
import Wire

extension ResponseHead {
    /// Whether raw header lines begin with a 1xx status line.
    static func isInterim(_ bytes: [UInt8]) -> Bool { (100..<200).contains(Self.status(in: bytes[...])) }

    /// Whether raw header lines begin with the status line of `101 Switching Protocols`.
    static func isSwitching(_ bytes: [UInt8]) -> Bool { Self.status(in: bytes[...]) == 101 }

    /// Reads header lines as libcurl delivered them, which has checked the status line.
    init(parsing bytes: [UInt8]) {
        self.init(status: Self.status(in: bytes[...]), headers: HeaderFields())
        var isStatusLine = true
        var start = 0
        while start < bytes.count {
            let end = bytes.offset(from: start) { $0.equal(UInt8(ascii: "\n")) }
            if end > start {
                let isTrimmed = bytes[end - 1] == UInt8(ascii: "\r")
                if !isStatusLine { self.headers.append(line: bytes[start..<(isTrimmed ? end - 1 : end)]) }
                isStatusLine = false
            }
            start = end + 1
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
}
