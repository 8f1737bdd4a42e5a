import SimBase

/// Words as a POSIX shell reads them.
package enum ShellWords {
    package static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_./:=@%+,-".utf8.contains(byte)
            }
        }
        if isPlain, !word.isEmpty { return word }
        let parts = word.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: "'\\''") + "'"
    }

    package static func line(_ words: [String]) -> String {
        words.map { Self.quoted(Printable.line($0, bytesMax: 4_096)) }.joined(separator: " ")
    }
}
