import Phone
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Damaged answers. Whatever a server says, every scan is in one list, nothing is added twice, the phone does
/// not spin, how the bytes were cut does not show, and a good server later is all it takes.
@Suite struct AnswerFuzzTests {
    private static let words = [
        "data:", "event: completed\n", "event: error\n", "event: progress\n", "id: ", "retry: ", "\n\n",
        "\"books\":null",
        "\"retryable\":true", "\"success\":false", "\"jobId\":\"job-2\"", "http://evil.example/", "//evil/",
        "..",
        "\"resultsUrl\":", "\"sseUrl\":", ": t=", "TOKEN_EXPIRED", "\"retryAfterMs\":",
    ]
    private static let uploads = Mutator(
        corpus: [Wording.accepted(job: "job-1"), Wording.problem(.rateLimitExceeded, retryAfterMs: 1_000)],
        dictionary: Self.words)
    private static let streams = Mutator(
        corpus: [
            Array(
                (": connected\nretry: 1500\n\n: t=1000\n" + Wording.progress("1")
                    + Wording.event("ping", id: nil, "{}")
                    + Wording.progress("2") + Wording.completed(books: 2)).utf8),
            Array((Wording.progress("1") + Wording.completed(rawBooks: nil, resultsUrl: "/r?x=1")).utf8),
            Array((Wording.progress("1") + Wording.error(retryable: true)).utf8),
            Array(
                (Wording.event("enrichment_degraded", id: "3", "{}") + Wording.error(retryable: false)).utf8),
        ], dictionary: Self.words)
    private static let results = Mutator(corpus: [Wording.results(books: 3)], dictionary: Self.words)

    /// A phone with one scan, answered by damage for a while.
    private static func battered(_ fuzz: FuzzCase, cutting way: UInt64) -> TestPhone {
        var phone = TestPhone()
        phone.capture(1)
        for turn in 0..<12 as Range<UInt64> {
            guard let request = phone.open.first else {
                phone.pass(.seconds(2))
                continue
            }
            let drawn = FuzzCase(seed: fuzz.random.seed, number: fuzz.number &* 16 &+ turn)
            func draw(_ bound: Int, _ what: UInt64) -> Int { drawn.below(bound, 3_000, what) }
            let mutator =
                switch request.operation {
                case .upload: Self.uploads
                case .stream: Self.streams
                case .results, .cleanup, .status, .cancel, .refresh: Self.results
                }
            let usual = request.operation == .upload ? 202 : 200
            let status =
                draw(3, 0) > 0
                ? usual : [200, 202, 204, 302, 400, 401, 404, 410, 429, 500, 503, 999][draw(12, 1)]
            let type =
                request.operation == .stream && draw(8, 2) > 0 ? "text/event-stream" : "application/json"
            let wait = draw(3, 3) > 0 ? nil : String(decoding: Self.results.input(drawn), as: UTF8.self)
            phone.handle(
                .replyHead(request.id, ReplyHead(status: status, contentType: type, retryAfter: wait)))
            for piece in Self.pieces(mutator.input(drawn), way, drawn)
            where phone.open.contains(where: { $0.id == request.id }) {
                phone.handle(.replyBytes(request.id, piece[...]))
            }
            guard phone.open.contains(where: { $0.id == request.id }) else { continue }
            phone.open.removeAll { $0.id == request.id }
            phone.handle(draw(4, 4) > 0 ? .replyEnded(request.id) : .replyFailed(request.id, .reset))
        }
        return phone
    }

    private static func pieces(_ bytes: [UInt8], _ way: UInt64, _ drawn: FuzzCase) -> [[UInt8]] {
        guard way > 0 else { return bytes.isEmpty ? [] : [bytes] }
        return drawn.cuts(of: bytes)[2].filter { !$0.isEmpty }
    }

    @Test func `any answers leave the scan in one index, and a good server settles it`() {
        Fuzz.run("answers", quick: 700, report: { Issue.record("\($0)") }) { fuzz in
            var phone = Self.battered(fuzz, cutting: 0)
            let cut = Self.battered(fuzz, cutting: 1)
            try #require(phone.payloads == cut.payloads)
            try #require(phone.store.scans == cut.store.scans)

            let store = phone.store
            try #require(store.booksDoubled == 0)
            try #require(store.scans.count + store.settled.count == 1)
            try #require(phone.app.unsettledCount == store.scans.count)
            let unsound = store.scans.filter { !$0.isSound }
            try #require(unsound == [], "a record that would not be read again")
            // A scan that only waits for the DELETE of a job it gave up is settled by the next process at once.
            let open = store.scans.filter { $0.job != nil || !$0.completed && $0.refusal == nil }
            try #require(TestPhone(restored: store.scans).app.unsettledCount == open.count)

            // A fresh process and a server that keeps to the contract: the scan is completed or was refused.
            phone.handle(.suspended)
            for request in phone.open { phone.fail(request.operation, .reset, scan: request.scan.raw) }
            phone.pass(.hours(1))
            var fresh = TestPhone(restored: phone.store.scans)
            var talaria = StubTalaria()
            for _ in 0..<400 where fresh.app.unsettledCount > 0 {
                if let request = fresh.open.first {
                    for step in talaria.steps(request) {
                        guard fresh.open.contains(where: { $0.id == request.id }) else { break }
                        switch step {
                        case .replyEnded, .replyFailed: fresh.open.removeAll { $0.id == request.id }
                        default: break
                        }
                        fresh.handle(step)
                    }
                } else {
                    fresh.pass(.hours(1))
                }
            }
            try #require(fresh.app.unsettledCount == 0)
        }
    }
}
