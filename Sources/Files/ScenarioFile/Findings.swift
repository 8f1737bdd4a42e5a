/// Collects all errors while a scenario is read, so that all of them can be reported.
///
/// A reference, because every part of the reader reports to the same one.
final class Findings {
    /// The maximum shown length of a line; of a longer line, only the part around the location is shown.
    private static let lineShownMax = 140

    private(set) var sources: [SourceText] = []
    private var listed: [(location: Place, message: String, help: String?)] = []
    private var more = 0

    var isEmpty: Bool { self.listed.isEmpty }

    /// Adds a source and returns its number.
    func add(_ source: SourceText) -> Int {
        self.sources.append(source)
        return self.sources.count - 1
    }

    /// The help is computed only if the error is going to be shown: finding the nearest word costs time, and a hostile
    /// file can be wrong very often.
    func add(_ location: Place, _ message: String, help: @autoclosure () -> String? = nil) {
        guard self.listed.count < ScenarioErrors.listedMax else {
            self.more += 1
            return
        }
        self.listed.append((location, message, help()))
    }

    /// Nil when nothing was wrong.
    var errors: ScenarioErrors? {
        guard !self.listed.isEmpty else { return nil }
        let sorted = self.listed.enumerated().sorted { left, right in
            let (a, b) = (left.element.location, right.element.location)
            return (a.source, a.line, a.column, left.offset) < (b.source, b.line, b.column, right.offset)
        }
        return ScenarioErrors(diagnostics: sorted.map { self.diagnostic($0.element) }, more: self.more)
    }

    private func diagnostic(_ finding: (location: Place, message: String, help: String?)) -> Diagnostic {
        let location = finding.location
        let source = self.sources[location.source]
        let line = source.line(location.line)
        let offset = min(location.column - 1, line.count)
        let start = line.count <= Self.lineShownMax ? 0 : max(0, offset - Self.lineShownMax / 2)
        let shown = line[start...].prefix(Self.lineShownMax)
        let length = max(1, min(location.length, shown.count - (offset - start)))
        return Diagnostic(
            file: Self.text(source.name.unicodeScalars), line: location.line, column: location.column,
            sourceLine: Self.text(shown),
            caretOffset: offset - start, caretLength: length,
            message: Self.text(finding.message.unicodeScalars, keepingLines: true),
            help: finding.help.map { Self.text($0.unicodeScalars, keepingLines: true) })
    }

    /// A text without control characters but tabs, and line feeds where it may have several lines.
    private static func text(_ scalars: some Sequence<Unicode.Scalar>, keepingLines: Bool = false) -> String {
        var view = String.UnicodeScalarView()
        for scalar in scalars {
            let isKept = scalar == "\t" || keepingLines && scalar == "\n"
            let isControl = !isKept && scalar.properties.generalCategory == .control
            view.append(isControl ? "?" : scalar)
        }
        return String(view)
    }

    /// A text as an error message may repeat it, whoever wrote it.
    static func quoted(_ text: String) -> String {
        let limit = 40
        let shown = text.unicodeScalars.prefix(limit)
        let cut = shown.count < text.unicodeScalars.count
        return "`\(Self.text(shown))\(cut ? "..." : "")`"
    }
}
