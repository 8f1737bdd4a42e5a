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

    /// The reasons of a run if only its code is known; empty for a code that no run ends with.
    package var reasons: ExitReasons { RunExit(rawValue: self.rawValue).map { ExitReasons(of: $0) } ?? [] }

    /// The code of several runs if only their codes are known. A code that no run ends with counts if no
    /// other does.
    package static func worst(_ codes: [ExitCode]) -> ExitCode {
        let reasons = codes.reduce(into: ExitReasons()) { $0.add($1.reasons) }
        let exit = ExitCode(reasons.exit)
        return exit == .success ? codes.first { $0 != .success } ?? .success : exit
    }

    package var meaning: String {
        switch self {
        case .success: ExitReasons.meaningOfNone
        case .usage: "the command line is invalid"
        case .badData: "a scenario or other input is invalid"
        case .noInput: "a file or folder does not exist"
        case .unavailable: "the target is not available"
        case .internalError: ExitReason.internalError.meaning
        case .cannotWrite: ExitReason.cannotWrite.meaning
        case .invariantBroken: ExitReason.invariantBroken.meaning
        case .untrustworthy: "the measurement cannot be trusted"
        case .sloFailed: "an SLO failed, or 'compare' found a regression"
        case .impossible:
            "this machine cannot run the configuration, for example for lack of file descriptors"
        case .interrupted: ExitReason.interrupted.meaning
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
