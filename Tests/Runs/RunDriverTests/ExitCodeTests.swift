import RunJudge
import Testing

@testable import RunDriver

@Suite struct ExitCodeTests {
    @Test(arguments: RunExit.allCases) func `a process exits with the code of its run`(exit: RunExit) {
        #expect(ExitCode(exit).rawValue == exit.rawValue)
    }

    @Test func `an unknown word comes with the nearest one`() {
        let failure = CommandFailure.unknown("command", "simulat", among: ["run", "simulate"])
        #expect(failure.message == "unknown command 'simulat'")
        #expect(failure.hint == "did you mean 'simulate'?")
    }
}
