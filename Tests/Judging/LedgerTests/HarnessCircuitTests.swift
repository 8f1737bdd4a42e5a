import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// The circuit breaker, recounted from the ends of jobs.
@Suite struct HarnessCircuitTests {
    private static let server: HarnessSettings.Server = {
        var server = HarnessStory.server
        server.breaker = SimulatedServer.Breaker(failures: 2, successes: 2, cooldown: .seconds(60))
        return .simulated(server)
    }()

    private static func errors(_ script: (inout HarnessStory) -> Void) -> [String] {
        HarnessStory(script).errors([.jobFailed], server: Self.server)
    }

    /// A scan of v2 whose job ends, with what the circuit is said to do then.
    private static func job(
        _ story: inout HarnessStory, _ number: UInt32, failing code: String? = nil,
        _ circuit: ((String) -> BackendObservation)? = nil
    ) {
        story.scan = ScanNumber(number)
        story.job = "scan_\(number)"
        story.upload()
        story.pass()
        if let code {
            story.backend(.failed(job: story.job, code: code, retryable: true))
            story.backend(.finished(job: story.job, kind: .error, books: 0))
        } else {
            story.backend(.finished(job: story.job, kind: .completed, books: story.books))
        }
        if let circuit { story.backend(circuit(story.job)) }
        if code != nil { story.fault(.fired(fault: 0, .stream, attempt: 1)) }
        story.pass()
    }

    private static func opened(_ job: String) -> BackendObservation { .circuitOpened(job: job) }
    private static func closed(_ job: String) -> BackendObservation { .circuitClosed(job: job) }

    /// An upload that is refused because of the circuit.
    private static func refused(_ story: inout HarnessStory, _ number: UInt32) {
        story.scan = ScanNumber(number)
        story.exchange(.upload, 503)
        story.pass()
    }

    @Test func `a circuit that opens, waits and closes is right`() {
        let errors = Self.errors { story in
            Self.job(&story, 1, failing: "PROVIDER_ERROR")
            Self.job(&story, 2, failing: "INVALID_FILE")
            Self.job(&story, 3, failing: "API_ERROR", Self.opened)
            Self.refused(&story, 4)
            story.pass(.seconds(60))
            Self.job(&story, 5)
            Self.job(&story, 6, Self.closed)
            Self.job(&story, 7, failing: "PROVIDER_ERROR")
        }
        #expect(errors == [])
    }

    @Test func `a success begins the count again`() {
        let errors = Self.errors { story in
            Self.job(&story, 1, failing: "PROVIDER_ERROR")
            Self.job(&story, 2)
            Self.job(&story, 3, failing: "PROVIDER_ERROR")
        }
        #expect(errors == [])
    }

    @Test func `a circuit that opens too late, too early or for another job is wrong`() {
        let late = Self.errors { story in
            for number: UInt32 in 1...2 { Self.job(&story, number, failing: "PROVIDER_ERROR") }
            Self.job(&story, 3)
        }
        #expect(late == ["the circuit did not open with the last of 2 failures of a provider"])
        let early = Self.errors { Self.job(&$0, 1, failing: "PROVIDER_ERROR", Self.opened) }
        #expect(early == ["the circuit opened, but no job of it did that"])
        let other = Self.errors { story in
            Self.job(&story, 1, failing: "PROVIDER_ERROR")
            Self.job(&story, 2, failing: "PROVIDER_ERROR") { _ in .circuitOpened(job: "scan_1") }
        }
        #expect(other == ["the circuit opened, but no job of it did that"])
    }

    /// Opens the circuit, waits for its cooldown, and has jobs complete, some of which are said to close it.
    private static func errors(closing: [Bool]) -> [String] {
        Self.errors { story in
            Self.job(&story, 1, failing: "PROVIDER_ERROR")
            Self.job(&story, 2, failing: "PROVIDER_ERROR", Self.opened)
            story.pass(.seconds(60))
            for (index, closes) in closing.enumerated() {
                if closes {
                    Self.job(&story, UInt32(3 + index), Self.closed)
                } else {
                    Self.job(&story, UInt32(3 + index))
                }
            }
        }
    }

    @Test func `a circuit that does not close, or closes with the first success, is wrong`() {
        #expect(Self.errors(closing: [false, true]) == [])
        #expect(Self.errors(closing: [true]) == ["the circuit closed, but no job of it did that"])
        #expect(
            Self.errors(closing: [false, false, false]) == [
                "the circuit did not close with the last of 2 successes"
            ])
    }

    @Test func `an open circuit lets nothing of v2 in, and a closed one refuses nothing`() {
        let accepted = Self.errors { story in
            Self.job(&story, 1, failing: "PROVIDER_ERROR")
            Self.job(&story, 2, failing: "PROVIDER_ERROR", Self.opened)
            Self.job(&story, 3)
        }
        #expect(accepted == ["an upload that came while the circuit was open was accepted"])
        let other = Self.errors { story in
            Self.job(&story, 1, failing: "PROVIDER_ERROR")
            Self.job(&story, 2, failing: "PROVIDER_ERROR", Self.opened)
            story.scan = ScanNumber(3)
            story.job = "job-3"
            story.upload()
        }
        #expect(other == [])
        let refused = Self.errors { story in
            Self.job(&story, 1, failing: "PROVIDER_ERROR")
            Self.refused(&story, 2)
        }
        #expect(
            refused == ["upload was answered with 503, but neither a fault nor anything else explains it"])
        let after = Self.errors { story in
            Self.job(&story, 1, failing: "PROVIDER_ERROR")
            Self.job(&story, 2, failing: "PROVIDER_ERROR", Self.opened)
            story.pass(.seconds(60))
            Self.refused(&story, 3)
        }
        #expect(after == ["upload was answered with 503, but neither a fault nor anything else explains it"])
    }
}
