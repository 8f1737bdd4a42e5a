import Testing
import Wire

@testable import Dashboard

@Suite struct RouterTests {
    private static let router = DashboardRouter(page: "<!doctype html>page", policy: "default-src 'none'")

    private static func head(
        _ path: String, method: String = "GET", version: RequestHead.Version = .http11,
        headers: HeaderFields = ["Host": "127.0.0.1:5665"]
    ) -> RequestHead {
        RequestHead(
            method: method, target: path, path: path, query: nil, version: version, headers: headers,
            body: .none,
            expectsContinue: false, keepsAlive: true)
    }

    private static func reply(_ head: RequestHead, hasRoom: Bool = true) -> String {
        guard case .reply(let bytes) = Self.router.answer(head, hasRoom: hasRoom) else { return "a stream" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func status(_ head: RequestHead, hasRoom: Bool = true) -> Int? {
        Int(Self.reply(head, hasRoom: hasRoom).split(separator: " ").dropFirst().first ?? "")
    }

    @Test func `the page comes whole, with a policy, and is not kept`() {
        #expect(
            Self.reply(Self.head("/")).split(separator: "\r\n", omittingEmptySubsequences: false) == [
                "HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8",
                "Content-Security-Policy: default-src 'none'", "Referrer-Policy: no-referrer",
                "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
                "Cross-Origin-Resource-Policy: same-origin", "Connection: close", "Content-Length: 19", "",
                "<!doctype html>page",
            ])
        let head = Self.reply(Self.head("/", method: "HEAD"))
        #expect(head.hasSuffix("Content-Length: 19\r\n\r\n"))
    }

    @Test func `the events are a stream that knows where its reader was`() throws {
        let answer = Self.router.answer(
            Self.head("/events", headers: ["Host": "localhost:1", "Last-Event-ID": "a-7"]), hasRoom: true)
        guard case .follow(let head, let last, let isChunked) = answer else {
            Issue.record("no stream: \(answer)")
            return
        }
        let text = String(decoding: head, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"))
        #expect(text.contains("\r\nTransfer-Encoding: chunked\r\n") && text.contains("no-store"))
        #expect(last == "a-7" && isChunked)
        #expect(Self.status(Self.head("/events", method: "HEAD")) == 200)
        guard
            case .follow(_, nil, false) = Self.router.answer(
                Self.head("/events", version: .http10), hasRoom: true)
        else {
            Issue.record("HTTP/1.0 has no chunks")
            return
        }
    }

    @Test func `there is nothing else, and nothing to change`() {
        #expect(Self.status(Self.head("/favicon.ico")) == 404)
        #expect(Self.status(Self.head("/events/")) == 404)
        #expect(Self.status(Self.head("//")) == 404)
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "get"] {
            #expect(Self.status(Self.head("/", method: method)) == 405)
            #expect(Self.reply(Self.head("/events", method: method)).contains("\r\nAllow: GET, HEAD\r\n"))
        }
    }

    @Test func `a target in absolute form is answered only with this machine's own name`() {
        var head = Self.head("/")
        head.target = "http://evil.example/"
        #expect(Self.status(head) == 403)
        head.target = "http://localhost/"
        #expect(Self.status(head) == 200)
    }

    @Test func `when the room is full only streams are turned away`() {
        #expect(Self.status(Self.head("/events"), hasRoom: false) == 503)
        #expect(Self.status(Self.head("/"), hasRoom: false) == 200)
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:5665", "LOCALHOST:80", "localhost", "[::1]", "[::1]:7", "127.8.8.8:1",
    ])
    func `names of this machine are answered`(host: String) {
        #expect(Self.status(Self.head("/", headers: ["Host": host])) == 200)
    }

    @Test(arguments: [
        "", "evil.example", "evil.example:5665", "127.0.0.1.evil.example", "localhost.evil.example:80",
        "0.0.0.0:5665",
        "192.168.1.2", "127.0.0.1:80:80", "127.0.0.1:evil", "[::1]evil", "[::1", "[::2]:1",
        "localhost@evil:1",
    ]) func `a name of somebody else's that leads here is refused`(host: String) {
        #expect(Self.status(Self.head("/", headers: ["Host": host])) == 403)
        #expect(Self.status(Self.head("/events", headers: ["Host": host])) == 403)
    }

    @Test func `the numbers come in the format that a scraper accepts, and only to names of this machine`() {
        func answer(_ headers: HeaderFields, method: String = "GET") -> DashboardRouter.Answer {
            Self.router.answer(Self.head("/metrics", method: method, headers: headers), hasRoom: false)
        }
        #expect(answer(["Host": "localhost"]) == .metrics(.openMetrics, isHead: false))
        #expect(
            answer(["Host": "localhost", "Accept": "text/plain"], method: "HEAD")
                == .metrics(.prometheus, isHead: true))
        #expect(Self.status(Self.head("/metrics", headers: ["Host": "example.org"])) == 403)
        #expect(Self.status(Self.head("/metrics", method: "POST")) == 405)
        let reply = String(
            decoding: Self.router.reply(metrics: "a 1\n", as: .openMetrics, isHead: false), as: UTF8.self)
        #expect(
            reply.contains(
                "\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"))
        #expect(reply.contains("\r\nContent-Length: 4\r\n") && reply.hasSuffix("\r\n\r\na 1\n"))
        #expect(
            Self.router.reply(metrics: "a 1\n", as: .prometheus, isHead: true).suffix(4)
                == Array("\r\n\r\n".utf8))
    }

    @Test func `a request without a name is refused`() {
        #expect(Self.status(Self.head("/", version: .http10, headers: [:])) == 403)
    }

    @Test func `pages of others may not take the indexes`() {
        for site in ["cross-site", "same-site"] {
            #expect(
                Self.status(Self.head("/events", headers: ["Host": "localhost", "Sec-Fetch-Site": site]))
                    == 403)
        }
        // A link that leads here is followed by a person.
        #expect(
            Self.status(Self.head("/", headers: ["Host": "localhost", "Sec-Fetch-Site": "cross-site"])) == 200
        )
        let own = Self.router.answer(
            Self.head("/events", headers: ["Host": "localhost", "Sec-Fetch-Site": "same-origin"]),
            hasRoom: true)
        guard case .follow = own else {
            Issue.record("the page's own stream: \(own)")
            return
        }
    }
}
