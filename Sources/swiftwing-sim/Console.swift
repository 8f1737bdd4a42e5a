import Foundation
import Reporting

/// Results go to standard output, progress and complaints to standard error.
final class Console {
    /// Whether standard error is a terminal that can rewrite a line.
    let isInteractive: Bool
    /// Whether standard output may be colored, unless `--no-color` says otherwise.
    private(set) var colors: Bool
    let columns: Int
    private let isASCII: Bool
    private var progressWidth = 0

    init(environment: [String: String]) {
        let isDumb = environment["TERM"].map { $0 == "dumb" || $0.isEmpty } ?? true
        let isForced = environment["FORCE_COLOR"].map { !$0.isEmpty && $0 != "0" } ?? false
        let isForbidden = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        self.isInteractive = isatty(STDERR_FILENO) == 1 && !isDumb && environment["CI"] == nil
        self.colors = !isForbidden && (isForced || (isatty(STDOUT_FILENO) == 1 && !isDumb))
        let locale = environment["LC_ALL"] ?? environment["LC_CTYPE"] ?? environment["LANG"] ?? "C.UTF-8"
        self.isASCII = !locale.uppercased().contains("UTF")
        self.columns = max(40, environment["COLUMNS"].flatMap(Int.init) ?? 100)
    }

    /// What the summary may use.
    var style: TerminalStyle {
        TerminalStyle(columns: self.columns, isColored: self.colors, isASCII: self.isASCII)
    }

    func withoutColors() { self.colors = false }

    /// Whoever reads it may have had enough (`| head`): that is no error.
    func out(_ text: String) { Self.write(text + "\n", to: .standardOutput) }

    private static func write(_ text: String, to file: FileHandle) {
        try? file.write(contentsOf: Data(text.utf8))
    }

    func error(_ text: String) {
        self.clearProgress()
        Self.write(text + "\n", to: .standardError)
    }

    /// Rewrites the progress line on a terminal; prints a line elsewhere.
    func progress(_ text: String) {
        guard self.isInteractive else {
            Self.write(text + "\n", to: .standardError)
            return
        }
        let line = String(text.prefix(self.columns - 1))
        let padding = String(repeating: " ", count: max(0, self.progressWidth - line.count))
        Self.write("\r" + line + padding, to: .standardError)
        self.progressWidth = line.count
    }

    func clearProgress() {
        guard self.progressWidth > 0 else { return }
        Self.write("\r" + String(repeating: " ", count: self.progressWidth) + "\r", to: .standardError)
        self.progressWidth = 0
    }
}
