import Ledger
import Plan
import RunJudge
import SimBase
import Testing

@testable import ScenarioFile

@Suite struct MomentTests {
    private func complaint(_ value: String) -> [String] {
        errors(minimal + "sometimes: \(value)\n").map {
            "\($0.column): \($0.message)" + ($0.help.map { " (\($0))" } ?? "")
        }
    }

    @Test func `a scenario names what a run must come to, and says it again`() throws {
        let scenario = try load(minimal + "sometimes: [stream-resumed, slots-full]\n")
        #expect(scenario.coverageGoals == ["stream-resumed", "slots-full"])
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        #expect(try load(minimal).coverageGoals == [])
        for moment in CoverageGoal.allCases {
            #expect(
                try load(minimal + "sometimes: [\(moment.rawValue)]\n").coverageGoals == [moment.rawValue])
        }
    }

    @Test func `of a fleet of another size nothing of the kind is asked`() throws {
        let scenario = try load(minimal + "sometimes: [slots-full]\n")
        #expect(scenario.scaled(devices: 7).coverageGoals == [])
    }

    @Test func `of a run that is changed nothing of the kind is asked, unless the change says so`() throws {
        let text = minimal + "sometimes: [slots-full]\n"
        func moments(_ overrides: String...) throws -> [String] {
            try load(text, set: overrides).coverageGoals
        }
        for change in ["fleet.phones.phones=2", "server.ping=3s", "faults=[]", "duration=1m"] {
            #expect(try moments(change) == [], "\(change)")
            #expect(try moments(change, "sometimes=[path-lost]") == ["path-lost"], "\(change)")
        }
        for change in ["seed=7", "slo.scans.lost=count == 0", "drain=1m", "name=other"] {
            #expect(try moments(change) == ["slots-full"], "\(change)")
        }
        #expect(try moments("sometimes=[]") == [])
        #expect(
            ScenarioReader.keys.filter { !Overrides.changeWhatHappens(["\($0)=x"]) } == [
                "scenario", "name", "description", "seed", "slo", "expect-broken", "sometimes", "drain",
                "trial", "cost",
            ])
    }

    @Test func `what is no moment is a mistake with its location`() {
        #expect(
            self.complaint("[slots-ful]") == [
                "13: unknown situation `slots-ful` (did you mean `slots-full`?)"
            ])
        #expect(self.complaint("[slots-full, slots-full]") == ["25: `slots-full` is given twice"])
        #expect(self.complaint("slots-full").count == 1)
        #expect(self.complaint("[[slots-full]]").count == 1)
    }
}
