import Observations
import SimBase
import Talaria
import Wire

// Jobs that are followed by WebSocket (Docs/contract.md section 3.4).

extension App {
    /// The opening handshake of a request; its nonce is that of this attempt.
    func handshake(of job: DurableJob, scan: ScanNumber, attempt: UInt32) -> WebSocketRequest {
        let draw = { (count: UInt64) in self.socketDraw(scan, attempt: attempt, .max - count) }
        let isInQuery = self.profile.token.stream == .query
        let token = isInQuery ? nil : job.authToken.map { ProgressSocket.subprotocolPrefix + $0 }
        // A job that was stored before the app followed it by WebSocket may have another token.
        let offered = token.map { [$0] } ?? []
        return WebSocketRequest(
            drawn: (draw(0), draw(1)), subprotocols: offered.filter(WebSocketRequest.isSubprotocol))
    }

    private func socketDraw(_ scan: ScanNumber, attempt: UInt32, _ count: UInt64) -> UInt64 {
        self.random.draw(
            .socket, UInt64(self.number.raw), UInt64(scan.raw) << 32 | UInt64(attempt), count)
    }

    /// A job that was followed before is joined again.
    func socketTarget(_ target: String, of job: DurableJob, attempt: UInt32) -> String {
        self.profile.stream.returns && attempt > job.earlierStreams + 1
            ? ProgressSocket.returning(to: target) : target
    }

    // MARK: Its answer

    /// Whether the answer opens the stream that was requested; false where it is another answer.
    ///
    /// An answer with a flaw is reported and ends the request.
    mutating func socketOpens(
        _ request: WebSocketRequest, _ head: ReplyHead, _ index: Int, at now: Instant,
        into effects: inout [PhoneEffect]
    ) -> Bool {
        let exchange = self.exchanges[index]
        do throws(WebSocketAnswerError) {
            _ = try request.subprotocol(acceptedBy: head.status, head.handshake ?? [:])
        } catch {
            self.exchanges.remove(at: index).abort(into: &effects)
            var notes = ContractNotes()
            notes.add(
                "head", expected: "the answer to the opening handshake (RFC 6455 section 4.1)",
                seen: "another one", isDecisive: true)
            self.observe(notes, of: exchange.scan, .stream, "101", at: now, into: &effects)
            self.observe(bad: .badHandshake, exchange, at: now, into: &effects)
            self.streamLost(exchange.scan, .badAnswer, after: nil, at: now, into: &effects)
            return false
        }
        return true
    }

    /// The client says that it is ready for messages.
    mutating func socketOpened(_ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]) {
        let wall = self.wallNanoseconds(at: now) / 1_000_000
        self.transmit([SocketReader.ready(wall: wall)], on: exchange, into: &effects)
    }

    // MARK: Frames

    mutating func transmit(
        _ frames: [WebSocketFrame], on exchange: Exchange, into effects: inout [PhoneEffect]
    ) {
        guard !frames.isEmpty, exchange.ending == nil else { return }
        var bytes = ByteBuilder(reserving: 128)
        for frame in frames {
            self.framesSent += 1
            var frame = frame
            frame.maskingKey = UInt32(
                truncatingIfNeeded: self.socketDraw(exchange.scan, attempt: exchange.attempt, self.framesSent)
            )
            WebSocketWriter.frame(frame, into: &bytes)
        }
        effects.append(.app(.transmit(exchange.id, bytes.bytes)))
    }

    /// The connection was closed without a terminal event, or is closed because of what came on it.
    mutating func socketEnded(
        _ ending: SocketReader.Ending, exchange index: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let exchange = self.exchanges[index]
        self.leaveToEnd(index, at: now)
        switch ending {
        case .unreadable:
            self.observe(bad: .badFrame, exchange, at: now, into: &effects)
            self.streamLost(exchange.scan, .badAnswer, after: nil, at: now, into: &effects)
        case .closed(let close):
            let cause = LossCause(closedBy: close.code.rawValue)
            self.streamLost(exchange.scan, cause, after: cause.wait, at: now, into: &effects)
        }
    }

    /// Closes a WebSocket whose job is over; nothing for an event stream.
    mutating func closeSocket(exchange index: Int, into effects: inout [PhoneEffect]) {
        guard self.exchanges[index].handshake != nil else { return }
        self.transmit([WebSocketFrame(WebSocketClose(.normal))], on: self.exchanges[index], into: &effects)
    }
}
