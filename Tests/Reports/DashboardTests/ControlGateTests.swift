import RunControl
import SimBase
import Testing
import Wire

@testable import Dashboard

@Suite struct ControlGateTests {
    private static let token = "0123456789abcdef0123456789abcdef"
    private static let gate = ControlGate(token: Self.token, port: 5665)

    private static func head(
        _ target: String, method: String = "POST", host: String? = "127.0.0.1:5665",
        token: String? = Self.token, _ more: HeaderFields = [:]
    ) -> RequestHead {
        let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        var headers = more
        if let host { headers.append("Host", host) }
        if let token { headers.append("X-Control-Token", token) }
        return RequestHead(
            method: method, target: target, path: "/control/\(halves[0])",
            query: halves.count > 1 ? halves[1] : nil, version: .http11, headers: headers, body: .none,
            expectsContinue: false, keepsAlive: true)
    }

    private static func status(_ head: RequestHead) -> Int? {
        guard case .refusal(let status, _) = Self.gate.answer(head) else { return nil }
        return status
    }

    @Test func `orders are read from the path and the query`() {
        let orders: [(String, ControlOrder)] = [
            ("stop", .stop), ("pause", .pause), ("resume", .resume), ("close", .close),
            ("phones?by=3&group=commuters", .phones(by: 3, group: "commuters")),
            ("phones?by=-12", .phones(by: -12, group: nil)),
            ("phones?by=1&group=", .phones(by: 1, group: nil)),
            ("phones?group=a%20b&by=1", .phones(by: 1, group: "a b")),
            ("fault?id=offline-1", .fault("offline-1")), ("fault?offline=5", .offline(for: .seconds(5))),
        ]
        for (target, order) in orders {
            #expect(Self.gate.answer(Self.head(target)) == .order(order), "\(target)")
        }
    }

    @Test(arguments: [
        ("phones", 400), ("phones?by=", 400), ("phones?by=x", 400), ("phones?by=99999999999999999999", 400),
        ("fault", 400), ("fault?offline=0", 400), ("fault?offline=3601", 400), ("fault?offline=x", 400),
        ("explode", 404), ("stop/", 404), ("", 404),
    ]) func `anything else is no order`(target: String, status: Int) {
        #expect(Self.status(Self.head(target.isEmpty ? "?" : target)) == status)
    }

    @Test(arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "post"])
    func `nothing but POST controls a run`(method: String) {
        #expect(Self.status(Self.head("stop", method: method)) == 405)
    }

    @Test(arguments: ["127.0.0.1:5665", "localhost:5665", "LOCALHOST:5665", "[::1]:5665"])
    func `this machine and this port may control it`(host: String) {
        #expect(Self.status(Self.head("stop", host: host)) == nil)
        #expect(Self.status(Self.head("stop", host: host, ["Origin": "http://\(host)"])) == nil)
    }

    @Test(arguments: [
        nil, "", "127.0.0.1", "localhost", "127.0.0.1:80", "127.0.0.1:56650", "127.0.0.1:15665",
        "evil.example:5665", "127.0.0.1.evil.example:5665", "0.0.0.0:5665", "evil.example",
    ]) func `another name or port may not`(host: String?) {
        #expect(Self.status(Self.head("stop", host: host)) == 403)
    }

    @Test(
        arguments: [
            ["Origin": "https://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1"],
            ["Origin": "http://localhost:5665"], ["Origin": "https://127.0.0.1:5665"],
            ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
        ] as [HeaderFields]) func `a page of another origin may not`(headers: HeaderFields)
    {
        #expect(Self.status(Self.head("stop", headers)) == 403)
    }

    @Test(arguments: [
        nil, "", "0", "0123456789abcdef0123456789abcdeF", "0123456789abcdef0123456789abcdef0",
        "1123456789abcdef0123456789abcdef",
    ]) func `without the token nobody may`(token: String?) {
        #expect(Self.status(Self.head("stop", token: token)) == 403)
    }

    @Test func `the router refuses in JSON, and knows no control without a token`() throws {
        let router = DashboardRouter(page: "page", policy: "", gate: Self.gate)
        guard case .reply(let bytes) = router.answer(Self.head("stop", token: nil), hasRoom: true) else {
            Issue.record("no reply")
            return
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 403 ") && text.contains("\r\nContent-Type: application/json\r\n"))
        #expect(
            text.hasSuffix(
                "\r\n\r\n{\"error\":\"the control token is missing or wrong: open the address that this run has printed\"}\n"
            ))
        #expect(router.answer(Self.head("stop"), hasRoom: false) == .control(.stop))
        let without = DashboardRouter(page: "page", policy: "")
        guard case .reply(let none) = without.answer(Self.head("stop"), hasRoom: true) else {
            Issue.record("an order without a gate")
            return
        }
        #expect(String(decoding: none, as: UTF8.self).hasPrefix("HTTP/1.1 404 "))
    }

    // MARK: The controls of the page

    @Test func `the controls show what is possible, and nothing when the run ends`() {
        var control = RunControl(
            groups: [.init(name: "a<b", phones: 12)],
            faults: [.init(id: "reset-1", isOfPhone: false), .init(id: "kill-1", isOfPhone: true)],
            lastArrival: nil)
        #expect(ControlBar.html(control).isEmpty)
        control.began()
        let bar = ControlBar.html(control).text
        #expect(bar.contains("data-control=\"pause\"") && !bar.contains("data-control=\"resume\""))
        #expect(bar.contains("<option value=\"a&lt;b\">a&lt;b: 12 of 12</option>"))
        #expect(bar.contains("<option value=\"kill-1\">") && !bar.contains("reset-1"))
        #expect(bar.contains("data-control=\"stop\"") && bar.contains("data-confirm=\"End this run now?"))
        #expect(!bar.contains("onclick"))
        _ = try? control.handle(.pause, at: .zero)
        #expect(ControlBar.html(control).text.contains("data-control=\"resume\""))
        control.ends()
        #expect(ControlBar.html(control).isEmpty)
    }
}
