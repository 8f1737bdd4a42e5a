import SimBase

/// A tag that the user gave a run, such as `build=1432`. Its key is fit to be the name of a label of OpenMetrics, and its
/// value fits into one line of every report.
package struct RunTag: Hashable, Sendable {
    /// Letters, digits and `_` of ASCII, a letter first.
    package let key: String
    package let value: String

    static let keyBytesMax = 32
    static let valueBytesMax = Printable.bytesMax
    /// Tags of one run.
    package static let countMax = 20

    /// A defect of a tag.
    package enum Problem: Error, Equatable, CustomStringConvertible {
        case noPair(String)
        case badKey(String)
        case noValue(key: String)
        case badValue(key: String)
        case twice(key: String)
        case tooMany(Int)

        package var description: String {
            switch self {
            case .noPair(let text): "expects KEY=VALUE, not '\(Printable.line(text, bytesMax: 80))'"
            case .badKey(let key):
                "expects a key of at most \(RunTag.keyBytesMax) letters, digits and _ that begins with a letter, not '\(Printable.line(key, bytesMax: 80))'"
            case .noValue(let key): "'\(key)' has no value"
            case .badValue(let key):
                "'\(key)' expects one printable line of at most \(RunTag.valueBytesMax) bytes without leading or trailing spaces"
            case .twice(let key): "'\(key)' is given twice"
            case .tooMany(let count): "is given \(count) times; the maximum is \(RunTag.countMax)"
            }
        }
    }

    package init(key: String, value: String) throws(Problem) {
        guard Self.isKey(key) else { throw .badKey(key) }
        let value = RerunCommand.withoutUser(value)
        guard !value.isEmpty else { throw .noValue(key: key) }
        guard value.utf8.count <= Self.valueBytesMax,
            // Whatever would not reach a report as it is.
            Printable.line(value) == value, !value.hasPrefix(" "), !value.hasSuffix(" ")
        else { throw .badValue(key: key) }
        self.key = key
        self.value = value
    }

    /// Reads `key=value`.
    private init(parsing text: String) throws(Problem) {
        guard let sign = text.firstIndex(of: "=") else { throw .noPair(text) }
        try self.init(key: String(text[..<sign]), value: String(text[text.index(after: sign)...]))
    }

    /// Reads the values of `--tag`. No two may have the same key.
    package static func list(parsing texts: [String]) throws(Problem) -> [RunTag] {
        guard texts.count <= Self.countMax else { throw .tooMany(texts.count) }
        var tags: [RunTag] = []
        for text in texts {
            let tag = try RunTag(parsing: text)
            guard !tags.contains(where: { $0.key == tag.key }) else { throw .twice(key: tag.key) }
            tags.append(tag)
        }
        return tags
    }

    private static func isKey(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count <= Self.keyBytesMax, let first = bytes.first, Self.isLetter(first) else {
            return false
        }
        return bytes.allSatisfy {
            Self.isLetter($0) || $0 == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
