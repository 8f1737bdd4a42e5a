import Faults
import Observations
import OriginServer
import SimBase
import Talaria
import Wire

// What the phone sends: read, carried over its link, and passed to the backend.

extension ServedConnection {
    /// A request waits for its answer with another one after it.
    var isReaderFull: Bool { self.reader.hasLeftOver || !self.early.isEmpty }

    /// When the link has sent what the phone gave it, by the faults of the exchange.
    var upImpairedUntil: Instant { self.isArmed ? self.exchange?.up.idleAt ?? .zero : .zero }

    /// Returns whether reading is paused, also while the link is behind, so that the sender notices its rate.
    func isReadingPaused(at now: Instant) -> Bool {
        self.isPeerDone || self.isReaderFull
            || self.link.upResumes(at: now, impairedUntil: self.upImpairedUntil) != nil
            || self.uploadWaiting > HTTPServerLimits.uploadWaitingMax
    }

    /// The upstream has taken a part of the body. `bytes`: what still waits for it.
    mutating func uploadWaits(_ id: ExchangeID, _ bytes: Int) {
        if self.exchange?.id == id { self.uploadWaiting = bytes }
    }

    /// The upstream gets more of the body, or of what comes behind the request.
    mutating func feedUpstream(_ id: ExchangeID, _ bytes: [UInt8], _ context: inout ServerContext) {
        guard self.exchange?.id == id else { return }
        self.uploadWaiting += bytes.count
        context.effects.append(.upstream(.feed(id, bytes)))
    }

    mutating func received(_ bytes: ArraySlice<UInt8>, at now: Instant, _ context: inout ServerContext) {
        self.up.sent += bytes.count
        self.read(bytes, at: now, &context)
    }

    /// Nil while the connection is read.
    private var lossOfReceived: LossOfBytes? {
        switch self.state {
        case .open: nil
        case .closing, .over: .peerGone
        case .cutPending, .cutting: .fault
        case .silent: .silence
        }
    }

    private mutating func read(_ bytes: ArraySlice<UInt8>, at now: Instant, _ context: inout ServerContext) {
        if let loss = self.lossOfReceived { return self.loseUp(bytes.count, to: loss, &context) }
        if self.exchange?.isRead == true {
            // One request at a time, and none after that for a stream.
            if case .streaming(let framing, _)? = self.exchange?.answer {
                guard framing == .frames else { return self.loseUp(bytes.count, to: .unread, &context) }
                return self.admitFrames(bytes, at: now, &context)
            }
            self.early.append(contentsOf: bytes)
            return
        }
        if !self.reader.isInsideRequest && !bytes.isEmpty { self.deadline = now + HTTPServerLimits.headTime }
        var events: [RequestEvent] = []
        var failure: RequestError?
        do throws(RequestError) { try self.reader.receive(bytes, into: &events) } catch { failure = error }
        // A call of the reader ends where a request ends: there is one head at most.
        for case .head(let head) in events { self.begin(head, at: now, &context) }
        for case .end in events { self.exchange?.isRead = true }
        let bodyBytes = events.reduce(0) { if case .body(let piece) = $1 { $0 + piece.count } else { $0 } }
        let hasHead = events.contains { if case .head = $0 { true } else { false } }
        if !self.cutsRequest(
            bytes.count, headBytes: hasHead ? bytes.count - bodyBytes : 0, at: now, &context)
        {
            let arrival = self.arrival(of: bytes.count, at: now, &context)
            self.up.delivered += bytes.count
            for event in events {
                self.admit(event, arrival: arrival, passesBodies: context.origin.hasUpstream)
            }
            if let failure { self.inbound.insert(.malformed(failure), at: arrival) }
        }
        self.requestBytes += bytes.count
    }

    /// Frames of a peer, on their way to the backend.
    mutating func admitFrames(_ bytes: ArraySlice<UInt8>, at now: Instant, _ context: inout ServerContext) {
        guard let id = self.exchange?.id, !bytes.isEmpty else { return }
        self.up.delivered += bytes.count
        let arrival = self.arrival(of: bytes.count, at: now, &context)
        self.inbound.insert(.frames(id, Array(bytes)), at: arrival)
    }

    /// Bytes of a body whose content does not matter.
    mutating func receivedFiller(_ count: Int, at now: Instant, _ context: inout ServerContext) {
        self.up.sent += count
        if let loss = self.lossOfReceived { return self.loseUp(count, to: loss, &context) }
        do throws(RequestError) { try self.reader.skip(count) } catch {
            self.up.delivered += count
            self.inbound.insert(.malformed(error), at: self.arrival(of: count, at: now, &context))
            return
        }
        if !self.cutsRequest(count, headBytes: 0, at: now, &context) {
            _ = self.arrival(of: count, at: now, &context)
            self.up.delivered += count
            self.exchange?.skip(count)
        }
        self.requestBytes += count
    }

