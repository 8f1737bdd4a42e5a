import EventLoop
import Foundation
package import Reports
package import RunJudge
import SimBase
import SystemIO

/// Results go to standard output, progress and complaints to standard error.
package final class Console {
    /// Whether standard error is a terminal that can rewrite a line.
    package let isInteractive: Bool
    /// Whether standard output may be colored, unless `--no-color` says otherwise.
    package private(set) var colors: Bool
    private let isASCII: Bool
    /// `COLUMNS`, which takes precedence over the terminals.
    private let columnsAsked: Int?
    private var showsProgress = false

    package init(environment: [String: String]) {
        let isDumb = environment["TERM"].map { $0 == "dumb" || $0.isEmpty } ?? true
        let isForced = environment["FORCE_COLOR"].map { !$0.isEmpty && $0 != "0" } ?? false
        let isForbidden = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        self.isInteractive = isatty(STDERR_FILENO) == 1 && !isDumb && environment["CI"] == nil
        self.colors = !isForbidden && (isForced || (isatty(STDOUT_FILENO) == 1 && !isDumb))
        let locale = environment["LC_ALL"] ?? environment["LC_CTYPE"] ?? environment["LANG"] ?? "C.UTF-8"
        self.isASCII = !locale.uppercased().contains("UTF")
        self.columnsAsked = environment["COLUMNS"].flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil }
    }

    /// The width of text on standard output. Queried each time, since the terminal may have changed.
    var columns: Int { self.columns(of: .output) ?? Self.columnsWithoutTerminal }

    /// The width of table rows; nil if the output is not a terminal: then a row is one line, for other
    /// programs.
    package var tableColumns: Int? { self.columns(of: .output) }

    /// The width of messages on standard error; nil for a log.
    package var errorColumns: Int? { self.columns(of: .error) }

    private func columns(of stream: StandardStream) -> Int? {
        if let columns = self.columnsAsked { return columns }
        guard let columns = Terminal.columns(of: stream.descriptor) else { return nil }
        return columns > 0 ? columns : Self.columnsUnknown
    }

    private static let columnsWithoutTerminal = 100
    /// Used where the terminal does not know its width, as on a serial line.
    private static let columnsUnknown = 80

    /// The style of the summary.
    package var style: TerminalStyle {
        TerminalStyle(columns: self.columns, isColored: self.colors, isASCII: self.isASCII)
    }

    package func withoutColors() { self.colors = false }

    /// Writes to standard output. A write error is reported at the end: see `codeAtEnd`.
    package func out(_ text: String) { StandardStream.output.write(text + "\n") }

    /// Sentences and what else may be broken between words.
    package func outFolded(_ text: String) { self.out(TextFold.text(text, columns: self.tableColumns)) }

    /// Wraps all lines but those that begin with four blanks, which are quoted from a file.
    package func outQuoting(_ text: String) { self.out(Self.folded(text, columns: self.tableColumns)) }

    /// Writes to standard error. Names of files and words of others in it lose what would move a terminal's cursor.
    package func error(_ text: String) { self.errorRendered(Printable.lines(text)) }

    /// Writes to standard error what is fit to print, with its colors.
    package func errorRendered(_ text: String) {
        self.clearProgress()
        StandardStream.error.write(Self.folded(text, columns: self.errorColumns) + "\n")
    }

    private static func folded(_ text: String, columns: Int?) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("    ") ? String(line) : TextFold.text(String(line), columns: columns)
        }.joined(separator: "\n")
    }

    /// The code to end with. Results that were to be printed and could not be are an error as good as a file that
    /// could not be written.
    package func codeAtEnd(_ code: ExitCode) -> ExitCode {
        guard let failure = StandardStream.output.failure else { return code }
        self.error("swiftwing-sim: cannot write to standard output: \(SystemError.text(of: failure))")
        return .worst([code, .cannotWrite])
    }

    // MARK: Progress

    /// Rewrites the progress line on a terminal; prints a line elsewhere.
    package func progress(_ text: String) {
        guard self.isInteractive else {
            StandardStream.error.write(text + "\n")
            return
        }
        StandardStream.error.write(
            "\r" + Self.fitted(text, columns: (self.errorColumns ?? Self.columnsWithoutTerminal) - 1)
                + Self.eraseToEnd)
        self.showsProgress = true
    }

    package func clearProgress() {
        guard self.showsProgress else { return }
        StandardStream.error.write("\r" + Self.eraseToEnd)
        self.showsProgress = false
    }

    /// Erase in line (ECMA-48): what a longer line left behind.
    private static let eraseToEnd = "\u{1B}[K"

    /// Returns as many parts, separated by two spaces, as fit into the line; at least the beginning of the
    /// first.
    static func fitted(_ text: String, columns: Int) -> String {
        var line = text[...]
        while Printable.width(String(line)) > columns, let gap = line.range(of: "  ", options: .backwards) {
            line = line[..<gap.lowerBound]
        }
        return Printable.fitted(String(line), columns: max(0, columns), mark: "")
    }
}
