import Ledger
import Metrics
import RunMetrics
import SimBase
import Testing

@testable import RunJudge

@Suite struct MissingPartTests {
    private static func result(_ standings: [Verdict.Standing]) -> RunResult {
        var totals = LedgerTotals()
        totals.scans.captured = 1
        totals.scans.completed = 1
        let head = RunHead.small(groups: [.init(name: "all", devices: 2)])
        return RunResult(
            head, length: .seconds(1), totals: totals, groups: [totals],
            verdicts: zip(Invariant.allCases, standings).map {
                Verdict(
                    invariant: $0, standing: $1, violations: $1 == .broken ? 1 : 0, expected: 0, examples: [])
            },
            tables: MeasuredTables(), metrics: MetricTable(groups: ["all"]))
    }

    private static func slo(_ metric: Metric, _ condition: String) throws -> SLO {
        SLO(
            selector: MetricSelector(metric: metric, scope: .fleet),
            condition: try SLOCondition(parsing: condition, for: metric.kind), severity: .error,
            abort: false)
    }

    @Test func `what held for the others is not known of all, and the run is not trusted`() {
        var result = Self.result([.held, .notAvailable])
        result.lack(["worker 2: phones 4-7"])
        #expect(result.verdicts.map(\.standing) == [.notAvailable, .notAvailable])
        #expect(
            result.remarks == [.merge(.noEvidence(of: "worker 2: phones 4-7"))])
        #expect(result.exit == .untrusted)
    }

    @Test func `runs of two targets have no version of HTTP in common`() {
        let labels = ["http://127.0.0.1:1", "http://127.0.0.1:2"].map {
            RunLabels(target: $0, http: SpokenHTTP(.http1, by: .option))
        }
        #expect(labels[0].agreed(with: labels[1]) == RunLabels())
        #expect(labels[0].agreed(with: labels[0]) == labels[0])
        #expect(!RunLabels(http: SpokenHTTP(.http2, by: .option)).isEmpty)
    }

    @Test func `what was broken stays broken`() {
        var result = Self.result([.broken, .held, .brokenAsExpected])
        result.lack(["worker 2"])
        #expect(result.verdicts.map(\.standing) == [.broken, .notAvailable, .brokenAsExpected])
        #expect(result.exit == .invariantBroken)
    }

    @Test func `nothing changes where nothing is missing`() {
        var result = Self.result([.held])
        result.lack([])
        #expect(result.verdicts.map(\.standing) == [.held])
        #expect(result.exit == .success)
    }

    private static let objectives: [(metric: String, condition: String, passed: Bool?, exit: ExitCode)] = [
        // More phones may make these good or bad.
        ("upload.time", "p(95) < 1s", nil, .untrusted), ("upload.time", "p(50) < 1s", nil, .untrusted),
        ("upload.failed", "rate < 1%", nil, .untrusted), ("scans.completed", "count >= 50", nil, .untrusted),
        ("scans.lost", "count <= 3", nil, .untrusted), ("upload.time", "max < 3s", nil, .untrusted),
        // And these only worse.
        ("scans.lost", "count == 0", false, .sloFailed), ("scans.lost", "count < 2", false, .sloFailed),
        ("upload.failed", "count <= 0", false, .sloFailed), ("upload.time", "max < 1s", false, .untrusted),
        ("upload.time", "min > 100ms", false, .untrusted),
        // Each book adds to the total, and may lower the mean.
        ("cost.total", "value < 0.1", false, .sloFailed), ("cost.total", "value > 0.2", nil, .untrusted),
        ("cost.per-book", "value < 0.01", nil, .untrusted),
    ]

    /// Of ten uploads one took 2 s and one failed. Five books came, for $0.105.
    @Test(arguments: objectives) func `an objective is judged if the missing phones cannot change it`(
        metric: String, condition: String, passed: Bool?, exit: ExitCode
    ) throws {
        var result = Self.result([.held])
        for _ in 0..<9 { result.metrics.record(.uploadTime, .milliseconds(20), in: .none) }
        result.metrics.record(.uploadTime, .seconds(2), in: .none)
        var set = MetricSet()
        set.add(FailureRate(failed: 1, total: 10), to: .uploadFailed)
        result.metrics.add(set, in: .none)
        result.metrics.add(2, to: .scansLost, in: .none)
        var prices = BookPrices()
        prices.photo = 21_000
        result.metrics.prices = prices
        result.metrics.add(PricedBooks(photo: 5), in: .none)
        result.slos = [
            try Self.slo(try #require(Metric(name: metric)), condition).evaluate(against: result.metrics)
        ]
        result.lack(["worker 2"])
        #expect(result.slos.map(\.passed) == [passed])
        #expect(result.exit == exit)
    }

    @Test func `nobody knows that the missing phones completed nothing`() {
        var result = Self.result([.held])
        result.totals.scans.completed = 0
        result.totals.scans.refused = 1
        result.lack(["worker 2"])
        #expect(result.exit == .untrusted)
    }

    @Test(arguments: [[Verdict.Standing.held], [.brokenAsExpected]])
    func `what the scenario expects is not judged`(standings: [Verdict.Standing]) {
        var result = Self.result(standings)
        result.expectations = Expectations([
            .invariant(id: Invariant.allCases[0].rawValue, scope: .fleet),
            .invariant(id: "scan.order", scope: .fleet),
        ])
        result.lack(["worker 2"])
        #expect(result.exit == .untrusted)
    }
}
