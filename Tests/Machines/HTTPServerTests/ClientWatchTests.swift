import ClientTrial
import Faults
import HTTPServer
import JSON
import SimBase
import SimTestSupport
import Talaria
import Testing
import Wire

/// The trial of the clients behind real bytes, and what `/_sim` says of it.
@Suite struct ClientWatchTests {
    private static let token = "00c0ffee00c0ffee"

    private struct Status: Decodable {
        struct Clients: Decodable {
            struct Rule: Decodable {
                struct Example: Decodable { var text, request: String? }
                var id: String
                var breaks, occasions: Int
                var isExpected: Bool
                var example: Example?
            }
            var verdict: String
            var jobs, requests: Int
            var rules: [Rule]
        }
        var clients: Clients
    }

    private static func bench(
        ownPhones: Bool = false, jobTime: Interval = .milliseconds(60), known: [ClientRule] = []
    ) -> Bench {
        var expectations = ClientExpectations()
        expectations.known = known
        return Bench(
            jobTime: jobTime, showsStatus: true,
            crossSite: CrossSiteGuard(hosts: .privateOr([]), pages: .none), controlToken: Self.token,
            faultsOnDemand: FaultsOnDemand.specs,
            clientWatch: ClientWatchConfiguration(
                rules: ClientTrialSettings(), followsOwnPhones: ownPhones, expectations: expectations))
    }

    /// A request of a client that is not a phone of this program.
    private static func foreign(_ bytes: [UInt8]) -> [UInt8] {
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        return Array(lines.filter { !$0.hasPrefix("traceparent:") }.joined(separator: "\r\n").utf8)
    }

    private static func upload(_ scan: UInt32) -> [UInt8] {
        let head = """
            POST /v3/jobs/scans HTTP/1.1\r
            Host: x\r
            X-Device-ID: \(Script.device)\r
            Content-Type: multipart/form-data; boundary=B\r
            Content-Length:
            """
        let start = Array("--B\r\nContent-Disposition: form-data; name=\"photos[]\"\r\n\r\n".utf8)
        let photo: [UInt8] = [0xFF, 0xD8, 0xFF, UInt8(scan)]
        let end = Array("\r\n--B--\r\n".utf8)
        let whole = start + photo + end
        return Array("\(head) \(whole.count)\r\n\r\n".utf8) + whole
    }

    private static func status(_ bench: inout Bench, path: String = "/_sim/json") throws -> Status.Clients {
        let id = bench.connect()
        bench.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n".utf8), on: id)
        let text = bench[id].text
        let body = try #require(text.firstRange(of: "\r\n\r\n")).upperBound
        return try #require(JSON.decode(Status.self, from: String(text[body...]))).clients
    }

    private static func delete(_ job: String, token: String) -> [UInt8] {
        let text = String(
            decoding: Script.get("/v3/jobs/scans/\(job)/cleanup", token: token, .cleanup), as: UTF8.self)
        return Array(("DELETE" + text.dropFirst(3)).utf8)
    }

    /// A scan up to the end of its stream. Returns its job and token, and the connection of the stream.
    private static func scan(
        _ bench: inout Bench, _ scan: UInt32 = 1
    ) throws -> (job: String, token: String, stream: ConnectionID) {
        let upload = bench.connect()
        bench.send(Self.upload(scan), on: upload)
        let job = try Script.member("jobId", of: bench[upload].text)
        let token = try Script.member("authToken", of: bench[upload].text)
        let stream = bench.connect()
        bench.send(
            Self.foreign(Script.get("/v3/jobs/scans/\(job)/stream", token: token, .stream)), on: stream)
        bench.run(for: .seconds(1))
        #expect(bench[stream].isFinished)
        bench.handle(.gone(stream))
        return (job, token, stream)
    }

    @Test func `an honest client passes, and a page and a script are told so`() throws {
        var bench = Self.bench()
        #expect(try Self.status(&bench).verdict == "nothing-to-judge")
        let (job, token, _) = try Self.scan(&bench)
        let delete = bench.connect()
        bench.send(Self.foreign(Self.delete(job, token: token)), on: delete)
        let clients = try Self.status(&bench)
        #expect(clients.verdict == "passed")
        #expect(clients.jobs == 1 && clients.requests == 3)
        #expect(clients.rules.map(\.id) == ClientRule.allCases.map(\.id))
        #expect(clients.rules.first { $0.id == "client.job-deleted" }?.occasions == 1)
        #expect(bench.server.clientReport(at: bench.now)?.broken == [])
    }

