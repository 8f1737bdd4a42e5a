import Metrics
import Plan
import RunControl
import SimBase
import Talaria
import Testing

@testable import ScenarioFile

/// `rollout` of a scenario, and the transport of a group.
struct RolloutReaderTests {
    private static let file = """
        scenario: 1
        fleet:
          shelves: {phones: 5, journey: bookshelf-scan, arrivals: 1/s}

        """
    private static let stages = "stages: [{share: 5%, for: 2d}]"

    @Test func `a rollout is read and written as it was read`() throws {
        let text = """
            rollout:
              arms: [sse, websocket]
              stages: [{share: 5%, for: 2d}, {share: 0.5%, for: 12h}]
              rollback: {errors: rate > 5% over 5m, complaints: value > 2 over 90s}
              time-scale: 1d = 10min
              complains-after: 20s
              sticky: off
              samples-min: 30

            """
        let scenario = try load(Self.file + text)
        let plan = try #require(scenario.rollout)
        #expect(plan.arms == RolloutArms(from: .sse, to: .websocket))
        #expect(
            plan.stages == [
                .init(share: .percent(5), length: .hours(48)),
                .init(share: Odds(perMillion: 5_000), length: .hours(12)),
            ])
        #expect(plan.stages.map(plan.length) == [.minutes(20), .minutes(5)])
        #expect(plan.triggers.map(\.measure) == [.errors, .complaints])
        #expect(plan.triggers.map(\.window) == [.minutes(5), .seconds(90)])
        #expect(plan.patience == .seconds(20))
        #expect(!plan.isSticky)
        #expect(plan.samplesMin == 30)
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
    }

    @Test func `a rollout has defaults, and no rollback that it does not state`() throws {
        let scenario = try load(Self.file + "rollout: {\(Self.stages)}\n")
        let plan = try #require(scenario.rollout)
        #expect(plan.arms == RolloutArms(from: .websocket, to: .sse))
        #expect(plan.triggers.isEmpty && plan.isSticky && plan.patience == .seconds(30))
        #expect(plan.length == .hours(48))
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        #expect(try load(Self.file).rollout == nil)
        #expect(try !ScenarioWriter.resolved(load(Self.file)).contains("rollout"))
    }

    @Test func `the rollback can be switched off for a run`() throws {
        let text = "rollout: {\(Self.stages), rollback: {connects: rate < 95% over 2m}}\n"
        #expect(try load(Self.file + text).rollout?.triggers.count == 1)
        #expect(try load(Self.file + text, set: ["rollout.rollback=off"]).rollout?.triggers == [])
    }

    @Test(arguments: [
        ("{}", "a rollout needs `stages`"),
        ("{stages: []}", "`stages` must be a list of 1 to 64 stages"),
        ("{stages: [{share: 5%}]}", "a stage needs `for`"),
        ("{stages: [{share: 5%, for: 2}]}", "a duration needs a unit"),
        (
            "{stages: [{share: 5%, for: 2w}]}",
            "unknown unit `w`: the units of a time of a rollout are ms, s, m (min), h and d"
        ),
        ("{stages: [{share: 5%, for: 2days}]}", "unknown unit `days`: the units of a time of a rollout"),
        ("{stages: [{share: 5%, for: 2us}]}", "unknown unit `us`: the units of a time of a rollout"),
        ("{stages: [{share: 5%, for: 0s}]}", "must be above zero"),
        ("{stages: [{share: 5%, for: 8d}]}", "the stages last longer than a week"),
        ("{\(stages), arms: [sse]}", "`arms` must be a list of two transports"),
        ("{\(stages), arms: [sse, sse]}", "both are `sse`"),
        ("{\(stages), arms: [sse, polling]}", "a transport"),
        ("{\(stages), time-scale: 10m}", "a time scale has the form `1d = 10m`"),
        ("{\(stages), rollback: [errors]}", "a rollback must be a map"),
        ("{\(stages), rollback: {crashes: rate > 5% over 2m}}", "unknown key `crashes`"),
        ("{\(stages), rollback: {errors: rate > 5%}}", "a condition of `errors` is of rate over a time"),
        ("{\(stages), rollback: {complaints: rate > 5% over 2m}}", "a count has no `rate`"),
        ("{\(stages), rollback: {errors: rate > 5 over 2m}}", "a rate needs a unit: %"),
        ("{\(stages), samples-min: 0}", "`samples-min` must be"),
    ])
    func `a mistake is reported`(rollout: String, message: String) throws {
        let found = errors(Self.file + "rollout: \(rollout)\n")
        let first = try #require(found.first)
        #expect(found.count == 1 && first.message.contains(message), "\(found)")
        #expect(first.line == 4)
    }

    // MARK: Faults of one arm

    @Test func `a fault can be of the streams of one transport`() throws {
        let scenario = try load(Self.file + "faults: [{do: reset, on: stream, transport: sse}]\n")
        #expect(scenario.faults[0].transport == .sse)
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        let found = errors(Self.file + "faults: [{do: reset, on: upload, transport: sse}]\n")
        #expect(found.map(\.message) == ["only a stream has a transport"])
    }

    // MARK: Journeys

    @Test func `a rollout needs groups that it can move`() {
        let file = "scenario: 1\nfleet: {scans: {phones: 5, arrivals: 1/s}}\n"
        let found = errors(file + "rollout: {\(Self.stages)}\n")
        #expect(found.map(\.message).contains { $0.contains("have one transport only") }, "\(found)")
        #expect(errors(file).isEmpty)
    }

    @Test(arguments: Journey.allCases)
    func `only jobs of v2 can be followed by another transport`(journey: Journey) throws {
        let file = """
            scenario: 1
            fleet: {phones: {phones: 5, journey: \(journey.rawValue), arrivals: 1/s, transport: websocket}}

            """
        if [.bookshelfScan, .batchEnrichment, .csvImport].contains(journey) {
            let scenario = try load(file)
            #expect(scenario.groups[0].profile.stream.transport == .websocket)
            #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        } else {
            let found = errors(file)
            #expect(
                found.map(\.message) == [
                    "the journey `\(journey.rawValue)` has no other transport than its own"
                ])
        }
    }
}
