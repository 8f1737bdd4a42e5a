import Ledger
import Observations
import Reports
import SimBase
import Talaria
import Testing

@Suite struct ScanStoryTests {
    private static let device = DeviceNumber(7)

    private static func seen(_ seconds: Double, scan: UInt32, _ what: ObservationPayload) -> Observation {
        Observation(
            at: .zero + .milliseconds(Int64(seconds * 1_000)), device: Self.device, scan: ScanNumber(scan),
            what: what)
    }

    private static let observations = [
        seen(0, scan: 0, .phone(.launched(restored: 0))),
        seen(1, scan: 1, .phone(.captured(scheduled: .zero))),
        seen(1.5, scan: 2, .phone(.captured(scheduled: .zero))),
        seen(2, scan: 2, .phone(.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil))),
        seen(2.25, scan: 2, .backend(.accepted(job: "0123456789abcdef", books: 3))),
        seen(6.5, scan: 0, .phone(.pathLost)),
        seen(7, scan: 2, .phone(.requestFailed(.upload, attempt: 1, .reset, took: .seconds(5)))),
    ]

    private static func story(
        _ more: [Observation] = [], violations: [Violation] = []
    ) -> ScanStory {
        ScanStory(
            Self.observations + more, .scan, device: Self.device, scan: ScanNumber(2), faults: [],
            violations: violations, end: .zero + .seconds(30))
    }

    @Test func `a scan that does not end has its longest silence and its last moment marked`() {
        let story = Self.story()
        #expect(story.outcome == "not finished")
        #expect(
            story.lines.map(\.text) == [
                "photo taken", "-> POST scans, attempt 1", "creates job 01234567 with 3 books",
                "nothing for 4.250 s, the longest silence", "network lost", "POST scans failed: reset",
                "nothing more until the run ends at 30.000 s",
            ])
        #expect(story.lines.map { $0.mark == .silence } == [false, false, false, true, false, false, true])
        #expect(story.lines.map(\.side) == ["phone", "phone", "server", "", "phone", "phone", ""])
    }

    @Test func `the line that broke an invariant is marked, and the violation stands below it`() throws {
        func violation(_ scan: UInt32, device: UInt32 = 7) -> Violation {
            Violation(
                invariant: .streamNoGap, device: DeviceNumber(device), scan: ScanNumber(scan),
                at: .zero + .milliseconds(2_250), text: "skipped", isExpected: false)
        }
        let story = Self.story(violations: [violation(1), violation(2), violation(2, device: 8)])
        let marked = story.lines.filter { $0.mark == .violation }.map(\.text)
        #expect(
            marked == ["creates job 01234567 with 3 books", "VIOLATION of stream.no-gap: skipped"])
    }

    /// Reports have times in microseconds: the violation is read back as up to one of them too early.
    @Test func `the line is found although its violation was written with fewer digits`() {
        var observations = Self.observations
        observations[4].at = .zero + .nanoseconds(2_250_000_224)
        let violation = Violation(
            invariant: .streamNoGap, device: Self.device, scan: ScanNumber(2),
            at: .zero + .milliseconds(2_250), text: "skipped", isExpected: false)
        let story = ScanStory(
            observations, .scan, device: Self.device, scan: ScanNumber(2), faults: [],
            violations: [violation], end: .zero + .seconds(30))
        #expect(
            story.lines.filter { $0.mark == .violation }.first?.text == "creates job 01234567 with 3 books")
    }

    @Test func `a scan that ends has no end marked`() {
        let story = Self.story([
            Self.seen(7.5, scan: 2, .phone(.completed(took: .seconds(6)))),
            Self.seen(9, scan: 0, .phone(.suspended)),
        ])
        #expect(story.outcome == "completed")
        #expect(story.lines.last?.text == "scan completed")
    }

    /// What a story says of waits, with these observations of scan 1 and of scan 2, which it is about.
    private static func waits(_ more: [(Double, UInt32, PhoneObservation)]) -> [String] {
        let observations = more.map { Self.seen($0, scan: $1, .phone($2)) }
        let story = ScanStory(
            observations, .scan, device: Self.device, scan: ScanNumber(2), faults: [], violations: [],
            end: .zero + .seconds(60))
        return story.lines.map(\.text).filter { $0.contains("wait") }
    }

    @Test func `a scan that waits for the rate limit of another says of which`() {
        let held = "which holds all uploads of the phone"
        let limited = PhoneObservation.rateLimited(.upload, retryAfter: .seconds(20))
        let sent = PhoneObservation.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)
        let before = Self.waits([
            (1, 1, limited), (2, 2, .captured(scheduled: .zero)), (2, 2, .queued(.rateLimited)),
        ])
        #expect(before == ["scan waits: the server told scan 1 to wait (429), \(held)"])
        let meanwhile = Self.waits([
            (1, 2, .captured(scheduled: .zero)), (1, 2, .queued(.captured)), (2, 1, limited), (22, 2, sent),
        ])
        #expect(meanwhile == ["waits: the server told scan 1 to wait 20.000 s, \(held)"])
        let own = Self.waits([
            (1, 2, .captured(scheduled: .zero)), (2, 2, sent), (3, 2, limited), (3, 2, .queued(.rateLimited)),
        ])
        #expect(
            own == [
                "told to wait 20.000 s before POST scans", "scan waits: the server told it to wait (429)",
            ])
        // It has been uploaded, or is just being so.
        let later: [PhoneObservation] = [
            sent, .uploadAccepted(job: "j", took: .zero, service: .zero), .refused(code: "NO", cause: nil),
        ]
        for after in later {
            #expect(Self.waits([(1, 2, .captured(scheduled: .zero)), (2, 2, after), (3, 1, limited)]) == [])
        }
    }

    @Test func `a scan that is not there has no story`() {
        let story = ScanStory(
            Self.observations, .scan, device: Self.device, scan: ScanNumber(5), faults: [], violations: [],
            end: .zero)
        #expect(story.lines.isEmpty)
    }
}
