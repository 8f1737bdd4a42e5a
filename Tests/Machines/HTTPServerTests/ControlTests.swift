import Faults
import HTTPServer
import SimBase
import Testing
import Wire

/// Faults on demand (`POST /_sim/faults`), and the link of callers from outside the fleet.
@Suite struct ControlTests {
    private static let token = "00c0ffee00c0ffee"

    private static func bench() -> Bench {
        Bench(
            jobTime: .seconds(60), showsStatus: true,
            crossSite: CrossSiteGuard(hosts: .privateOr([]), pages: .none), controlToken: Self.token)
    }

    private static func post(
        _ bench: inout Bench, _ query: String, method: String = "POST", token: String? = Self.token,
        headers: String = "Host: 127.0.0.1:8080\r\n"
    ) -> String {
        let id = bench.connect()
        let secret = token.map { "X-Sim-Token: \($0)\r\n" } ?? ""
        bench.send(
            Array(
                "\(method) /_sim/faults?\(query) HTTP/1.1\r\n\(headers)\(secret)Content-Length: 0\r\n\r\n"
                    .utf8),
            on: id)
        return bench[id].text
    }

    /// An open stream, and the job and token that it belongs to.
    private static func stream(_ bench: inout Bench) throws -> (ConnectionID, job: String, token: String) {
        let upload = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        let job = try Script.member("jobId", of: bench[upload].text)
        let token = try Script.member("authToken", of: bench[upload].text)
        let stream = bench.connect()
        bench.send(Script.get("/v3/jobs/scans/\(job)/stream", token: token, .stream), on: stream)
        return (stream, job, token)
    }

    @Test func `a stream is cut now, of one phone or of all`() throws {
        var bench = Self.bench()
        let (stream, _, _) = try Self.stream(&bench)
        #expect(Self.post(&bench, "do=cut-streams&device=somebody").hasSuffix("\r\n\r\n0 streams were cut\n"))
        #expect(bench[stream].cut == nil)
        #expect(
            Self.post(&bench, "do=cut-streams&device=\(Script.device)").hasSuffix("1 streams were cut\n"))
        #expect(bench[stream].cut == .reset)
        let (other, _, _) = try Self.stream(&bench)
        #expect(Self.post(&bench, "do=cut-streams").hasSuffix("1 streams were cut\n"))
        #expect(bench[other].cut == .reset)
    }

    @Test func `a token expires, and its stream ends`() throws {
        var bench = Self.bench()
        let (stream, job, token) = try Self.stream(&bench)
        #expect(Self.post(&bench, "do=expire-tokens").hasSuffix("the tokens of 1 jobs have expired\n"))
        #expect(bench[stream].isFinished)
        let again = bench.connect()
        bench.send(Script.get("/v3/jobs/scans/\(job)/stream", token: token, .stream), on: again)
        #expect(bench[again].text.hasPrefix("HTTP/1.1 401 "))
        #expect(bench[again].text.contains("TOKEN_EXPIRED"))
    }

    @Test func `requests are refused for a time`() throws {
        var bench = Self.bench()
        let (_, job, token) = try Self.stream(&bench)
        #expect(Self.post(&bench, "do=refuse&status=503&seconds=10").hasSuffix("requests get 503 for 10 s\n"))
        func answer(_ bench: inout Bench) -> String {
            let id = bench.connect()
            bench.send(Script.get("/v3/jobs/scans/\(job)", token: token, .status), on: id)
            return bench[id].text
        }
        let refused = answer(&bench)
        #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("\r\nRetry-After: 11\r\n"))
        bench.run(for: .seconds(10))
        #expect(answer(&bench).hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: [
        ("do=cut-streams", "GET", "00c0ffee00c0ffee", "Host: localhost\r\n", 405),
        ("do=cut-streams", "POST", "", "Host: localhost\r\n", 403),
        ("do=cut-streams", "POST", "00c0ffee00c0ffef", "Host: localhost\r\n", 403),
        ("do=cut-streams", "POST", "00c0ffee00c0ffee", "Host: evil.example\r\n", 403),
        (
            "do=cut-streams", "POST", "00c0ffee00c0ffee",
            "Host: localhost\r\nOrigin: https://evil.example\r\n",
            403
        ),
        ("do=refuse&status=200", "POST", "00c0ffee00c0ffee", "Host: localhost\r\n", 400),
        ("do=refuse&seconds=0", "POST", "00c0ffee00c0ffee", "Host: localhost\r\n", 400),
        ("do=explode", "POST", "00c0ffee00c0ffee", "Host: localhost\r\n", 400),
    ]) func `whoever may not or says nothing sensible changes nothing`(
        query: String, method: String, token: String, headers: String, status: Int
    ) throws {
        var bench = Self.bench()
        let (stream, _, _) = try Self.stream(&bench)
        let answer = Self.post(&bench, query, method: method, token: token, headers: headers)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        #expect(bench[stream].cut == nil)
    }

    @Test func `without a token there are no faults on demand`() {
        var bench = Bench(showsStatus: true)
        #expect(Self.post(&bench, "do=cut-streams").hasPrefix("HTTP/1.1 404 "))
    }

    @Test func `the page has a button for each, and scripts get the token`() {
        var bench = Self.bench()
        func status(_ accept: String) -> String {
            let id = bench.connect()
            bench.send(
                Array("GET /_sim HTTP/1.1\r\nHost: localhost\r\nAccept: \(accept)\r\n\r\n".utf8), on: id)
            return bench[id].text
        }
        let page = status("text/html")
        for query in ["do=cut-streams", "do=expire-tokens", "do=refuse&amp;status=503&amp;seconds=10"] {
            #expect(page.contains("action=\"/_sim/faults?\(query)&amp;token=\(Self.token)\""))
        }
        #expect(status("*/*").contains("\"controlToken\":\"\(Self.token)\""))
    }

    @Test func `a caller from outside the fleet has the link that was asked for`() {
        let slow = LinkDirection(delay: .milliseconds(100), bitsPerSecond: nil)
        for (link, time) in [(LinkProfile.perfect, Int64(0)), (LinkProfile(up: slow, down: slow), 200)] {
            var bench = Bench(otherCallers: link)
            let id = bench.connect()
            bench.send(Array("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n".utf8), on: id)
            if time > 0 {
                bench.run(until: .zero + .milliseconds(time - 1))
                #expect(bench[id].text.isEmpty)
            }
            bench.run(until: .zero + .seconds(3))
            #expect(bench[id].text.hasPrefix("HTTP/1.1 404 "))
        }
    }
}
