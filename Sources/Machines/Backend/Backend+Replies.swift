internal import Faults
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria

extension Backend {
    func reply(
        _ context: RequestContext, _ status: Int, _ headers: [HeaderField], _ body: [UInt8],
        into effects: inout [OriginEffect]
    ) {
        let all = [HeaderField(HeaderName.requestID, self.requestID(context.exchange))] + headers
        var reply = OriginReply(status: status, headers: all, body: body)
        self.envelope(&reply, context.journey.version)
        effects.append(.reply(context.exchange, reply))
        self.observeAnswer(context, status, into: &effects)
    }

    func observeAnswer(_ context: RequestContext, _ status: Int, into effects: inout [OriginEffect]) {
        effects.append(
            .observe(
                self.payload(
                    context.caller,
                    .answered(context.operation, attempt: context.caller.attempt, status: status))))
    }

    /// Reports what a request has and the contract does not define.
    func observe(
        _ notes: ContractNotes, of context: RequestContext, into effects: inout [OriginEffect]
    ) {
        guard !notes.isEmpty else { return }
        for finding in notes.findings(context.operation, ContractFinding.requestPart) {
            effects.append(.observe(self.payload(context.caller, .found(finding))))
        }
    }

    func reply(
        _ context: RequestContext, _ status: Int, json body: some JSONWritable, _ headers: [HeaderField],
        into effects: inout [OriginEffect]
    ) {
        self.reply(
            context, status, [HeaderField("Content-Type", "application/json")] + headers, JSON.encode(body),
            into: &effects)
    }

    /// A 200 in the envelope of v2.
    func reply(
        _ context: RequestContext, v2 data: (inout JSONWriter) -> Void, into effects: inout [OriginEffect]
    ) {
        self.reply(
            context, 200, [HeaderField("Content-Type", "application/json")],
            V2Envelope.success(timestamp: self.wall, data), into: &effects)
    }

    func refuse(_ context: RequestContext, _ refusal: Refusal, into effects: inout [OriginEffect]) {
        let refusal = refusal.coded(in: context.journey.version)
        var reply = self.problem(
            context.exchange, refusal, instance: context.path, self.dialect(of: context).problems)
        self.envelope(&reply, context.journey.version)
        effects.append(.reply(context.exchange, reply))
        self.observeAnswer(context, reply.status, into: &effects)
        effects.append(.observe(self.payload(context.caller, refusal.payload(context))))
    }

    /// Refuses a request that is not for an operation and cannot be observed. What was requested is not
    /// repeated in the answer: it may be anything.
    func refuseUnrouted(
        _ exchange: ExchangeID, _ code: ProblemCode, _ detail: String, _ headers: [HeaderField],
        path: String, into effects: inout [OriginEffect]
    ) {
        var refusal = Refusal(code, detail)
        refusal.headers = headers
        let version = APIVersion(path: path)
        var reply = self.problem(
            exchange, refusal, instance: nil, version.envelopesBodies ? .v2 : self.dialect.problems)
        self.envelope(&reply, version)
        effects.append(.reply(exchange, reply))
    }

    /// Gives a body in an envelope that of the configuration.
    private func envelope(_ reply: inout OriginReply, _ version: APIVersion) {
        guard version.envelopesBodies, self.configuration.v2.envelope == .plain,
            var object = JSONObjectText(reply.body)
        else { return }
        object.remove("success")
        reply.body = object.bytes
    }

    func problem(
        _ exchange: ExchangeID, _ refusal: Refusal, instance: String?, _ form: ProblemForm
    ) -> OriginReply {
        refusal.reply(
            metadata: self.metadata(exchange), instance: instance, contentType: form.contentType,
            body: form.body)
    }

    func metadata(_ exchange: ExchangeID) -> Metadata {
        Metadata(timestamp: self.timestamp, requestId: self.requestID(exchange))
    }

    var timestamp: String { self.timestamp(at: self.now) }

    func timestamp(at moment: Instant) -> String {
        Timestamp.iso8601(unixMilliseconds: self.wall(at: moment))
    }

    func requestID(_ exchange: ExchangeID) -> String { self.random.requestID(of: exchange) }

    /// An address as the contract writes links. `host`: the name by which the client addresses the server.
    func link(_ endpoint: Endpoint, _ journey: Journey, _ host: String?) -> String {
        self.link(journey.path(endpoint), host)
    }

    /// The address of the WebSocket of a job, with the scheme of WebSocket if it is absolute (RFC 6455 section 3).
    func socketLink(_ job: String, _ host: String?) -> String {
        let link = self.link(ProgressSocket.target(job), host)
        return link.hasPrefix("http") ? "ws" + link.dropFirst(4) : link
    }

    private func link(_ path: String, _ host: String?) -> String {
        switch self.configuration.urlForm {
        case .relative: path
        case .absolute(let base): base + path
        case .absoluteToHost:
            host.map { "\(self.configuration.isSecure ? "https" : "http")://\($0)\(path)" }
                ?? path
        }
    }
}
