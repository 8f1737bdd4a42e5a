import LocustWorker
import RunDriver
import RunJudge
import SimBase
import Testing

@testable import LocustRuns

@Suite struct NoteTests {
    @Test func `a note says what was, and what to do`() {
        let request = WorkerRequest(
            host: "10.0.0.1", port: 5_557, command: [],
            target: { _ in throw CommandFailure(.usage, "none") }, painter: { _ in [] })
        #expect(
            LocustWorkerNote.masterSilent.text(request)
                == "the master at 10.0.0.1:5557 has not answered for 10 s: phones stop, and what they found stays in the folder of the run"
        )
        #expect(
            LocustWorkerNote.outOfNumbers(group: "a\u{1B}b").text(request).hasSuffix(
                "start the test with more users (-u)"))
        #expect(!LocustWorkerNote.outOfNumbers(group: "a\u{1B}b").text(request).contains("\u{1B}"))
    }
}