    mutating func peerEnded(at now: Instant, _ context: inout ServerContext) {
        guard self.isOpen, !self.isPeerDone else { return }
        self.isPeerDone = true
        self.inbound.insert(.ended, at: self.arrival(of: 0, at: now, &context))
    }

    private mutating func admit(_ event: RequestEvent, arrival: Instant, passesBodies: Bool) {
        guard let id = self.exchange?.id else { return }
        switch event {
        case .head:
            self.inbound.insert(.head(id), at: arrival)
            guard self.isArmed, let cut = self.exchange?.requestCut, let key = self.exchange?.key,
                case .after(let time) = cut.position
            else { return }
            let order = CutOrder(fault: cut.fault, key: key, ending: cut.ending)
            self.inbound.insert(.cut(id, order), at: arrival + time)
        case .body(let piece) where passesBodies: self.inbound.insert(.body(id, Array(piece)), at: arrival)
        case .body(let piece): self.exchange?.receive(piece)
        case .end: self.inbound.insert(.end(id), at: arrival)
        }
    }

    /// Whether a fault cuts the request off within these bytes: then what is after the position never arrives.
    private mutating func cutsRequest(
        _ count: Int, headBytes: Int, at now: Instant, _ context: inout ServerContext
    ) -> Bool {
        guard self.isArmed, let exchange = self.exchange, let cut = exchange.requestCut,
            let key = exchange.key, case .byte(let index) = cut.position
        else { return false }
        let left = index - self.requestBytes
        guard left < count || (left == count && !exchange.isRead) else { return false }
        // Only the head tells whose request it is.
        let bytes = max(left, headBytes)
        self.up.delivered += bytes
        self.loseUp(count - bytes, to: .fault, &context)
        let arrival = self.arrival(of: bytes, at: now, &context)
        if headBytes > 0, bytes > headBytes { self.inbound.insert(.head(exchange.id), at: arrival) }
        let order = CutOrder(fault: cut.fault, key: key, ending: cut.ending)
        self.inbound.insert(.cut(exchange.id, order), at: arrival)
        self.exchange?.requestCut = nil
        self.exchange?.upload = .none  // What comes until the cut is made has a gap before it.
        return true
    }

    /// Returns the moment at which bytes that were read now reach the backend.
    private mutating func arrival(of count: Int, at now: Instant, _ context: inout ServerContext) -> Instant {
        guard self.isArmed else { return self.link.arrivalUp(of: count, at: now) }
        var acted: [Int] = []
        var impairments = self.exchange?.up ?? LinkImpairments()
        let arrival = self.link.arrivalUp(of: count, at: now, &impairments, acted: &acted)
        self.exchange?.up = impairments
        self.acted(acted, at: now, &context)
        return arrival
    }

    private mutating func begin(_ head: RequestHead, at now: Instant, _ context: inout ServerContext) {
        let trace = head.headers[TraceContext.headerName].flatMap(TraceContext.init(headerValue:))
        if !self.link.isKnown {
            let device = trace?.device
            self.link.identify(
                device.map { context.links.link(of: $0) } ?? context.links.otherCallers,
                random: context.nextLinkRandom(of: device))
        }
        let path = context.origin.paths.place(method: head.method, path: head.path, query: head.query)
        let (id, key) = context.nextExchange(head, at: path, by: trace, on: self.id)
        let payload = path.flatMap { $0.endpoint == .upload ? $0.journey.payload : nil }
        var exchange = ServedExchange(id: id, head: head, key: key, isOfOwnPhone: trace != nil, upload: .none)
        if !context.origin.hasUpstream, let type = head.headers["Content-Type"],
            let boundary = try? MultipartReader.boundary(contentType: type),
            let reader = try? MultipartReader(
                boundary: boundary,
                limits: payload == .file
                    ? HTTPServerLimits.libraryFile : HTTPServerLimits.multipart)
        {
            exchange.upload = .reading(reader)
        } else if !context.origin.hasUpstream, payload == .json || head.path == TokenRefresh.path {
            exchange.upload = .keeping([])
        }
        if let key {
            let transport: StreamTransport = path?.isSocket == true ? .websocket : .sse
            exchange.arm(context.openFaults(key, by: transport, at: now), roundTrip: self.link.roundTrip)
        }
        self.isArmed = !exchange.faults.isEmpty
        self.exchange = exchange
        self.deadline = now + HTTPServerLimits.bodyTime
    }

