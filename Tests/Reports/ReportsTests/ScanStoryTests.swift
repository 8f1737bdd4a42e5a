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

    // MARK: The way of a book

    private static let emma = Book(
        title: "Emma", author: "Jane Austen", isbn: nil, confidence: nil, enrichmentStatus: nil, coverUrl: nil
    )

    private static func way(_ journey: Journey, _ more: [Observation]) -> ScanStory {
        ScanStory(
            [Self.seen(0, scan: 2, .phone(.captured(scheduled: .zero)))] + more, journey, device: Self.device,
            scan: ScanNumber(2), faults: [], violations: [], end: .zero + .seconds(30))
    }

    private static func reviewed(_ end: [Observation]) -> ScanStory {
        let pending = (0..<4).map {
            Self.seen(1, scan: 2, .phone(.bookPending(ordinal: $0, entry: $0, book: Self.emma)))
        }
        return Self.way(
            .scan,
            pending + [
                Self.seen(1, scan: 2, .phone(.completed(took: .seconds(1)))),
                Self.seen(2, scan: 2, .phone(.bookEdited(entry: 0, title: "Emma", author: nil))),
                Self.seen(3, scan: 2, .phone(.bookApproved(entry: 0, book: Self.emma))),
                Self.seen(4, scan: 2, .phone(.bookRejected(entry: 1))),
                Self.seen(5, scan: 2, .phone(.bookMerged(entry: 2, intoScan: 1, intoEntry: 0))),
            ] + end)
    }

    private static let came =
        "4 books came to be reviewed: 1 in the library, 1 rejected, 1 merged as duplicates, "

    @Test func `a story of a review goes on until nothing waits`() {
        let waiting = Self.reviewed([Self.seen(9, scan: 0, .phone(.suspended))])
        #expect(waiting.outcome == "completed" && waiting.books == Self.came + "1 waiting; 1 edited")
        #expect(waiting.lines.last?.text == "nothing more until the run ends at 30.000 s")
        #expect(
            waiting.lines.map(\.text).contains(
                "book 4 waits for a review, as number 4: \"Emma\" by Jane Austen"))
        let over = Self.reviewed([
            Self.seen(6, scan: 2, .phone(.bookRejected(entry: 3))), Self.seen(9, scan: 0, .phone(.suspended)),
        ])
        #expect(over.lines.last?.text == "the user rejects book 4")
        #expect(over.books?.contains("2 rejected") == true)
    }

    @Test func `a kill takes the books that no storage has, and the story says so`() {
        let kill = [
            Self.seen(7, scan: 0, .phone(.killed)), Self.seen(8, scan: 0, .phone(.launched(restored: 0))),
        ]
        let lost = Self.reviewed(kill)
        #expect(lost.books == Self.came + "1 lost with a killed process; 1 edited")
        #expect(lost.lines.suffix(2).map(\.text) == ["app killed; only its storage survives", "app started"])
        let kept = [kill[0], Self.seen(7, scan: 2, .phone(.bookKept(entry: 3, book: Self.emma))), kill[1]]
        #expect(Self.reviewed(kept).books == Self.came + "1 waiting; 1 edited")
        #expect(Self.reviewed([kill[0]]).books == lost.books)
        let discarded = Self.reviewed([Self.seen(7, scan: 0, .phone(.reinstalled(discarded: 0)))])
        #expect(discarded.books == Self.came + "1 discarded; 1 edited")
        #expect(discarded.lines.last?.text == "app reinstalled, 0 scans discarded")
    }

    @Test func `a reading is enriched, kept, or looked up by its photo`() {
        func books(_ what: PhoneObservation) -> String? {
            Self.way(.textEnrichment, [Self.seen(1, scan: 2, .phone(what))]).books
        }
        let texts = TextOutcome(title: .talaria, author: .talaria, discrepancies: 1)
        #expect(books(.enriched(texts, took: .zero, service: .zero)) == "enriched by its text")
        #expect(books(.readingKept(.rateLimited)) == "kept as it was read")
        #expect(books(.photoInstead(.lowConfidence)) == "looked up by its photo")
        #expect(books(.pathLost) == nil)
        let added = Self.way(
            .textEnrichment, [Self.seen(1, scan: 2, .phone(.bookAdded(ordinal: 0, book: Self.emma)))])
        #expect(added.lines.map(\.text).contains("book 1 added to the library as \"Emma\" by Jane Austen"))
    }
}
