import Testing

@testable import RunDriver

@Suite struct CommandFailureTests {
    @Test func `an unknown word comes with the nearest one`() {
        let failure = CommandFailure.unknown("command", "simulat", among: ["run", "simulate"])
        #expect(failure.message == "unknown command 'simulat'")
        #expect(failure.hint == "did you mean 'simulate'?")
    }
}
