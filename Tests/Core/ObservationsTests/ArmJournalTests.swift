import Observations
import SimBase
import Talaria
import Testing

@Suite struct ArmJournalTests {
    private static let (device, scan) = (DeviceNumber(7), ScanNumber(1))
    private static let begin: [PhoneObservation] = [
        .captured(scheduled: .zero), .armTaken(.sse, share: .percent(5)),
        .uploadAccepted(job: "scan_1", took: .zero, service: .zero),
    ]

    /// What a story of one scan says, with a second between its observations.
    private static func told(_ story: [PhoneObservation]) -> [ArmEvent.What] {
        var (journal, events) = (ArmJournal(patience: .seconds(10)), [ArmEvent]())
        for (second, payload) in story.enumerated() {
            journal.record(
                Observation(
                    at: .zero + .seconds(Int64(second)), device: Self.device, scan: Self.scan,
                    what: .phone(payload)), into: &events)
        }
        #expect(events.allSatisfy { $0.device == Self.device && $0.scan == Self.scan })
        return events.map(\.what)
    }

    @Test func `a scan that is completed in time is decided without a complaint`() {
        let story: [PhoneObservation] = [
            .streamOpened(job: "scan_1", attempt: 1, after: nil, took: .zero), .completed(took: .seconds(4)),
        ]
        #expect(
            Self.told(Self.begin + story) == [
                .taken(share: .percent(5)), .connected(succeeded: true), .jobEnded(failure: nil),
                .completed(took: .seconds(4)), .decided(complains: false),
            ])
    }

    @Test func `a refused scan complains, and one without an arm is of no arm`() {
        let refused = PhoneObservation.refused(code: "NO_BOOKS", cause: nil)
        #expect(
            Self.told(Self.begin + [refused]).suffix(2) == [
                .jobEnded(failure: "NO_BOOKS"), .decided(complains: true),
            ])
        #expect(Self.told([.captured(scheduled: .zero), refused]) == [])
    }

    @Test(arguments: [(WaitingCause.transport, ["transport"]), (.suspended, []), (.offline, [])])
    func `a job has failed if it is the job's fault`(cause: WaitingCause, failures: [String]) {
        let failed = Self.told(Self.begin + [.queued(cause)]).compactMap { what -> String? in
            if case .jobEnded(let failure?) = what { failure } else { nil }
        }
        #expect(failed == failures)
    }

    @Test func `a connect fails by its answer, unless the server asks to wait or there is no path`() {
        func connects(_ payload: PhoneObservation) -> [ArmEvent.What] {
            Array(Self.told(Self.begin + [payload]).dropFirst())
        }
        #expect(
            connects(.replied(.stream, attempt: 1, status: 503, took: .zero))
                == [.connected(succeeded: false)])
        #expect(
            connects(.requestFailed(.stream, attempt: 1, .reset, took: .zero))
                == [.connected(succeeded: false)])
        #expect(connects(.replied(.stream, attempt: 1, status: 429, took: .zero)) == [])
        #expect(connects(.requestFailed(.stream, attempt: 1, .noPath, took: .zero)) == [])
        #expect(connects(.replied(.results, attempt: 1, status: 503, took: .zero)) == [])
    }

    @Test func `patience ends once, at its time`() {
        var (journal, events) = (ArmJournal(patience: .seconds(10)), [ArmEvent]())
        func seen(_ second: Int64, _ payload: PhoneObservation, _ scan: ScanNumber = Self.scan) -> Observation
        {
            Observation(at: .zero + .seconds(second), device: Self.device, scan: scan, what: .phone(payload))
        }
        for payload in Self.begin { journal.record(seen(1, payload), into: &events) }
        events = []
        journal.record(seen(30, .captured(scheduled: .zero + .seconds(30)), ScanNumber(2)), into: &events)
        #expect(
            events == [
                ArmEvent(
                    at: .zero + .seconds(10), device: Self.device, scan: Self.scan, arm: .sse,
                    what: .decided(complains: true))
            ])
        journal.record(seen(31, .completed(took: .seconds(31))), into: &events)
        #expect(events.suffix(2).map(\.what) == [.jobEnded(failure: nil), .completed(took: .seconds(31))])
        #expect(journal.followed == 1)
    }

    @Test func `a scan that is uploaded again has the arm of its last upload`() {
        let events = Self.told(
            Self.begin + [.armTaken(.websocket, share: .percent(5)), .queued(.transport)])
        #expect(events.dropFirst() == [.jobEnded(failure: "uploaded-again"), .taken(share: .percent(5))])
    }
}
