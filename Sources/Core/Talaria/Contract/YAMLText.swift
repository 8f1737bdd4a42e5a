import SimBase

/// A YAML document as it is written: maps keep the order of their entries.
indirect enum YAMLValue: Sendable {
    case null
    case text(String)
    case flag(Bool)
    case integer(Int)
    case number(Double)
    case list([YAMLValue])
    case map([(key: String, value: YAMLValue)])

    static func texts(_ texts: [String]) -> Self { .list(texts.map { .text($0) }) }
}

extension YAMLValue {
    /// The document in block style, with a newline at its end.
    var document: String {
        var lines: [String] = []
        self.append(to: &lines, indent: 0)
        return lines.joined(separator: "\n") + "\n"
    }

    private func append(to lines: inout [String], indent: Int) {
        let blanks = String(repeating: " ", count: indent)
        switch self {
        case .map(let entries):
            for (key, value) in entries {
                let head = blanks + Self.scalar(key) + ":"
                if case .text(let text) = value, text.contains("\n") {
                    lines.append(head + " |-")
                    lines += text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                        line.isEmpty ? "" : blanks + "  " + line
                    }
                } else if let inline = value.inline {
                    lines.append(head + " " + inline)
                } else {
                    lines.append(head)
                    value.append(to: &lines, indent: indent + 2)
                }
            }
        case .list(let elements):
            for element in elements {
                if let inline = element.inline {
                    lines.append(blanks + "- " + inline)
                } else {
                    // The first line of the element follows the dash.
                    var inner: [String] = []
                    element.append(to: &inner, indent: indent + 2)
                    inner[0] = blanks + "- " + inner[0].dropFirst(indent + 2)
                    lines += inner
                }
            }
        case .null, .text, .flag, .integer, .number: lines.append(blanks + (self.scalarText ?? ""))
        }
    }

    /// A scalar, a list of short scalars, or an empty collection; nil for what takes lines of its own.
    private var inline: String? {
        switch self {
        case .null, .text, .flag, .integer, .number: return self.scalarText
        case .map(let entries): return entries.isEmpty ? "{}" : nil
        case .list(let elements):
            if elements.isEmpty { return "[]" }
            let scalars = elements.compactMap(\.scalarText)
            let line = "[" + scalars.joined(separator: ", ") + "]"
            return scalars.count == elements.count && line.utf8.count <= Self.listBytesMax ? line : nil
        }
    }

    /// Nil for a collection.
    private var scalarText: String? {
        switch self {
        case .null: "null"
        case .text(let text): Self.scalar(text)
        case .flag(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .number(let number): number == number.rounded() ? String(Int(number)) : "\(number)"
        case .list, .map: nil
        }
    }

    private static let listBytesMax = 72

    /// Plain where no reader can take it for anything but this text, in double quotes otherwise.
    private static func scalar(_ text: String) -> String {
        let isPlain =
            text.utf8.first.map { Self.isLetter($0) || $0 == UInt8(ascii: "/") } ?? false
            && !text.hasSuffix(" ") && !text.contains(": ") && !text.hasSuffix(":") && !text.contains(" #")
            && text.utf8.allSatisfy { (0x20...0x7E).contains($0) && !Self.indicators.contains($0) }
            && !Self.words.contains(text.lowercased())
        guard !isPlain else { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// What ends a scalar inside of a list in brackets, or begins something else.
    private static let indicators = Array(",[]{}\"\\`".utf8)
    /// Texts that a reader takes for something else.
    private static let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
}
