import Backend
import JSON
import Plan
import SimBase
import Testing

@testable import ScenarioFile

/// The example of the handbook: a row is all that the reader, the resolved scenario, the schema and the manual's page of
/// a key need.
struct ScenarioKeyTests {
    @Test func `every simple key comes back as another value than its default`() throws {
        let values = [
            "job-time": "1s..2s", "ping": "7s", "ping-ids": "on", "token-lifetime": "7s",
            "event-buffer": "7s",
            "replay-ids": "fresh", "line-ends": "cr", "rate-limit": "off", "results-lifetime": "7s",
            "completed-size-max": "7B", "strict-device": "on", "strict-accept": "on",
            "repeated-cleanup": "404", "links": "absolute", "retry": "7s", "stream-linger": "7s",
            "photos-max": "7", "photo-size-max": "7B", "batch-size-max": "7B", "jobs-max": "7",
            "tombstones-max": "7", "books": "7",
        ]
        for row in ServerReader.keys.rows where !["dialect", "v2", "circuit-breaker"].contains(row.name) {
            let value = try #require(values[row.name], "\(row.name) has no value here")
            let server = try load(minimal + "server: {\(row.name): \(value)}\n").server
            #expect(server != .contract && row.write(server) == value, "\(row.name)")
        }
    }

    @Test func `every key of a row is in the schema, in a resolved scenario and on the page`() throws {
        let resolved = ScenarioWriter.resolved(try load(minimal))
        let properties = ScenarioSchema.top["server"]?.properties
        for row in ServerReader.keys.rows {
            #expect(properties?[row.name] == row.schema, "\(row.name)")
            #expect(resolved.contains("\n  \(row.name): "), "\(row.name)")
            #expect(ScenarioPage.text.contains("| `\(row.name)` | "), "\(row.name)")
        }
        #expect(
            errors(minimal + "server: {stream-lingr: 1s}\n").first?.help == "did you mean `stream-linger`?")
    }
}