    /// The token of a request that has it in the header of older clients.
    private static func otherToken(_ head: RequestHead) -> String? {
        APIVersion(path: head.path).otherTokenHeader.flatMap { head.headers[$0] }.map { "Bearer \($0)" }
    }

    // MARK: Through the link

    mutating func deliver(_ inbound: Inbound, at now: Instant, _ context: inout ServerContext) {
        switch inbound {
        case .head(let id):
            guard self.exchange?.id == id, let head = self.exchange?.head else { return }
            self.requested(id, head, at: now, &context)
        case .body(let id, let bytes):
            guard let exchange = self.exchange, exchange.id == id, case .pending = exchange.answer else {
                return  // Answered already: nobody reads the rest.
            }
            self.feedUpstream(id, bytes, &context)
        case .frames(let id, let bytes):
            guard self.exchange?.id == id else { return }
            context.events.append(.received(id, bytes))
        case .end(let id):
            guard self.exchange?.id == id else { return }
            self.exchange?.isComplete = true
            self.deadline = .distantFuture
            self.uploadArrived(&context)
            if context.origin.hasUpstream {
                context.events.append(.forwarded(id))
                context.effects.append(.upstream(.endBody(id)))
            }
            if case .held(let reply)? = self.exchange?.answer { self.write(reply, at: now, &context) }
            self.endIfAnswered(at: now, &context)
        case .cut(let id, let order):
            guard let exchange = self.exchange, exchange.id == id, !exchange.isComplete,
                !(order.cause.map { exchange.isOvertaken($0.fault) } ?? false)
            else { return }
            self.cut(order, at: now, &context)
        case .malformed(let error):
            self.abandonExchange(&context)
            self.write(.refusal(of: error), closing: true, at: now, &context)
        case .ended:
            self.abandonExchange(&context)
            self.state = .closing(until: now + HTTPServerLimits.shutdownTime)
        }
    }

    /// The head of a request has come through the link.
    private mutating func requested(
        _ id: ExchangeID, _ head: RequestHead, at now: Instant, _ context: inout ServerContext
    ) {
        if self.answerWithoutOrigin(id, head, at: now, &context) { return }
        guard let caller = context.caller(of: id) else { return }
        if self.takeFirstRequest() {
            context.observe(.connected(connection: self.id.serial), caller, at: now)
        }
        var request = Self.originRequest(head)
        request.address = self.address
        if context.isForBrowsers { request.takeFromQuery(of: head) }
        let faults = self.exchange?.faults ?? []
        context.events.append(
            .requested(id, request, caller, connection: self.id.serial, faults: faults))
    }

    /// Answers what never reaches the origin: what is refused, what is asked of the server itself, and all in an outage.
    ///
    /// - Returns: Whether the request was one of these.
    private mutating func answerWithoutOrigin(
        _ id: ExchangeID, _ head: RequestHead, at now: Instant, _ context: inout ServerContext
    ) -> Bool {
        if let refusal = context.refusal(of: head) {
            self.reply(id, .refusal(of: refusal), at: now, &context)
            return true
        }
        if let nonce = context.nonce, head.path == Server.noncePath {
            let headers = [HeaderField("Content-Type", "text/plain")]
            self.reply(
                id, OriginReply(status: 200, headers: headers, body: nonce), at: now, &context)
            return true
        }
        if context.showsStatus,
            let question = StatusQuestion(head, isGateway: context.origin.hasUpstream)
        {
            context.statusRequests.append((id, question))
            return true
        }
        if let token = context.controlToken, head.path == ServerControl.path {
            self.controlRequested(id, head, token: token, at: now, &context)
            return true
        }
        if context.showsContract, head.path == ContractPage.path, ["GET", "HEAD"].contains(head.method) {
            self.reply(id, ContractPage.reply, at: now, &context)
            return true
        }
        if context.isForBrowsers, head.method == "OPTIONS" {
            self.reply(id, .preflight, at: now, &context)
            return true
        }
        if let outage = context.outage, outage.refuses(head, context.origin.paths, at: now) {
            self.reply(id, outage.reply(at: now), at: now, &context)
            return true
        }
        return false
    }

    private static func originRequest(_ head: RequestHead) -> OriginRequest {
        let length: Int? = if case .length(let length) = head.body { length } else { nil }
        var request = OriginRequest(
            method: head.method, path: head.path, query: head.query,
            deviceID: head.headers[HeaderName.deviceID],
            authorization: head.headers[HeaderName.authorization] ?? Self.otherToken(head),
            accept: head.headers["Accept"],
            contentType: head.headers["Content-Type"], contentLength: length,
            lastEventID: head.headers[HeaderName.lastEventID],
            authority: head.headers["Host"])
        if head.headers.list("Connection", contains: "Upgrade") {
            request.handshake = Self.handshake(head)
        }
        request.hasOlderToken =
            head.headers[HeaderName.authorization] == nil && Self.otherToken(head) != nil
        return request
    }

