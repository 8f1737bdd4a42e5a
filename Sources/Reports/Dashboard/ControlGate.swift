import RunControl
import SimBase
import Wire

/// Decides who may control the run, and what a request asks for. Only a `POST` with the token of the page's address gets
/// through, and only under a name of this machine with the port of the page. A page of another site can send neither.
struct ControlGate {
    static let path = "/control/"
    static let header = "X-Control-Token"

    enum Answer: Equatable {
        case order(ControlOrder)
        case refusal(status: Int, String)
    }

    static let crossSite = CrossSiteGuard(hosts: .loopback, pages: .none)

    let token: String
    /// The port that the page is on.
    let port: UInt16

    func answer(_ head: RequestHead) -> Answer {
        guard head.method == "POST" else { return .refusal(status: 405, "only POST controls the run") }
        guard Self.crossSite.allowsHost(of: head), self.namesPort(head) else {
            return .refusal(
                status: 403,
                "the run is controlled only at 127.0.0.1:\(self.port), [::1]:\(self.port) or localhost:\(self.port)"
            )
        }
        guard Self.crossSite.allowsPage(of: head), self.isFromThisPage(head) else {
            return .refusal(status: 403, "pages of other sites may not control the run")
        }
        guard let token = head.headers[Self.header], Secret.areEqual(token, self.token) else {
            return .refusal(
                status: 403,
                "the control token is missing or wrong: open the address that this run has printed")
        }
        return self.order(head)
    }

    // MARK: Who asks

    private func namesPort(_ head: RequestHead) -> Bool {
        guard let host = head.headers["Host"] else { return false }
        return host.hasSuffix(":\(self.port)") || self.port == 80 && !host.contains(":")
    }

    /// Clients other than browsers send no `Origin`.
    private func isFromThisPage(_ head: RequestHead) -> Bool {
        guard let origin = head.headers["Origin"], let host = head.headers["Host"] else { return true }
        return origin == "http://\(host)"
    }

    // MARK: What is asked

    private func order(_ head: RequestHead) -> Answer {
        switch head.path.dropFirst(Self.path.count) {
        case "stop": return .order(.stop)
        case "pause": return .order(.pause)
        case "resume": return .order(.resume)
        case "close": return .order(.close)
        case "phones":
            guard let by = head.queryValue("by").flatMap({ Int($0) }) else {
                return .refusal(
                    status: 400, "phones needs by=N or by=-N, for example /control/phones?by=-5&group=NAME")
            }
            return .order(.phones(by: by, group: head.queryValue("group").flatMap { $0.isEmpty ? nil : $0 }))
        case "fault": return self.fault(head)
        default:
            return .refusal(
                status: 404, "not found: /control/ has stop, pause, resume, phones, fault and close")
        }
    }

    private func fault(_ head: RequestHead) -> Answer {
        if let id = head.queryValue("id") { return .order(.fault(id)) }
        let limits = RunControl.offlineSeconds
        guard let seconds = head.queryValue("offline").flatMap({ Int64($0) }), limits.contains(seconds) else {
            return .refusal(
                status: 400,
                "fault needs id=FAULT, a fault of the scenario, or offline=SECONDS from \(limits.lowerBound) to \(limits.upperBound)"
            )
        }
        return .order(.offline(for: .seconds(seconds)))
    }
}

/// The outcome of an order.
package enum ControlReply: Hashable, Sendable {
    case done(String)
    case refused(String)
}
