import EventLoop
package import RunJudge

/// Another process of this program, on the same terminal.
package enum OwnProcess {
    /// Runs it with these words to its end. What asks this process to end, asks the other one; it ends with its report.
    ///
    /// - Returns: Its exit code; that of an internal error if it crashed.
    package static func run(_ words: [String]) throws -> ExitCode {
        let loop = try Loop(clock: .startingNow())
        var exit: ChildExit?
        let plan = ChildPlan(
            executable: try ProgramFile.path(), arguments: words, environment: nil, inherited: [])
        let child = try ChildProcess(plan, loop: loop) {
            exit = $0
            loop.stop()
        }
        let signals = Signal.asking.map { signal in loop.onSignal(signal) { child.signal(.interrupt) } }
        withExtendedLifetime(signals) { loop.run() }
        guard case .exited(let code)? = exit?.cause else { return .internalError }
        return ExitCode(rawValue: code) ?? .internalError
    }
}
