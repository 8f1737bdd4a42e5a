import Backend
import Faults
import Ledger
import Metrics
import Testing

@testable import ScenarioFile

/// The pages that are made from tables.
struct ManualPageTests {
    @Test func `every metric has a row with words in every cell`() {
        for name in Metric.names {
            let row = MetricPage.text.split(separator: "\n").first { $0.hasPrefix("| `\(name)` |") }
            #expect(row != nil, "\(name) has no row")
            #expect(row?.split(separator: "|").allSatisfy { !$0.allSatisfy { $0 == " " } } == true)
        }
    }

    @Test func `every invariant and every link has a row`() {
        for invariant in Invariant.allCases {
            #expect(InvariantPage.text.contains("| `\(invariant.rawValue)` | \(invariant.statement) |"))
        }
        for preset in LinkPreset.all { #expect(LinkPage.text.contains("| `\(preset.name)` | ")) }
    }

    @Test func `every key of a scenario has words and a form`() {
        let page = ScenarioPage.text
        for (part, keys) in [
            ("scenario", ScenarioSchema.top), ("group", FleetReader.valueKeys.schemas),
            ("server", ServerReader.keys.schemas), ("library", LibraryReader.keys.schemas),
            ("v2", ServerReader.v2.schemas), ("breaker", ServerReader.breaker.schemas),
        ] {
            for key in keys.keys.sorted() {
                #expect(keys[key]?.description?.isEmpty == false, "\(part): \(key) has no description")
                #expect(page.contains("| `\(key)` | "), "\(part): \(key) has no row")
            }
        }
        for key in SLOReader.keys { #expect(page.contains("| `\(key)` | ")) }
    }

    /// The defaults are those of the program: the values of a scenario that states nothing.
    @Test func `the page has the defaults of the reader`() throws {
        let rows = ScenarioPage.text.split(separator: "\n")
        func `default`(_ key: String) -> String? {
            rows.first { $0.hasPrefix("| `\(key)` |") }?.split(separator: "|").dropFirst(2).first
                .map { $0.trimmingPrefix(" ") }.map { String($0.dropLast()) }
        }
        let scenario = try load(minimal)
        #expect(`default`("scans") == "`\(scenario.groups[0].scansPerDevice)`")
        #expect(`default`("drain") == "`30s`")
        #expect(`default`("ping") == "`30s`" && scenario.server.backend.ping == .seconds(30))
        #expect(`default`("network") == "`perfect`")
        #expect(`default`("phones") == "required")
    }
}
