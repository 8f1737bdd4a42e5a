import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

@Suite struct ScanTimeTests {
    private func at(_ milliseconds: Int64, _ what: PhoneObservation, scan: UInt32 = 1) -> Observation {
        Observation(
            at: .zero + .milliseconds(milliseconds), device: DeviceNumber(7), scan: ScanNumber(scan),
            what: .phone(what))
    }

    private func spans(_ time: ScanTime?) -> [String] {
        (time?.spans ?? []).map {
            "\($0.activity.rawValue) \(($0.to - $0.from).wholeMilliseconds)"
        }
    }

    private var slow: [Observation] {
        [
            self.at(0, .captured(scheduled: .zero)),
            self.at(100, .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)),
            self.at(300, .replied(.upload, attempt: 1, status: 429, took: .milliseconds(200))),
            self.at(300, .rateLimited(.upload, retryAfter: .seconds(2))),
            self.at(2_500, .requestSent(.upload, attempt: 2, job: nil, lastEventID: nil)),
            self.at(3_000, .uploadAccepted(job: "j", took: .seconds(3), service: .milliseconds(500))),
            self.at(3_000, .requestSent(.stream, attempt: 1, job: "j", lastEventID: nil)),
            self.at(3_100, .streamOpened(job: "j", attempt: 1, after: nil, took: .milliseconds(100))),
            self.at(4_000, .streamLost(job: "j", attempt: 1, .offline, silence: nil)),
            self.at(4_000, .pathLost, scan: 0),
            self.at(8_000, .pathReturned, scan: 0),
            self.at(8_200, .requestSent(.stream, attempt: 2, job: "j", lastEventID: "1")),
            self.at(8_300, .streamOpened(job: "j", attempt: 2, after: "1", took: .milliseconds(100))),
            self.at(9_000, .completed(took: .seconds(9))),
        ]
    }

    @Test func `each moment of a scan belongs to one activity`() {
        let time = ScanTime(slowestOf: self.slow, until: .zero + .seconds(20))
        #expect(
            self.spans(time) == [
                "queue 100", "upload 200", "limited 2000", "backoff 200", "upload 500", "connecting 100",
                "server 900", "offline 4000", "backoff 200", "connecting 100", "server 700",
            ])
        #expect(time?.length == .seconds(9))
        #expect(
            time?.sentence(WorkNoun(.scan))
                == "scan 1 took 9.00s: 4.00s without a link, 2.00s waiting as a 429 requested (Retry-After), "
                + "1.60s with the server at work, 700ms uploading, 400ms waiting before a retry after an error, "
                + "200ms connecting the stream.")
    }

    @Test func `the slowest is told, also one that has not finished`() {
        let open = self.at(1_000, .captured(scheduled: .zero + .seconds(1)), scan: 2)
        #expect(ScanTime(slowestOf: self.slow, until: .zero + .seconds(20))?.scan == ScanNumber(1))
        let time = ScanTime(
            slowestOf: (self.slow + [open]).sorted { $0.at < $1.at }, until: .zero + .seconds(20))
        #expect(time?.scan == ScanNumber(2) && time?.isFinished == false)
        #expect(time?.sentence(WorkNoun(.scan)).hasPrefix("scan 2 had not finished after 19.0") == true)
        #expect(ScanTime(slowestOf: [], until: .zero + .seconds(20)) == nil)
    }

    @Test func `a limit of one upload holds the others of the phone back`() {
        let other = [
            self.at(300, .captured(scheduled: .zero + .milliseconds(300)), scan: 2),
            self.at(9_500, .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil), scan: 2),
            self.at(12_000, .completed(took: .seconds(11)), scan: 2),
        ]
        let time = ScanTime(
            slowestOf: (self.slow + other).enumerated().sorted {
                ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
            }.map(\.element), until: .zero + .seconds(20))
        #expect(time?.scan == ScanNumber(2))
        #expect(self.spans(time).first == "limited 2000", "\(self.spans(time))")
    }

    @Test func `a scan that failed waits in the queue for its retry`() {
        func waited(_ cause: WaitingCause) -> [String] {
            self.spans(
                ScanTime(
                    slowestOf: [
                        self.at(0, .captured(scheduled: .zero)),
                        self.at(100, .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)),
                        self.at(300, .replied(.upload, attempt: 1, status: 503, took: .milliseconds(200))),
                        self.at(300, .queued(cause)),
                        self.at(1_300, .requestSent(.upload, attempt: 2, job: nil, lastEventID: nil)),
                        self.at(1_500, .completed(took: .milliseconds(1_500))),
                    ], until: .zero + .seconds(20)))
        }
        #expect(waited(.serverError) == ["queue 100", "upload 200", "backoff 1000", "upload 200"])
        #expect(waited(.tokenExpired) == ["queue 100", "upload 200", "queue 1000", "upload 200"])
    }

    /// The spans of a lane of a phone.
    private func lane(_ name: String, _ observations: [Observation]) -> [PhoneLanes.Span] {
        var timeline = RunTimeline(faults: 0)
        for observation in observations { timeline.record(observation) }
        var phone = PhoneTimeline(mark: timeline.phones[0])
        for observation in observations { phone.add(observation) }
        let lanes = PhoneLanes(
            phone, WorkNoun(.scan), slow: nil, axis: TimeAxis(end: 20_000_000_000), faults: [])
        return lanes.lanes.first { $0.name == name }?.spans ?? []
    }

    private func waits(_ observations: [Observation]) -> [String] {
        self.lane("waits", observations).map(\.text)
    }

    @Test func `a lane shows the whole wait for a retry, and none that took no time`() {
        let retried = [
            self.at(0, .captured(scheduled: .zero)),
            self.at(100, .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)),
            self.at(300, .replied(.upload, attempt: 1, status: 503, took: .milliseconds(200))),
            self.at(300, .queued(.serverError)),
            self.at(1_300, .requestSent(.upload, attempt: 2, job: nil, lastEventID: nil)),
        ]
        #expect(
            self.waits(retried) == ["waited 1.00s before uploading again, scan 1 (backoff or Retry-After)"])
        let lost = [
            self.at(0, .captured(scheduled: .zero)),
            self.at(500, .streamLost(job: "j", attempt: 1, .reset, silence: nil)),
            self.at(500, .queued(.tokenExpired)),
        ]
        #expect(self.waits(lost) == [])
    }

    @Test func `a phone does not connect any more to a stream that was refused`() {
        let refused = self.lane(
            "streams",
            [
                self.at(0, .captured(scheduled: .zero)),
                self.at(400, .requestSent(.stream, attempt: 1, job: "j", lastEventID: nil)),
                self.at(500, .replied(.stream, attempt: 1, status: 401, took: .milliseconds(100))),
                self.at(500, .jobAbandoned(job: "j", cause: .waiting(.tokenExpired))),
                self.at(900, .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)),
                self.at(1_900, .requestSent(.stream, attempt: 1, job: "k", lastEventID: nil)),
                self.at(2_000, .replied(.stream, attempt: 1, status: 200, took: .milliseconds(100))),
                self.at(2_000, .streamOpened(job: "k", attempt: 1, after: nil, took: .milliseconds(100))),
            ])
        #expect(refused.map { $0.from / 1_000_000 } == [400, 1_900, 2_000])
        #expect(refused.map { ($0.to ?? 0) / 1_000_000 } == [500, 2_000, 0])
        #expect(refused.map(\.state) == [.opening, .opening, .on])
    }
}
