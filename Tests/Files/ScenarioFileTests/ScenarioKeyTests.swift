import Backend
import JSON
import OriginServer
import Plan
import SimBase
import Talaria
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
            "completed-size-max": "7B", "progressive": "on", "preview": "1kB..1MB", "cancel-event": "on",
            "strict-device": "on", "strict-accept": "on",
            "repeated-cleanup": "404", "enrichment-body": "flat", "links": "absolute", "retry": "7s",
            "stream-linger": "7s",
            "photos-max": "7", "photo-size-max": "7B", "batch-size-max": "7B", "jobs-max": "7",
            "tombstones-max": "7", "books": "7",
            "statuses": "{success: 80%, not_found: 5%, review_needed: 15%}",
            "limits":
                "[{quota: 5 per 1m, per: address, of: csv-import}, {quota: 30 per 1m, per: all, of: status}]",
            "phones-per-address": "7", "confidence": "0.3..0.99", "inline": "full",
        ]
        for row in ServerReader.keys.rows where !["dialect", "v2", "circuit-breaker"].contains(row.name) {
            let value = try #require(values[row.name], "\(row.name) has no value here")
            let server = try load(minimal + "server: {\(row.name): \(value)}\n").server
            #expect(server != .contract && row.write(server) == value, "\(row.name)")
        }
    }

    @Test func `shares of statuses and numbers of confidence are read as they are meant`() throws {
        let server = try load(minimal + "server: {statuses: {circuit_open: 0.5%}, confidence: 0.955}\n")
            .server
        #expect(server.statuses.circuitOpen == Odds(perMillion: 5_000) && server.statuses.perMillion == 5_000)
        #expect(server.confidence == 955...955)
        #expect(try load(minimal + "server: {confidence: 0..1}\n").server.confidence == 0...1_000)
        #expect(try load(minimal + "server: {confidence: auto}\n").server.confidence == nil)
    }

    @Test func `a limit without requests is one of uploads`() throws {
        let limits = try load(minimal + "server: {limits: [{quota: 9 per 24h, per: all}]}\n").server.backend
            .limits
        let quota = Quota(requests: 9, window: .hours(24))
        #expect(limits == [RateLimitRule(quota: quota, scope: .all, requests: .uploads)])
    }

    @Test(arguments: [
        ("statuses: {success: 60%, error: 40.1%}", "the shares of `statuses` are more than 100% together"),
        ("statuses: {success: 101%}", "the maximum share is 100%"),
        ("statuses: {success: 0.8}", "a share needs a unit"),
        ("statuses: {notfound: 5%}", "unknown key `notfound` in `statuses`"),
        ("statuses: 80%", "must be a map of keys and values"),
        ("confidence: 0.3..1.1", "`confidence` must be from 0 to 1 with at most three decimals, not `1.1`"),
        ("confidence: 0.1234", "at most three decimals"),
        ("confidence: high", "`confidence` must be a number from 0 to 1, or a range such as `0.3..0.99`"),
        ("confidence: 0.9..0.3", "a range must begin with its smaller value"),
        ("confidence: -0.1", "`confidence` must be a number from 0 to 1"),
        ("limits: 5 per 1m", "`limits` must be a list of at most 16 limits"),
        ("limits: [{quota: 5 per 1m}]", "a limit needs `per`"),
        ("limits: [{per: all}]", "a limit needs `quota`"),
        ("limits: [{quota: 0 per 1m, per: all}]", "a limit of 0 rejects every request that it counts"),
        ("limits: [{quota: 5 per 1m, per: ip}]", "`per` must be `device`, `address` or `all`"),
        ("limits: [{quota: 5 per 1m, per: all, of: csv}]", "`of` must be `uploads`, `status`"),
        ("phones-per-address: 0", "`phones-per-address` must be a number from 1"),
        ("inline: all", "`inline` must be `lite` or `full`"),
    ])
    func `what is wrong with the books of a server is said`(server: String, message: String) {
        let found = errors(minimal + "server: {\(server)}\n")
        #expect(found.count == 1 && found.allSatisfy { $0.message.contains(message) }, "\(found)")
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
