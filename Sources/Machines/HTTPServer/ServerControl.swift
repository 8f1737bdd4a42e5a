import Faults
import OriginServer
import SimBase
import Talaria
import Wire

/// A fault on demand: what a `POST /_sim/faults` requests.
struct ServerControl: Hashable, Sendable {
    enum Deed: Hashable, Sendable {
        /// Resets the open streams.
        case cutStreams
        /// Revokes the tokens of the jobs and ends their streams, as the fault `expire-token` does.
        case expireTokens
        /// Answers every request, or those of one operation, with this status for some time.
        case refuse(status: Int, Talaria.Operation?, for: Interval)
        /// Switches a fault of the list on or off, by its id.
        case set(fault: String, isOn: Bool)
    }

    static let path = StatusPage.path + "/faults"
    /// The header of the token; the field `token` of the query has it as well.
    static let tokenHeader = "X-Sim-Token"
    private static let statuses = 400...599
    private static let secondsMax: Int64 = 3_600

    var deed: Deed
    /// The `X-Device-ID` that it is about; nil for all.
    var device: String?

    /// The fields `do`, `device`, `status`, `seconds`, `on`, `fault` and `to` of the query; nil if they say nothing that can be done.
    init?(_ head: RequestHead) {
        switch head.queryValue("do") {
        case "cut-streams": self.deed = .cutStreams
        case "expire-tokens": self.deed = .expireTokens
        case "refuse":
            let status = head.queryValue("status").map { Int($0) } ?? 503
            let seconds = head.queryValue("seconds").map { Int64($0) } ?? 10
            guard let status, Self.statuses.contains(status), let seconds,
                (1...Self.secondsMax).contains(seconds)
            else { return nil }
            let operation = head.queryValue("on").map { name in
                Talaria.Operation.allCases.first { $0.name == name }
            }
            if let operation, operation == nil { return nil }
            self.deed = .refuse(status: status, operation ?? nil, for: .seconds(seconds))
        case "switch":
            guard let fault = head.queryValue("fault"), let to = head.queryValue("to"),
                ["on", "off"].contains(to)
            else { return nil }
            self.deed = .set(fault: fault, isOn: to == "on")
        default: return nil
        }
        self.device = head.queryValue("device").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether the request may control the server: it has its token, in the header or in the query.
    static func isAllowed(_ head: RequestHead, token: String) -> Bool {
        (head.headers[Self.tokenHeader] ?? head.queryValue("token")).map { Secret.areEqual($0, token) }
            ?? false
    }
}

/// A time in which requests are refused.
struct Outage: Sendable {
    var status: Int
    var until: Instant
    /// Nil for all.
    var operation: Talaria.Operation?
    /// Nil for all.
    var device: String?

    func refuses(_ head: RequestHead, _ paths: PathMap, at now: Instant) -> Bool {
        guard now < self.until else { return false }
        if let device = self.device, device != head.headers[HeaderName.deviceID] { return false }
        guard let operation = self.operation else { return true }
        return paths.place(method: head.method, path: head.path, query: head.query)?
            .operation(method: head.method) == operation
    }

    func reply(at now: Instant) -> OriginReply {
        let left = (self.until - now).wholeMilliseconds
        var reply = OriginReply.refusal(
            ProblemCode(status: self.status), "The service has failed on demand.",
            retryAfterMs: left)
        reply.status = self.status
        reply.headers.append(HeaderField(HeaderName.retryAfter, String(left / 1_000 + 1)))
        return reply
    }
}

extension Server {
    /// Carries out what was requested, and answers.
    mutating func perform(_ control: ServerControl, _ id: ExchangeID, at now: Instant) -> OriginReply {
        switch control.deed {
        case .cutStreams:
            let streams = self.context.streams(ofDeviceNamed: control.device)
            for stream in streams {
                guard let slot = self.touch(stream) else { continue }
                self.connections[slot].breakOff(stream, .reset, at: now, &self.context)
            }
            return .done("\(streams.count) streams were cut")
        case .expireTokens:
            guard !self.context.origin.hasUpstream else {
                return .refusal(.featureNotAvailable, "The tokens are those of another backend.")
            }
            let jobs = self.origin.summaries(max: .max).filter { job in
                control.device.map { $0 == self.context.name(of: job.owner.device) } ?? true
            }
            for job in jobs { self.context.events.append(.changed(job: job.id, .revokeToken)) }
            return .done("the tokens of \(jobs.count) jobs have expired")
        case .refuse(let status, let operation, let time):
            self.context.outage = Outage(
                status: status, until: now + time, operation: operation, device: control.device)
            let what = operation.map { "requests for \($0.name)" } ?? "requests"
            return .done("\(what) get \(status) for \(time.wholeMilliseconds / 1_000) s")
        case .set(let id, let isOn):
            guard let fault = self.context.faults.firstIndex(where: { $0.id == id }) else {
                return .refusal(.invalidRequest, "There is no fault of this id.")
            }
            self.context.set(fault, isOn: isOn)
            return .done("\(id) is \(isOn ? "on" : "off")")
        }
    }
}

extension OriginReply {
    /// A page that goes back to where the button was would be a redirect; scripts read the text.
    fileprivate static func done(_ text: String) -> OriginReply {
        OriginReply(
            status: 200, headers: [HeaderField("Content-Type", "text/plain; charset=utf-8")],
            body: Array((text + "\n").utf8))
    }
}
