/// A text that a scenario comes from: the file, or one `--set` option.
struct SourceText {
    /// The name in error messages: the path of the file, or the whole option.
    let name: String
    let isOption: Bool
    /// The lines as libyaml counts them: it breaks at CR, LF, CRLF, U+0085, U+2028 and U+2029.
    private let lines: [[Unicode.Scalar]]

    init(name: String, isOption: Bool, text: String) {
        self.name = name
        self.isOption = isOption
        var lines: [[Unicode.Scalar]] = [[]]
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where previous == "\r": break
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": lines.append([])
            default: lines[lines.count - 1].append(scalar)
            }
            previous = scalar
        }
        self.lines = lines
    }

    /// The line of that number, from 1; empty beyond the end.
    func line(_ number: Int) -> [Unicode.Scalar] {
        self.lines.indices.contains(number - 1) ? self.lines[number - 1] : []
    }

    var linesCount: Int { self.lines.count }
}

/// A location in a source. Lines and columns count from 1, columns in Unicode scalars.
struct Place: Hashable {
    /// Which source, see `Findings`.
    var source: Int
    var line: Int
    var column: Int
    /// The length of the marked text, at least 1.
    var length: Int

    func advanced(by columns: Int, length: Int) -> Place {
        Place(source: self.source, line: self.line, column: self.column + columns, length: max(1, length))
    }
}
