import Metrics
import Plan
import SimBase
import Testing

@testable import ScenarioFile

@Suite struct ExpectBrokenTests {
    private func breaks(_ list: String, slo: String = "{}") throws -> [String] {
        try load(minimal + "slo: \(slo)\nexpect-broken: \(list)\n").expectBroken.map(\.name)
    }

    private func complaint(_ value: String, slo: String = "{}") -> [String] {
        errors(minimal + "slo: \(slo)\nexpect-broken: \(value)\n").map {
            "\($0.column): \($0.message)" + ($0.help.map { " (\($0))" } ?? "")
        }
    }

    @Test func `invariants, implicit objectives and stated ones can be expected to break`() throws {
        let list = "[stream.no-gap, scans.lost, scans.completed, \"scans.waiting{group:phones}\", scan.time]"
        #expect(
            try self.breaks(list, slo: "{scan.time: p(95) < 3s}") == [
                "stream.no-gap", "scans.lost", "scans.completed", "scans.waiting{group:phones}", "scan.time",
            ])
    }

    @Test func `a resolved scenario says it again`() throws {
        let scenario = try load(
            minimal + "expect-broken: [stream.no-gap, \"scans.waiting{group:phones}\"]\n")
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        #expect(scenario.expectBroken.count == 2)
    }

    @Test func `what cannot break is a mistake with its location`() {
        #expect(
            self.complaint("[stream.no-gab]") == [
                "17: unknown invariant or metric `stream.no-gab` (did you mean `stream.no-gap`?)"
            ])
        #expect(
            self.complaint("[upload.time]") == [
                "17: there is no objective for `upload.time` (add one under `slo`)"
            ])
        #expect(
            self.complaint("[\"scans.waiting{group:phone}\"]") == [
                "17: the fleet has no group `phone` (did you mean `phones`?)"
            ])
        #expect(self.complaint("[scans.lost, scans.lost]") == ["29: `scans.lost` is given twice"])
        #expect(self.complaint("scans.lost").count == 1)
        #expect(self.complaint("[[scans.lost]]").count == 1)
    }

    @Test func `the drain follows the limit on the time of a scan, unless it is stated`() throws {
        #expect(try load(minimal + "slo: {scan.time: p(95) < 2m}\n").drain == .minutes(2))
        #expect(try load(minimal + "drain: 5s\nslo: {scan.time: p(95) < 2m}\n").drain == .seconds(5))
    }
}
