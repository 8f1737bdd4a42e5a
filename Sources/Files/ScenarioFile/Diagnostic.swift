package import JSON

/// One thing that is wrong with a scenario, and where.
package struct Diagnostic: Error, Hashable, Sendable {
    /// The path of the file as it was given, or `--set path=value`.
    package var file: String
    /// The line, from 1.
    package var line: Int
    /// The column, from 1, in Unicode scalars.
    package var column: Int
    /// The line, or, of a very long one, the part around the column.
    package var sourceLine: String
    /// The offset of the location in `sourceLine`, from 0.
    package var caretOffset: Int
    /// The length of the marked text, at least 1.
    package var caretLength: Int
    /// One sentence without a full stop.
    package var message: String
    package var help: String?

    /// `file:line:column: message`, the line, a caret under the location, and the help. Without a newline at the end.
    /// A source line wider than `columns` is cut to the part around the location.
    package func render(color: Bool, columns: Int? = nil) -> String {
        let style = Style(color: color)
        let location = self.file.hasPrefix("--set ") ? self.file : "\(self.file):\(self.line):\(self.column)"
        var lines = ["\(style.bold)\(location):\(style.plain) \(self.message)"]
        if !self.sourceLine.isEmpty {
            let room = max(1, (columns ?? .max) - Self.margin.count)
            let source = self.sourceLine.unicodeScalars
            let start =
                source.count <= room ? 0 : min(max(0, self.caretOffset - room / 2), source.count - room)
            let shown = source.dropFirst(start).prefix(room)
            let offset = self.caretOffset - start
            // Tabs stay tabs, so that the caret is under its column at any tab width.
            let before = shown.prefix(offset).map { $0 == "\t" ? "\t" : " " }
            let carets = max(1, min(self.caretLength, room - offset))
            lines.append(Self.margin + String(shown))
            lines.append(
                Self.margin + before.joined() + style.red + String(repeating: "^", count: carets)
                    + style.plain)
        }
        if let help = self.help { lines.append("\(style.green)help:\(style.plain) \(help)") }
        return lines.joined(separator: "\n")
    }

    private static let margin = "    "

    private struct Style {
        let bold, red, green, plain: String

        init(color: Bool) {
            self.bold = color ? "\u{1B}[1m" : ""
            self.red = color ? "\u{1B}[31m" : ""
            self.green = color ? "\u{1B}[32m" : ""
            self.plain = color ? "\u{1B}[0m" : ""
        }
    }
}

extension Diagnostic: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("caretLength", self.caretLength)
            writer.member("caretOffset", self.caretOffset)
            writer.member("column", self.column)
            writer.member("file", self.file)
            writer.member("help", self.help)
            writer.member("line", self.line)
            writer.member("message", self.message)
            writer.member("sourceLine", self.sourceLine)
        }
    }
}

/// Everything that is wrong with a scenario; not empty.
package struct ScenarioErrors: Error, Hashable, Sendable {
    /// The diagnostics in the order of their locations, at most `listedMax`.
    package var diagnostics: [Diagnostic]
    /// The number of diagnostics that are not listed.
    package var more: Int

    /// The maximum number of listed diagnostics. More are only counted.
    package static let listedMax = 1_000
    /// The maximum number of diagnostics in a text.
    package static let shownMax = 20

    /// The first of them, with empty lines between, and how many more there are. Without a newline at the
    /// end.
    package func render(color: Bool, columns: Int? = nil) -> String {
        var parts = self.diagnostics.prefix(Self.shownMax).map {
            $0.render(color: color, columns: columns)
        }
        let more = self.diagnostics.count - parts.count + self.more
        if more > 0 { parts.append("and \(more) more") }
        return parts.joined(separator: "\n\n")
    }
}
