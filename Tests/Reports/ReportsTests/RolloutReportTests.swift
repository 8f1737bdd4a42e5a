import JSON
import Metrics
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

/// What a report says of a rollout.
@Suite struct RolloutReportTests {
    private static func arm(_ transport: StreamTransport, failed: Int64, people: Int) -> RolloutSummary.Arm {
        var arm = RolloutSummary.Arm(transport)
        (arm.phones, arm.scans, arm.completed, arm.people) = (40, 200, 200 - Int(failed), people)
        arm.failures = failed > 0 ? [.init(cause: "unexpected-status", count: Int(failed))] : []
        arm.jobs = FailureRate(failed: failed, total: 200)
        arm.connects = FailureRate(failed: 3 * failed, total: 200 + 3 * failed)
        arm.complaints = FailureRate(failed: failed, total: 200)
        (arm.p50, arm.p95) = (.milliseconds(3_250), .seconds(6))
        return arm
    }

    private static func result(
        _ rollback: RolloutSummary.Rollback?, changes: Int = 0, without: Int? = 31,
        world: WorldKind = .virtual
    ) -> RunResult {
        let arms = [Self.arm(.websocket, failed: 0, people: 0), Self.arm(.sse, failed: 20, people: 9)]
        var result = Samples.passed()
        result.world = world
        result.rollout = RolloutSummary(
            arms: arms,
            periods: [
                .init(stage: 1, share: .percent(5), from: .zero, arms: arms),
                .init(stage: nil, share: .never, from: .zero + .seconds(500), arms: arms),
            ],
            rollback: rollback, changes: changes, changedPhones: changes / 2, harmedWithoutRollback: without)
        return result
    }

    private static let rollback = RolloutSummary.Rollback(
        at: .zero + .seconds(500), measure: .errors, value: .percent(10), limit: .percent(5),
        recovery: .minutes(2))

    private static func texts(_ result: RunResult) -> [String] {
        [
            TerminalSummary.text(result, style: .plain), MarkdownReport.text(result),
            HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text,
        ].map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    }

    @Test func `every format has the arms, the stages and what the rollback spared`() {
        for text in Self.texts(Self.result(Self.rollback)) {
            #expect(
                text.contains("Rolled back at 8:20: errors of SSE were 10%, the limit is 5%."), "\(text)")
            #expect(text.contains("Within 2 min, the errors of all phones met it again."))
            #expect(text.contains("9 people complained on SSE; without the rollback, 31 would have"))
            #expect(text.contains("WebSocket"))
            #expect(text.contains("20 (10%)"))
            #expect(text.contains("76.92%"), "connects that succeeded")
            #expect(text.contains("stage 1, 5%") && text.contains("rolled back"))
            #expect(!text.contains("changed arms"))
        }
    }

    @Test func `a report says how often phones changed arms`() {
        for text in Self.texts(Self.result(nil, changes: 24)) {
            #expect(
                text.contains(
                    "12 phones changed arms 24 times while the share was the same: cohorts are not sticky."))
            #expect(text.contains("It was not rolled back. 9 people complained on SSE."))
        }
    }

    @Test func `a live run says what it could not measure`() {
        let result = Self.result(Self.rollback, without: nil, world: .live)
        for text in Self.texts(result) {
            #expect(text.contains("was not measured, because a live run cannot be repeated"))
        }
        let json = JSONNode(SummaryJSON.bytes(result))?["rollout"]
        #expect(json?["harmed_without_rollback"]?.text == "n/a")
        #expect(json?["harmed"]?.count == 9)
    }

    @Test(arguments: [Self.rollback, nil])
    func `a summary is read back with the same rollout`(rollback: RolloutSummary.Rollback?) throws {
        let result = Self.result(rollback, changes: 4)
        let summary = try #require(JSONNode(SummaryJSON.bytes(result)))
        let reader = SummaryReader(summary: summary, head: Samples.head(groups: ["commuters", "readers"]))
        let read = reader.result(
            instead: result, measured: MetricTable(groups: ["commuters", "readers"]), slos: [])
        #expect(read.rollout == result.rollout)
    }

    @Test func `a run without a rollout says nothing of one`() {
        let result = Samples.passed()
        #expect(JSONNode(SummaryJSON.bytes(result))?["rollout"] == nil)
        #expect(Self.texts(result).allSatisfy { !$0.contains("ollout") })
    }
}
