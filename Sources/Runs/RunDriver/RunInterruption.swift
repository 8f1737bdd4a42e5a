import EventLoop
import Foundation
import RunJudge
import SystemIO

/// The signal handling of `run`, `simulate` and `replay`: the first Ctrl-C, SIGTERM or SIGHUP ends the run
/// with its report, a later one ends the program. Signals within half a second of the first are the first.
package enum RunInterruption {
    private static let announcement =
        "Interrupted: finishing and writing the report. Press Ctrl-C again to quit now."
    private static let farewell =
        "Quit without a report. 'swiftwing-sim report DIR' makes one of what a live run has recorded."

    private static let reportIsWritten = Guarded(false)

    /// From now on, a signal ends what is served after the report, and interrupts no run.
    static func followsReport() { Self.reportIsWritten.withLock { $0 = true } }

    /// The first act of the program. Where it fails, a signal ends the program as it would any other.
    ///
    /// - Parameter arguments: Of the program. A process of a run in several is ended by the one that started it, by a pipe.
    package static func watch(_ arguments: [String]) {
        do throws(SystemError) {
            try Interruption.watch(
                ofTerminal: !arguments.contains(ShardedRun.linkOption),
                first: { Self.say(Self.announcement) },
                again: {
                    Self.say(Self.farewell)
                    RunState.removeTemporaryFolder()
                    _exit(ExitCode.interrupted.rawValue)
                })
        } catch {
            ProcessSettings.unblockSignals()
        }
    }

    private static func say(_ text: String) {
        guard !Self.reportIsWritten.withLock({ $0 }) else { return }
        // The terminal's cursor may be behind a progress line.
        let lead = isatty(STDERR_FILENO) == 1 ? "\n" : ""
        try? FileHandle.standardError.write(contentsOf: Data("\(lead)\(text)\n".utf8))
    }

    /// Throws if the run was interrupted. Called between the stages before a run begins, while there is
    /// nothing to report.
    package static func check() throws(CommandFailure) {
        guard Interruption.isRequested else { return }
        throw CommandFailure(.interrupted, "interrupted before the run started; there is no report")
    }

    /// Returns the exit code if the interruption came after the verdict: the report is valid, and the
    /// interruption is reported. More severe codes are not changed.
    static func code(after code: ExitCode) -> ExitCode {
        Interruption.isRequested ? .worst([code, .interrupted]) : code
    }
}
