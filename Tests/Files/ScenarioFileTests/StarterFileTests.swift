import Plan
import Testing

@testable import ScenarioFile

struct StarterFileTests {
    @Test func `the starter file is a sound scenario whose every fault fires often enough`() throws {
        let scenario = try load(StarterFile.text(name: "my-first.one"))
        #expect(scenario.name == "my-first.one")
        let plan = RunPlan(scenario, target: .embedded)
        #expect(plan.expectedArrivals.scans == 60)
        #expect(plan.expectedFirings.allSatisfy { $0 >= 10 })
    }

    @Test func `what it leaves in comments works too`() throws {
        let text = StarterFile.text(name: "x")
        let staged = text.replacing("    arrivals: 6/s", with: "    #").replacing(
            "    # arrivals:", with: "    arrivals:")
        #expect(try load(staged).groups[0].load != load(text).groups[0].load)
        let closed = text.replacing("    arrivals: 6/s", with: "    #").replacing(
            "    spacing:", with: "    #"
        )
        .replacing("    # think:", with: "    think:")
        guard case .closed = try load(closed).groups[0].load else {
            Issue.record("think times do not work")
            return
        }
    }

    @Test(arguments: ["", "a b", "../x", "-x", "x\n", String(repeating: "x", count: 65)])
    func `a name that is none is not accepted`(name: String) {
        #expect(!StarterFile.accepts(name: name))
    }
}

struct CopiedScenarioTests {
    @Test func `a copy has its name and the schema beside it, and is otherwise the same`() {
        let text =
            "# yaml-language-server: $schema=../Docs/scenario.schema.json\n# x\nscenario: 1\nname: old\nseed: 2\n"
        #expect(
            StarterFile.text(copying: text, name: "new")
                == "# yaml-language-server: $schema=scenario.schema.json\n# x\nscenario: 1\nname: new\nseed: 2\n"
        )
        #expect(
            StarterFile.text(copying: "scenario: 1\nseed: 2\n", name: "new")
                == "# yaml-language-server: $schema=scenario.schema.json\nscenario: 1\nname: new\nseed: 2\n")
    }
}