    private static func handshake(_ head: RequestHead) -> Result<WebSocketRequest, WebSocketRequestError> {
        do throws(WebSocketRequestError) {
            return .success(try WebSocketRequest(head))
        } catch {
            return .failure(error)
        }
    }

    private mutating func controlRequested(
        _ id: ExchangeID, _ head: RequestHead, token: String, at now: Instant,
        _ context: inout ServerContext
    ) {
        if head.method != "POST" {
            self.reply(id, .refusal(.methodNotAllowed, "Use POST."), at: now, &context)
        } else if !ServerControl.isAllowed(head, token: token) {
            let text = "The token is missing or wrong. \(StatusPage.path) shows it."
            self.reply(id, .refusal(.forbidden, text), at: now, &context)
        } else if let control = ServerControl(head) {
            context.controls.append((id, control))
        } else {
            let text =
                "do must be cut-streams, expire-tokens, refuse (with status from 400 to 599, seconds up to 3600, and on for one operation) or switch (with fault, and to=on or to=off)."
            self.reply(id, .refusal(.invalidRequest, text), at: now, &context)
        }
    }

    /// The request goes to the upstream, as far as it is there and as it comes.
    mutating func forward(
        _ id: ExchangeID, _ resume: ResumePoint, at now: Instant, _ context: inout ServerContext
    ) {
        guard let exchange = self.exchange, exchange.id == id else { return }
        context.effects.append(
            .upstream(
                .forward(
                    id,
                    ForwardedRequest(
                        head: exchange.head, resume: resume, slot: self.id.slot,
                        isComplete: exchange.isComplete, isWorthDraining: exchange.isWorthDraining))))
        self.sendContinue(at: now, &context)
    }

    /// Sends 100 Continue to a phone that waits for it.
    private mutating func sendContinue(at now: Instant, _ context: inout ServerContext) {
        guard self.exchange?.head.expectsContinue == true, self.exchange?.isComplete == false else { return }
        var bytes: [UInt8] = []
        ResponseWriter.sendContinue(into: &bytes)
        self.send(bytes, at: now, &context)
    }

    /// The backend wants the body.
    mutating func readUpload(_ id: ExchangeID, at now: Instant, _ context: inout ServerContext) {
        guard self.exchange?.id == id else { return }
        self.exchange?.bodyWait = .waiting
        self.sendContinue(at: now, &context)
        self.uploadArrived(&context)
    }

    private mutating func uploadArrived(_ context: inout ServerContext) {
        guard let id = self.exchange?.id, case .waiting? = self.exchange?.bodyWait,
            self.exchange?.isComplete == true
        else { return }
        self.exchange?.bodyWait = .idle
        switch self.exchange?.finishUpload() {
        case .success(let parts)?: context.events.append(.uploaded(id, parts))
        case .failure(let failure)?: context.events.append(.uploadFailed(id, failure.fault))
        case nil: break
        }
    }

    mutating func peerIsTooSlow(at now: Instant, _ context: inout ServerContext) {
        self.deadline = .distantFuture
        guard let exchange = self.exchange, !exchange.isComplete else {
            // Between requests, or in the middle of a head.
            if self.reader.isInsideRequest {
                self.write(
                    .refusal(.timeout, "the request head took too long"), closing: true, at: now, &context)
            } else {
                self.finishNow(&context)
            }
            return
        }
        guard case .waiting = exchange.bodyWait else {
            // What has come and waits is not the phone's to answer for.
            let refusal: OriginReply =
                self.uploadWaiting > 0
                ? .refusal(.providerTimeout, "The upstream does not accept the request.")
                : .refusal(.timeout, "the request body took too long")
            self.abandonExchange(&context)
            self.write(refusal, closing: true, at: now, &context)
            return
        }
        self.exchange?.bodyWait = .overdue
        context.events.append(.uploadFailed(exchange.id, .timedOut))
    }

    /// Makes room for the next request once both directions of this one are done.
    mutating func endIfAnswered(at now: Instant, _ context: inout ServerContext) {
        guard let id = self.exchange?.id, self.exchange?.isComplete == true, self.isOpen,
            case .answered? = self.exchange?.answer
        else { return }
        context.forget(id)
        self.exchange = nil
        self.requestBytes = 0
        self.uploadWaiting = 0
        self.isUpstreamPaused = false
        self.deadline = now + HTTPServerLimits.keepAliveTime
        guard self.isReaderFull else { return }
        var bytes: [UInt8] = []
        swap(&bytes, &self.early)
        self.read(bytes[...], at: now, &context)
    }
}
