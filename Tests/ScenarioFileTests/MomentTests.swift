import Ledger
import Plan
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
        #expect(scenario.moments == ["stream-resumed", "slots-full"])
        #expect(try load(ScenarioWriter.resolved(scenario)) == scenario)
        #expect(try load(minimal).moments == [])
        for moment in Sometimes.allCases {
            #expect(try load(minimal + "sometimes: [\(moment.rawValue)]\n").moments == [moment.rawValue])
        }
    }

    @Test func `of a fleet of another size nothing of the kind is asked`() throws {
        let scenario = try load(minimal + "sometimes: [slots-full]\n")
        #expect(scenario.scaled(devices: 7).moments == [])
    }

    @Test func `what is no moment is a mistake with its place`() {
        #expect(
            self.complaint("[slots-ful]") == [
                "13: no moment is called `slots-ful` (did you mean `slots-full`?)"
            ])
        #expect(self.complaint("[slots-full, slots-full]") == ["25: `slots-full` is given twice"])
        #expect(self.complaint("slots-full").count == 1)
        #expect(self.complaint("[[slots-full]]").count == 1)
    }
}
