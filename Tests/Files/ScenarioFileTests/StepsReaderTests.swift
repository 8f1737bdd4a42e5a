import Metrics
import Plan
import ScenarioFile
import SimBase
import Testing

/// `steps` of `arrivals`.
@Suite struct StepsReaderTests {
    private static let usual = "{steps: {from: 10/s, by: 10/s, to: 500/s, every: 30s}}"

    private static func text(
        _ arrivals: String, slo: String = "slo: {scan.time: p(95) < 5s}\n", more: String = ""
    )
        -> String
    {
        "scenario: 1\nfleet:\n  phones:\n    phones: 2\n    arrivals: \(arrivals)\n\(more)\(slo)"
    }

    private static func steps(_ arrivals: String) throws -> RateSteps? { try load(Self.text(arrivals)).steps }

    @Test func `steps are read, and phones scan as often as they must`() throws {
        let scenario = try load(Self.text(Self.usual))
        let ten = StepRate(perHour: 36_000)
        #expect(
            scenario.steps
                == RateSteps(
                    from: ten, by: ten, to: StepRate(perHour: 1_800_000), every: .seconds(30), refine: 0))
        #expect(scenario.groups.first?.scansPerDevice == ScenarioLimit.scansPerDeviceMax)
        let refined = "{steps: {from: 2.5/s, by: 30/m, to: 4/s, every: 1m}, stop: first objective, refine: 3}"
        let steps = try #require(try Self.steps(refined))
        #expect(steps.refine == 3 && steps.rates.map(\.description) == ["2.5/s", "3/s", "3.5/s", "4/s"])
        // The last step has the rate `to`.
        let uneven = try #require(try Self.steps("{steps: {from: 10/s, by: 10/s, to: 25/s, every: 5s}}"))
        #expect(uneven.rates.map(\.description) == ["10/s", "20/s", "25/s"])
    }

    @Test func `steps are written as they are read`() throws {
        for arrivals in [Self.usual, "{steps: {from: 2.5/s, by: 1/m, to: 4/s, every: 7s}, refine: 2}"] {
            let scenario = try load(Self.text(arrivals))
            #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        }
    }

    @Test(arguments: [
        (
            "{steps: {from: 10/s, by: 0/s, to: 20/s, every: 30s}}",
            "the rate of a step must be above zero", 5, 40
        ),
        (
            "{steps: {from: 30/s, by: 10/s, to: 20/s, every: 30s}}",
            "`to` is below `from`: 20/s and 30/s", 5, 46
        ),
        (
            "{steps: {from: 10/s, by: 10/s, to: 20/s, every: 4s}}", "a step must last at least 5s", 5, 63
        ),
        (
            "{steps: {from: 10/s, by: 10/s, to: 20/s, every: 5500ms}}",
            "a step must last a whole number of seconds", 5, 63
        ),
        (
            "{steps: {from: 10, by: 10/s, to: 20/s, every: 30s}}", "a rate needs a unit", 5, 30
        ),
        (
            "{steps: {from: 1 per 7s, by: 10/s, to: 20/s, every: 30s}}",
            "arrivals must be a number per time, such as `6/s` or `5/m`", 5, 30
        ),
        (
            "{steps: {from: 1/7s, by: 10/s, to: 20/s, every: 30s}}",
            "the rate of a step must be a whole number of arrivals per hour", 5, 30
        ),
        ("{steps: {from: 10/s, by: 1/h, to: 20/s, every: 30s}}", "more than 1000 steps", 5, 36),
        ("{steps: {by: 10/s, to: 20/s, every: 30s}}", "`steps` needs `from`", 5, 23),
        ("{stop: first objective}", "`arrivals` as a map needs `steps`", 5, 15),
        (
            "{steps: {from: 10/s, by: 10/s, to: 20/s, every: 30s}, stop: never}", "unknown value `never`", 5,
            75
        ),
        (
            "{steps: {from: 10/s, by: 10/s, to: 20/s, every: 30s}, refine: 17}",
            "the number of refinements must be a number from 0 to 16, not 17", 5, 77
        ),
    ])
    func `a mistake is told with its place`(
        _ row: (arrivals: String, message: String, line: Int, column: Int)
    ) {
        let found = errors(Self.text(row.arrivals))
        #expect(found.map(\.message) == [row.message], "\(found)")
        #expect(found.first?.line == row.line && found.first?.column == row.column, "\(found)")
    }

    @Test(arguments: [
        ("", "", "`stop: first objective` needs an objective that can be judged within a step"),
        (
            "slo: {scans.lost: count == 0}\n", "",
            "`stop: first objective` needs an objective that can be judged within a step"
        ),
        (
            "slo: {scan.time: {expect: p(95) < 5s, abort: on}}\n", "",
            "an objective with `abort: on` would end the run before a step is judged"
        ),
        (
            "slo: {scan.time: p(95) < 5s}\n", "  others: {phones: 1, arrivals: 1/s}\n",
            "a fleet with `steps` can have no other group"
        ),
        (
            "duration: 1m\nslo: {scan.time: p(95) < 5s}\n", "",
            "`duration` would end captures within the steps"
        ),
        (
            "slo: {scan.time: p(95) < 5s}\n", "    scans: 3\n",
            "the steps have up to 382500 captures, and the phones only 6"
        ),
    ])
    func `what makes the answer worthless is told`(_ row: (slo: String, more: String, message: String)) {
        let found = errors(Self.text(Self.usual, slo: row.slo, more: row.more))
        #expect(found.map(\.message) == [row.message], "\(found)")
        #expect(found.first?.help != nil)
    }
}
