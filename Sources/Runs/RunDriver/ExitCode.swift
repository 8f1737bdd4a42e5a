package import RunJudge
import SimBase

/// The exit codes of the program: sysexits for errors around a run, k6's numbers and ours for its results.
package enum ExitCode: Int32, CaseIterable {
    case success = 0
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case internalError = 70
    case cannotWrite = 74
    case invariantBroken = 97
    case untrustworthy = 98
    case sloFailed = 99
    case impossible = 104
    case interrupted = 105

    /// Creates the exit code of a run.
    package init(_ exit: RunExit) { self = Self(rawValue: exit.rawValue) ?? .internalError }

    /// The code of several runs: the first that one of them has, in the order of Docs/design.md section 11.10.
    package static func worst(_ codes: [ExitCode]) -> ExitCode {
        let order: [ExitCode] = [
            .invariantBroken, .internalError, .cannotWrite, .interrupted, .untrustworthy, .sloFailed,
        ]
        return order.first { codes.contains($0) } ?? codes.first { $0 != .success } ?? .success
    }

    package var meaning: String {
        switch self {
        case .success: "every SLO and invariant held"
        case .usage: "the command line is invalid"
        case .badData: "a scenario or other input is invalid"
        case .noInput: "a file or folder does not exist"
        case .unavailable: "the target is not available"
        case .internalError: "an internal error, or the backend process died"
        case .cannotWrite: "output cannot be written"
        case .invariantBroken: "an invariant is broken: data was lost, duplicated or reordered"
        case .untrustworthy: "the measurement cannot be trusted"
        case .sloFailed: "an SLO failed, or 'compare' found a regression"
        case .impossible:
            "this machine cannot run the configuration, for example for lack of file descriptors"
        case .interrupted: "interrupted; the report covers what ran until then"
        }
    }
}

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
