import SimBase
import SimTestSupport
import Talaria
import TargetTrial
import Testing
import Wire

/// Damaged answers of a target. Whatever it says, its judge goes on, and how the bytes were cut does not show.
@Suite struct TargetTrialFuzzTests {
    private static let fields = Mutator(
        corpus: [
            "1738419600", "60", "application/json", "text/event-stream; charset=utf-8",
            "Mon, 02 Feb 2026 03:04:05 GMT",
        ]
        .map { Array($0.utf8) },
        dictionary: ["-", "+", ".5", "GMT", "0001"])
    private static let names = ["Content-Type", "Retry-After", "X-RateLimit-Reset"]

    private static let bodies = Mutator(
        corpus: [
            #"{"success":true,"data":{"jobId":"j","authToken":"t","totalPhotos":1,"status":"processing","#
                + #"""
                "sseUrl":"/v3/jobs/scans/j/stream","statusUrl":"/v3/jobs/scans/j"},"metadata":{"timestamp":"2026-01-02T03:04:05.678Z"}}
                """#,
            #"{"success":true,"data":{"jobId":"j","status":"completed","progress":1,"results":[{"title":"A","author":"B"}]}}"#,
            #"{"success":true,"data":{"token":"u","expiresIn":7200}}"#,
            #"{"success":false,"status":429,"error":{"code":"RATE_LIMITED","retryAfterMs":60000},"retryable":true}"#,
            "retry: 1500\n\nid: 1769947206001-progress\nevent: progress\ndata: {\"jobId\":\"j\",\"progress\":0.5,"
                + "\"processedCount\":1,\"totalCount\":2,\"timestamp\":\"2026-02-01T12:00:06.001Z\"}\n\n"
                + "id: 1769947207001-completed\nevent: completed\ndata: {\"jobId\":\"j\",\"summary\":{\"totalDetected\":1},"
                + "\"books\":[{\"title\":\"A\",\"author\":\"B\",\"confidence\":0.5}],\"expiresIn\":3600}\n\n",
        ].map { Array($0.utf8) },
        dictionary: ["\"summary\":", "\"booksDetected\":", "id: ", "data: ", "event: ", "\n\n"])

    /// What a phone asks for, in the order of a journey.
    private static let requests = [
        ("POST", "/v3/jobs/scans"), ("GET", "/v3/jobs/scans/j"), ("GET", "/v3/jobs/scans/j/stream"),
        ("GET", "/v3/jobs/scans/j/results"), ("POST", TokenRefresh.path),
        ("DELETE", "/v3/jobs/scans/j/cleanup"),
    ]

    private static func battered(_ fuzz: FuzzCase, isCut: Bool) -> TriedTarget {
        var target = TriedTarget { $0.wallClockAtZero = 1_769_947_200_000 }
        target.upload()
        for turn in 0..<8 as Range<UInt64> {
            let drawn = FuzzCase(seed: fuzz.random.seed, number: fuzz.number &* 8 &+ turn)
            func draw(_ bound: Int, _ what: UInt64) -> Int { drawn.below(bound, 4_000, what) }
            let (method, path) = Self.requests[draw(Self.requests.count, 0)]
            let refresh = path == TokenRefresh.path ? TokenRefresh(jobId: "j", oldToken: "t") : nil
            let id = target.ask(
                method, path, lastEventID: draw(4, 1) == 0 ? "1769947206001-progress" : nil, refresh: refresh)
            let status = [200, 202, 204, 401, 404, 409, 410, 429, 500, 503][draw(10, 2)]
            let value = String(decoding: Self.fields.input(drawn), as: UTF8.self)
            let type = path.hasSuffix("/stream") ? "text/event-stream" : "application/json"
            let fields = HeaderFields([
                HeaderField("Content-Type", type), HeaderField(Self.names[draw(Self.names.count, 3)], value),
            ])
            let body = Self.bodies.input(drawn)
            target.answer(
                id, status, fields, pieces: isCut ? drawn.cuts(of: body)[2] : [body], isWhole: draw(4, 4) > 0)
            target.wait(.milliseconds(Int64(draw(40_000, 5))))
        }
        return target
    }

    @Test func `the damage breaks rules of several kinds`() {
        var broken: Set<TargetRule> = []
        for number in 0..<200 as Range<UInt64> {
            broken.formUnion(Self.battered(FuzzCase(seed: 0x5EED, number: number), isCut: false).rules)
        }
        #expect(broken.count >= 8, "\(broken)")
    }

    @Test func `whatever a target answers, its judge goes on, and the cuts do not show`() {
        Fuzz.run("target-answers", quick: 1_500, report: { Issue.record("\($0)") }) { fuzz in
            let whole = Self.battered(fuzz, isCut: false)
            let cut = Self.battered(fuzz, isCut: true)
            try #require(whole.rules == cut.rules)
            try #require(whole.notes == cut.notes)
            try #require(whole.tried == cut.tried)
        }
    }
}
