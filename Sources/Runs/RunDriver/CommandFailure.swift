package import RunJudge
import SimBase

/// Why a command cannot continue: what was wrong, what to do, and the code to end with.
package struct CommandFailure: Error {
    package var code: ExitCode
    package var message: String
    package var hint: String?

    package init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// A word that is not among those that exist.
    package static func unknown(
        _ what: String, _ word: String, among words: [String], help: String = "--help"
    ) -> CommandFailure {
        let nearest = Spelling.nearest(to: word, among: words)
        return CommandFailure(
            .usage, "unknown \(what) '\(word)'",
            hint: nearest.map { "did you mean '\($0)'?" } ?? "see 'swiftwing-sim \(help)'")
    }
}
