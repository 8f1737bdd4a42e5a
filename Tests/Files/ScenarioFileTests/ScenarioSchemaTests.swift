import Faults
import Testing

@testable import ScenarioFile

struct ScenarioSchemaTests {
    @Test func `the schema has exactly the keys that the readers take`() {
        #expect(Set(ScenarioSchema.top.keys) == Set(ScenarioReader.keys + ["extends"]))
        #expect(Set(ScenarioSchema.group.keys) == Set(FleetReader.keys))
        for entry in FaultTable.all {
            let schema = ScenarioSchema.fault(entry)
            #expect(schema.properties.map { Set($0.keys) } == Set(entry.keys), "\(entry.name)")
        }
    }

    @Test func `every example of the fault page is a fault that can be read`() {
        for entry in FaultTable.all {
            let found = errors(minimal + "faults: [\(entry.example)]\n").map(\.message)
            #expect(found == [], "\(entry.name)")
        }
    }

    @Test func `the page of faults has every kind with every key`() {
        let page = FaultPage.text
        for entry in FaultTable.all {
            #expect(page.contains("\n### \(entry.name)\n"))
            for field in entry.fields { #expect(page.contains("\n- \(field.name): \(field.summary)")) }
        }
    }
}
