import JSON
import Metrics
import RunControl
import Wire

/// Decides the response to a request.
struct DashboardRouter {
    enum Answer: Equatable {
        /// A whole answer; the connection ends with it.
        case reply([UInt8])
        /// The head of the stream, what was seen of it before, and how it is cut into pieces.
        case follow(head: [UInt8], last: String?, isChunked: Bool)
        /// The numbers of the run; `reply(metrics:as:isHead:)` makes bytes of them.
        case metrics(MetricsText.Format, isHead: Bool)
        /// The run decides; `response(to:)` makes bytes of its decision.
        case control(ControlOrder)
    }

    private let page: [UInt8]
    private let policy: String
    /// Nil if the run cannot be controlled.
    private let gate: ControlGate?

    init(page: String, policy: String, gate: ControlGate? = nil) {
        self.gate = gate
        self.page = Array(page.utf8)
        self.policy = policy
    }

    func answer(_ head: RequestHead, hasRoom: Bool) -> Answer {
        if let gate = self.gate, head.path.hasPrefix(ControlGate.path) {
            switch gate.answer(head) {
            case .order(let order): return .control(order)
            case .refusal(let status, let text):
                return .reply(Self.json(status, "error", text, isHead: head.method == "HEAD"))
            }
        }
        // A name of somebody else's that leads here (DNS rebinding) would open the page to that name's own pages.
        guard ControlGate.crossSite.allowsHost(of: head) else {
            return self.refusal(
                403, "the dashboard is only available on this machine, at 127.0.0.1, [::1] or localhost", head
            )
        }
        guard ["/", "/events", "/metrics"].contains(head.path) else {
            return self.refusal(404, "not found: only /, /events and /metrics exist", head)
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            return self.refusal(405, "only GET and HEAD are allowed", head)
        }
        if head.path == "/metrics" {
            return .metrics(
                MetricsText.Format(accept: head.headers["Accept"]), isHead: head.method == "HEAD")
        }
        guard head.path == "/events" else {
            let fields: HeaderFields = [
                "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": self.policy,
                "Referrer-Policy": "no-referrer",
            ]
            return .reply(self.reply(200, fields, self.page, isHead: head.method == "HEAD"))
        }
        return self.events(head, hasRoom: hasRoom)
    }

    private func events(_ head: RequestHead, hasRoom: Bool) -> Answer {
        // Pages of other sites cannot read the events, but could take all connections.
        guard ControlGate.crossSite.allowsPage(of: head) else {
            return self.refusal(403, "the events are only available to the page at this address", head)
        }
        guard hasRoom else {
            return self.refusal(503, "too many open dashboards", head)
        }
        var fields = Self.fields(["Content-Type": "text/event-stream"])
        fields.append("X-Accel-Buffering", "no")
        let isChunked = head.version == .http11
        guard head.method == "GET" else {
            fields.append("Connection", "close")
            return .reply(Self.head(200, fields, .none))
        }
        return .follow(
            head: Self.head(200, fields, isChunked ? .chunked : .untilClose),
            last: head.headers["Last-Event-ID"], isChunked: isChunked)
    }

    /// The response to an order.
    func response(to reply: ControlReply) -> [UInt8] {
        switch reply {
        case .done(let text): Self.json(200, "done", text)
        case .refused(let text): Self.json(409, "error", text)
        }
    }

    /// `text`: the numbers of the run.
    func reply(metrics text: String, as format: MetricsText.Format, isHead: Bool) -> [UInt8] {
        self.reply(200, ["Content-Type": format.contentType], Array(text.utf8), isHead: isHead)
    }

    private static func json(
        _ status: Int, _ key: StaticString, _ text: String, isHead: Bool = false
    ) -> [UInt8] {
        var fields = Self.fields(["Content-Type": "application/json"])
        if status == 405 { fields.append("Allow", "POST") }
        fields.append("Connection", "close")
        let body = JSONWriter.bytes { writer in writer.object { $0.member(key, text) } } + Array("\n".utf8)
        return Self.head(status, fields, .length(body.count)) + (isHead ? [] : body)
    }

    func refusal(of error: RequestError) -> [UInt8] {
        var bytes: [UInt8] = []
        ResponseWriter.reply(
            status: error.status, headers: ["Connection": "close"], body: [], into: &bytes)
        return bytes
    }

    // MARK: Answers

    private func refusal(_ status: Int, _ text: String, _ head: RequestHead) -> Answer {
        var fields: HeaderFields = ["Content-Type": "text/plain; charset=utf-8"]
        if status == 405 { fields.append("Allow", "GET, HEAD") }
        return .reply(self.reply(status, fields, Array((text + "\n").utf8), isHead: head.method == "HEAD"))
    }

    private func reply(_ status: Int, _ fields: HeaderFields, _ body: [UInt8], isHead: Bool) -> [UInt8] {
        var fields = Self.fields(fields)
        fields.append("Connection", "close")
        return Self.head(status, fields, .length(body.count)) + (isHead ? [] : body)
    }

    private static func fields(_ more: HeaderFields) -> HeaderFields {
        var fields = more
        fields.append("Cache-Control", "no-store")
        fields.append("X-Content-Type-Options", "nosniff")
        fields.append("Cross-Origin-Resource-Policy", "same-origin")
        return fields
    }

    private static func head(_ status: Int, _ fields: HeaderFields, _ framing: ReplyFraming) -> [UInt8] {
        var bytes: [UInt8] = []
        ResponseWriter.head(status: status, headers: fields, framing: framing, into: &bytes)
        return bytes
    }
}
