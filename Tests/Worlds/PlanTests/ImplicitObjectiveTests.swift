import Metrics
import Phone
import Plan
import SimBase
import Testing

/// What every run is held to (Docs/design.md section 11.1).
@Suite struct ImplicitObjectiveTests {
    private func slo(_ selector: String, _ condition: String = "count < 9") throws -> SLO {
        let selector = try MetricSelector(parsing: selector, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false)
    }

    private func objectives(
        _ stated: [String], expectBroken: [String] = [], against target: PlanTarget = .embedded
    ) throws -> [String] {
        var scenario = scenario([group("a"), group("b"), group("c")])
        scenario.slos = try stated.map { try self.slo($0) }
        scenario.expectBroken = try expectBroken.map {
            .objectives(try MetricSelector(parsing: $0, vocabulary: nil))
        }
        return scenario.objectives(against: target).dropFirst(stated.count).map {
            #expect($0.condition.description == "count == 0")
            #expect($0.severity == .error && !$0.abort)
            return $0.selector.description
        }
    }

    private let all = [
        "scans.lost", "scans.waiting", "books.missing", "scans.refused.unexplained", "cleanup.unfinished",
    ]

    @Test func `a scenario that states nothing is held to five`() throws {
        #expect(try self.objectives([]) == self.all)
    }

    @Test func `an objective of the scenario replaces the one on the same metric`() throws {
        #expect(try self.objectives(["scans.waiting"]) == self.all.filter { $0 != "scans.waiting" })
    }

    @Test func `one for a group replaces that group's only`() throws {
        let objectives = try self.objectives(["scans.waiting{group:b}"])
        #expect(
            objectives.contains("scans.waiting{group:a}") && objectives.contains("scans.waiting{group:c}"))
        #expect(!objectives.contains("scans.waiting{group:b}") && !objectives.contains("scans.waiting"))
    }

    @Test func `a group that is expected to break is judged apart from the others`() throws {
        let objectives = try self.objectives([], expectBroken: ["scans.waiting{group:b}"])
        #expect(
            objectives.filter { $0.hasPrefix("scans.waiting") }
                == ["a", "b", "c"].map { "scans.waiting{group:\($0)}" })
    }

    @Test func `an expectation without a group splits a fleet that has other clients, and no other`() throws {
        #expect(try self.objectives([], expectBroken: ["scans.waiting"]) == self.all)
        var scenario = scenario([group("a"), group("b")])
        scenario.expectBroken = [
            .objectives(try MetricSelector(parsing: "scans.waiting", vocabulary: nil))
        ]
        scenario.groups[1].toggles = [ToggleSetting(.background, isOn: true)]
        #expect(scenario.groupsExpectedToBreak == ["b"])
        #expect(
            scenario.objectives(against: .embedded).map(\.selector.description).filter {
                $0.hasPrefix("scans.waiting")
            } == ["scans.waiting{group:a}", "scans.waiting{group:b}"])
        scenario.groups[0].toggles = scenario.groups[1].toggles
        #expect(scenario.groupsExpectedToBreak == nil)
    }

    @Test func `whoever counts the refusals of a foreign target need not explain them`() throws {
        let name = "scans.refused.unexplained"
        #expect(try self.objectives(["scans.refused"]).contains(name))
        #expect(try !self.objectives(["scans.refused"], against: .foreign).contains(name))
        #expect(try self.objectives([], against: .foreign).contains(name))
    }

    @Test func `scans get as long to finish as the objectives allow them`() throws {
        #expect(Scenario.drainDefault([]) == .seconds(30))
        let slos = [
            try self.slo("scan.time", "p(95) < 2m"), try self.slo("scan.time", "max <= 3m"),
            try self.slo("scan.time", "min > 1h"), try self.slo("upload.time", "max < 2h"),
        ]
        #expect(Scenario.drainDefault(slos) == .minutes(3))
        #expect(Scenario.drainDefault([try self.slo("scan.time", "p(95) < 2s")]) == .seconds(30))
    }
}
