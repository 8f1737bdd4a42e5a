/// Text of others made fit to print. Whatever a server sent is hostile: it may be endless, move the cursor, or turn the
/// direction of the line.
package enum Printable {
    /// The maximum length of one piece of foreign text in a report, in UTF-8 bytes.
    package static let bytesMax = 200

    /// The space that no line is broken at.
    package static let tie: Unicode.Scalar = "\u{A0}"

    /// The text with spaces at which no line is broken.
    package static func tied(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == " " ? Self.tie : $0 }))
    }

    /// The text within so many bytes; what was cut is marked. Never splits a character of UTF-8.
    package static func bounded(_ text: String, bytesMax: Int = Self.bytesMax) -> String {
        guard text.utf8.count > bytesMax else { return text }
        var bytes = 0
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            if bytes > bytesMax { break }
            kept.append(scalar)
        }
        return String(kept) + "…"
    }

    /// Returns the text as one line: bounded, without control characters and invisible characters, with a
    /// space for each line break.
    package static func line(_ text: String, bytesMax: Int = Self.bytesMax) -> String {
        var line = String.UnicodeScalarView()
        for scalar in Self.bounded(text, bytesMax: bytesMax).unicodeScalars {
            switch scalar.properties.generalCategory {
            case .spaceSeparator: line.append(scalar == Self.tie ? scalar : " ")
            case .lineSeparator, .paragraphSeparator: line.append(" ")
            case .control:
                if scalar == "\n" || scalar == "\t" || scalar == "\r" { line.append(" ") }
            // Formats hold the direction marks and the zero-width signs; the others have no agreed shape.
            case .format, .surrogate, .privateUse, .unassigned: break
            default: line.append(scalar)
            }
        }
        return String(line)
    }

    /// The text with its line breaks, whatever its lines hold.
    package static func lines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { Self.line(String($0), bytesMax: Self.lineBytesMax) }.joined(separator: "\n")
    }

    private static let lineBytesMax = 4_096

    /// The text in ASCII: other characters become the nearest sign or `?`.
    package static func ascii(_ text: String) -> String {
        var ascii = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "…": ascii += "..."
            case "µ": ascii += "u"
            case "·", "–", "—": ascii += "-"
            case "×": ascii += "x"
            case "█": ascii += "#"
            case "░": ascii += "."
            case Self.tie: ascii.unicodeScalars.append(scalar)
            case "’", "‘": ascii += "'"
            case "“", "”": ascii += "\""
            default: ascii.unicodeScalars.append(scalar.isASCII ? scalar : "?")
            }
        }
        return ascii
    }

    /// Returns the number of terminal columns of a text.
    package static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + Self.width($1) }
    }

    package static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        switch scalar.value {
        // East Asian Wide and Fullwidth, and the pictographs (Unicode Standard Annex 11, in blocks).
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// The text within so many columns; what was cut is marked with `mark`.
    package static func fitted(_ text: String, columns: Int, mark: String) -> String {
        guard Self.width(text) > columns else { return text }
        var left = columns - Self.width(mark)
        guard left > 0 else { return String(mark.prefix(max(0, columns))) }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            left -= Self.width(scalar)
            if left < 0 { break }
            kept.append(scalar)
        }
        return String(kept) + mark
    }
}
