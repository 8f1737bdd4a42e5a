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
            minimal
                + "expect-broken: [stream.no-gap, \"scans.waiting{group:phones}\", \"scan.custody{group:phones}\"]\n"
        )
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        #expect(scenario.expectBroken.count == 3)
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
                "38: the fleet has no group `phone` (did you mean `phones`?)"
            ])
        #expect(self.complaint("[scans.lost, scans.lost]") == ["29: `scans.lost` is given twice"])
        #expect(self.complaint("scans.lost").count == 1)
        #expect(self.complaint("[[scans.lost]]").count == 1)
    }

    @Test func `an invariant is expected of a group, with the grammar of metrics`() throws {
        #expect(try self.breaks("[\"scan.custody{group:phones}\"]") == ["scan.custody{group:phones}"])
        #expect(
            try self.breaks("[\" stream.no-gap { group : phones } \"]") == ["stream.no-gap{group:phones}"])
        #expect(
            try self.breaks("[stream.no-gap, \"stream.no-gap{group:phones}\"]").count == 2,
            "two statements, which may both be right")
        #expect(
            self.complaint("[\"scan.custody{group:phone}\"]") == [
                "37: the fleet has no group `phone` (did you mean `phones`?)"
            ])
        #expect(
            self.complaint("[\"scan.custody{groups:phones}\"]") == [
                "31: unknown tag `groups` (did you mean `group`?)"
            ])
        #expect(
            self.complaint("[\"scan.custody{group:phones\"]") == ["43: expected `}`"])
        #expect(
            self.complaint("[\"scan.custdy{group:phones}\"]") == [
                "17: unknown invariant or metric `scan.custdy{group:phones}` (did you mean `scan.custody`?)"
            ])
    }

    @Test func `an invariant of the whole fleet takes no group`() throws {
        #expect(try self.breaks("[link.conserves]") == ["link.conserves"])
        #expect(
            self.complaint("[\"link.conserves{group:phones}\"]") == [
                "32: `link.conserves` is judged for the whole fleet, not for a group"
            ])
    }

    @Test func `the drain follows the limit on the time of a scan, unless it is stated`() throws {
        #expect(try load(minimal + "slo: {scan.time: p(95) < 2m}\n").drain == .minutes(2))
        #expect(try load(minimal + "drain: 5s\nslo: {scan.time: p(95) < 2m}\n").drain == .seconds(5))
    }
}
