internal import Faults
internal import SimBase
internal import Talaria

/// One request on its way to its answer.
struct Asking: Sendable {
    let exchange: ExchangeID
    let operation: Operation
    let caller: Caller
    /// Of a known endpoint, so it is short and clean.
    let path: String
    let faults: [ArmedFault]
}

/// Why a request is not served.
struct Refusal: Error, Hashable {
    /// What a fault says in place of what the contract has for the code.
    struct Override: Hashable {
        var status: Int
        var code: String
        var retryable: Bool
        var retryAfterPlace: RetryAfterPlace
    }

    var code: ProblemCode
    var detail: String
    var retryAfter: Interval?
    var headers: [HeaderLine] = []
    var override: Override?

    init(_ code: ProblemCode, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    var status: Int { self.override?.status ?? self.code.status }
    /// Where `retryAfter` is told.
    var retryAfterPlace: RetryAfterPlace { self.override?.retryAfterPlace ?? .both }
}

extension Backend {
    func reply(
        _ asking: Asking, _ status: Int, _ headers: [HeaderLine], _ body: [UInt8],
        into effects: inout [BackendEffect]
    ) {
        let all = [HeaderLine(HeaderName.requestID, self.requestID(asking.exchange))] + headers
        effects.append(.reply(asking.exchange, BackendReply(status: status, headers: all, body: body)))
        self.observeAnswer(asking, status, into: &effects)
    }

    func observeAnswer(_ asking: Asking, _ status: Int, into effects: inout [BackendEffect]) {
        effects.append(
            .observe(
                self.sighting(
                    asking.caller,
                    .answered(asking.operation, attempt: asking.caller.attempt, status: status))))
    }

    func reply(
        _ asking: Asking, _ status: Int, json body: some Encodable, _ headers: [HeaderLine],
        into effects: inout [BackendEffect]
    ) {
        self.reply(
            asking, status, [HeaderLine("Content-Type", "application/json")] + headers, JSON.encode(body),
            into: &effects)
    }

    func reply(
        _ asking: Asking, _ status: Int, json body: some PlainEncodable, _ headers: [HeaderLine],
        into effects: inout [BackendEffect]
    ) {
        self.reply(
            asking, status, [HeaderLine("Content-Type", "application/json")] + headers, JSON.encode(body),
            into: &effects)
    }

    func refuse(_ asking: Asking, _ refusal: Refusal, into effects: inout [BackendEffect]) {
        let reply = self.problem(asking.exchange, refusal, instance: asking.path)
        effects.append(.reply(asking.exchange, reply))
        self.observeAnswer(asking, reply.status, into: &effects)
        effects.append(.observe(self.sighting(asking.caller, refusal.sighting(asking))))
    }

    /// Refuses a request that is for no operation, of which no observation can speak. What was asked for is not
    /// repeated in the answer: it may be anything.
    func refuseUnrouted(
        _ exchange: ExchangeID, _ code: ProblemCode, _ detail: String, _ headers: [HeaderLine],
        into effects: inout [BackendEffect]
    ) {
        var refusal = Refusal(code, detail)
        refusal.headers = headers
        effects.append(.reply(exchange, self.problem(exchange, refusal, instance: nil)))
    }

    private func problem(_ exchange: ExchangeID, _ refusal: Refusal, instance: String?) -> BackendReply {
        refusal.reply(metadata: self.metadata(exchange), instance: instance)
    }

    func metadata(_ exchange: ExchangeID) -> Metadata {
        Metadata(timestamp: self.timestamp, requestId: self.requestID(exchange))
    }

    var timestamp: String { self.timestamp(at: self.now) }

    func timestamp(at moment: Instant) -> String {
        Timestamp.iso8601(unixMilliseconds: self.wall(at: moment))
    }

    /// Unique within the run; no job draws with this count.
    func requestID(_ exchange: ExchangeID) -> String {
        "req-" + Hexadecimal.text(self.random.draw(.jobIdentity, exchange.raw, .max), digits: 16)
    }

    /// A path as the contract writes links.
    func link(_ endpoint: Endpoint) -> String {
        switch self.configuration.urlForm {
        case .relative: endpoint.path
        case .absolute(let base): base + endpoint.path
        }
    }
}

extension Refusal {
    /// What the problem document says, as it is observed.
    func sighting(_ asking: Asking) -> BackendSighting {
        .problem(
            asking.operation, attempt: asking.caller.attempt, status: self.status,
            job: Endpoint(path: asking.path)?.jobID,
            retryable: self.override?.retryable ?? self.code.retryable,
            retryAfter: self.retryAfterPlace == .neither ? nil : self.retryAfter)
    }

    /// The problem document, in whoever's place.
    func reply(metadata: Metadata, instance: String?) -> BackendReply {
        let place = self.retryAfterPlace
        let inBody = place == .body || place == .both ? self.retryAfter : nil
        let inHeader = place == .header || place == .both ? self.retryAfter : nil
        var problem = Problem(
            self.code, detail: self.detail, instance: instance,
            retryAfterMs: inBody.map { $0.rounded(upTo: .milliseconds(1)) }, metadata: metadata)
        if let override = self.override {
            problem.replace(status: override.status, code: override.code)
            problem.retryable = override.retryable
        }
        var headers = [
            HeaderLine(HeaderName.requestID, metadata.requestId),
            HeaderLine("Content-Type", Problem.contentType),
        ]
        if problem.status == 401 {
            // RFC 9110 section 15.5.2: a 401 names a scheme.
            headers.append(HeaderLine("WWW-Authenticate", "Bearer"))
        }
        if let inHeader {
            headers.append(HeaderLine(HeaderName.retryAfter, String(inHeader.rounded(upTo: .seconds(1)))))
        }
        return BackendReply(
            status: problem.status, headers: headers + self.headers, body: JSON.encode(problem))
    }
}

extension Interval {
    /// How many whole units cover it; zero when it is negative.
    fileprivate func rounded(upTo unit: Interval) -> Int64 {
        max(0, (self.nanoseconds + unit.nanoseconds - 1) / unit.nanoseconds)
    }
}