    @Test(arguments: [false, true])
    func `a client that breaks a rule is named`(isKnown: Bool) throws {
        var bench = Self.bench(known: isKnown ? [.resultsLean, .resultsNeeded] : [])
        let (job, token, _) = try Self.scan(&bench)
        let results = bench.connect()
        bench.send(
            Self.foreign(Script.get("/v3/jobs/scans/\(job)/results", token: token, .results)), on: results)
        let clients = try Self.status(&bench)
        #expect(clients.verdict == (isKnown ? "passed" : "broken"))
        let broken = clients.rules.filter { $0.breaks > 0 }
        #expect(broken.map(\.id) == ["client.results-needed", "client.results-lean"])
        #expect(broken.allSatisfy { $0.isExpected == isKnown })
        #expect(broken.last?.example?.request == "GET /v3/jobs/scans/\(job)/results")
        let page = bench.connect()
        bench.send(
            Array("GET /_sim HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n".utf8), on: page)
        #expect(bench[page].text.contains("<td>client.results-lean</td>"))
        #expect(!bench[page].text.contains(token))
    }

    @Test(arguments: [false, true])
    func `phones of this program are followed where that is asked for`(isAskedFor: Bool) throws {
        var bench = Self.bench(ownPhones: isAskedFor)
        let upload = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        #expect(try Self.status(&bench).jobs == (isAskedFor ? 1 : 0))
    }

    @Test(arguments: [false, true])
    func `probes of a trial are requests of no client`(isAskedFor: Bool) throws {
        var bench = Self.bench(ownPhones: isAskedFor)
        let request = "GET /v3/jobs/scans/j HTTP/1.1\r\nHost: x\r\n"
        bench.send(Array("\(request)X-Load-Test-Probe: without-token\r\n\r\n".utf8), on: bench.connect())
        #expect(try Self.status(&bench).requests == 0)
        bench.send(Array("\(request)\r\n".utf8), on: bench.connect())
        #expect(try Self.status(&bench).requests == 1)
    }

    @Test func `only phones of this program get the time of an event`() throws {
        var bench = Self.bench()
        let (_, _, stream) = try Self.scan(&bench)
        #expect(!bench[stream].text.contains(": t="))
        #expect(bench[stream].text.contains("event: completed\n"))
    }

    // MARK: Faults on demand

    private static func post(_ bench: inout Bench, _ query: String) -> String {
        let id = bench.connect()
        bench.send(
            Array(
                "POST /_sim/faults?\(query)&token=\(Self.token) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
                    .utf8), on: id)
        return bench[id].text
    }

    @Test func `a fault is switched on and off`() throws {
        var bench = Self.bench()
        func hasBooks(_ scan: UInt32) throws -> Bool {
            let stream = try Self.scan(&bench, scan).stream
            return bench[stream].text.contains("\"books\":")
        }
        #expect(try hasBooks(1))
        #expect(
            Self.post(&bench, "do=switch&fault=demand.strip-books&to=on").hasSuffix(
                "\r\n\r\ndemand.strip-books is on\n"))
        #expect(try !hasBooks(2))
        #expect(Self.post(&bench, "do=switch&fault=demand.strip-books&to=off").contains(" 200 "))
        #expect(try hasBooks(3))
    }

    @Test(arguments: FaultsOnDemand.specs.map(\.id))
    func `each fault on demand acts, and has a button`(fault: String) throws {
        var bench = Self.bench(jobTime: .seconds(20))
        #expect(Self.post(&bench, "do=switch&fault=\(fault)&to=on").contains(" 200 "))
        let upload = bench.connect()
        bench.send(Self.upload(1), on: upload)
        bench.run(for: .seconds(5))
        let job = try Script.member("jobId", of: bench[upload].text)
        let token = try Script.member("authToken", of: bench[upload].text)
        let stream = bench.connect()
        bench.send(
            Self.foreign(Script.get("/v3/jobs/scans/\(job)/stream", token: token, .stream)), on: stream)
        bench.run(for: .seconds(40))
        #expect(!bench.firings.isEmpty)
        let page = bench.connect()
        bench.send(
            Array("GET /_sim HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n".utf8), on: page)
        bench.run(for: .seconds(5))
        #expect(bench[page].text.contains("do=switch&amp;fault=\(fault)&amp;to=off"))
    }

    @Test(arguments: [
        "do=switch&fault=none&to=on", "do=switch&fault=demand.delay", "do=refuse&on=everything",
    ])
    func `what is no switch changes nothing`(query: String) {
        var bench = Self.bench()
        #expect(Self.post(&bench, query).hasPrefix("HTTP/1.1 400 "))
    }

    @Test func `a rate limit on demand is for uploads, and says how long it is in both places`() throws {
        var bench = Self.bench()
        let (job, token, _) = try Self.scan(&bench)
        #expect(Self.post(&bench, "do=refuse&status=429&seconds=20&on=upload").contains(" 200 "))
        let upload = bench.connect()
        bench.send(Self.upload(2), on: upload)
        #expect(bench[upload].text.hasPrefix("HTTP/1.1 429 "))
        #expect(bench[upload].text.contains("\"retryAfterMs\":20000"))
        #expect(bench[upload].text.contains("\r\nRetry-After: 21\r\n"))
        let status = bench.connect()
        bench.send(Self.foreign(Script.get("/v3/jobs/scans/\(job)", token: token, .status)), on: status)
        #expect(bench[status].text.hasPrefix("HTTP/1.1 200 "))
    }
}
