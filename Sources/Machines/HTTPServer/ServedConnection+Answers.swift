import Faults
import Observations
import OriginServer
import SimBase
import Talaria
import Wire

// What the backend answers, written as HTTP/1.1, and where faults cut it.

extension ServedConnection {
    mutating func reply(
        _ id: ExchangeID, _ reply: OriginReply, at now: Instant, _ context: inout ServerContext
    ) {
        guard self.exchange?.id == id, case .pending? = self.exchange?.answer else { return }
        if self.exchange?.isComplete == true {
            self.write(reply, at: now, &context)
            self.endIfAnswered(at: now, &context)
        } else if self.exchange?.isWorthDraining == true, reply.status != 413 {
            self.exchange?.answer = .held(reply)
            self.exchange?.upload = .none  // The content of the body is not needed.
        } else {
            self.write(reply, closing: true, at: now, &context)
        }
    }

    mutating func write(
        _ reply: OriginReply, closing: Bool = false, at now: Instant, _ context: inout ServerContext
    ) {
        let keepsAlive = !closing && (self.exchange?.head.keepsAlive ?? false)
        var headers = HeaderFields(reply.headers)
        self.setConnectionHeader(keepsAlive, in: &headers)
        context.answered(self.exchange?.id, reply.status)
        context.admitPages(&headers)
        var bytes: [UInt8] = []
        ResponseWriter.reply(
            status: reply.status, headers: headers, body: reply.body,
            toHead: self.exchange?.head.method == "HEAD", into: &bytes)
        self.exchange?.answer = .answered(since: now)
        self.answered = self.exchange?.id
        self.armTimedCuts(at: now)
        if self.sendOfReply(bytes, at: now, &context) { return }
        if !keepsAlive { self.finish(at: now, &context) }
    }

    /// Sets the connection header if the client would not assume it: HTTP/1.1 keeps connections, HTTP/1.0
    /// does not (RFC 9112 section 9.3).
    private func setConnectionHeader(_ keepsAlive: Bool, in headers: inout HeaderFields) {
        if !keepsAlive {
            headers.append("Connection", "close")
        } else if self.exchange?.head.version == .http10 {
            headers.append("Connection", "keep-alive")
        }
    }

    /// Cuts of an answer that wait for a time, from its head on.
    private mutating func armTimedCuts(at now: Instant) {
        guard self.isArmed, let exchange = self.exchange, let key = exchange.key else { return }
        for cut in exchange.replyCuts where !exchange.isOvertaken(cut.fault) {
            guard case .after(let time) = cut.position else { continue }
            let order = CutOrder(fault: cut.fault, key: key, ending: cut.ending)
            self.outbox.insert(.cutRest(exchange.id, order), at: now + time)
        }
    }

    /// Sends more of an answer. What is after the position at which a fault cuts it is not sent; then the answer is true.
    private mutating func sendOfReply(
        _ bytes: [UInt8], at now: Instant, _ context: inout ServerContext
    ) -> Bool {
        let before = self.exchange?.replyBytes ?? 0
        self.exchange?.replyBytes += bytes.count
        if self.isArmed, let exchange = self.exchange, let key = exchange.key {
            for cut in exchange.replyCuts where !exchange.isOvertaken(cut.fault) {
                guard case .byte(let position) = cut.position, position < before + bytes.count else {
                    continue
                }
                if position > before { self.send(Array(bytes.prefix(position - before)), at: now, &context) }
                self.cut(CutOrder(fault: cut.fault, key: key, ending: cut.ending), at: now, &context)
                return true
            }
        }
        self.send(bytes, at: now, &context)
        return false
    }

    // MARK: Answers that pass

    mutating func passHead(
        _ id: ExchangeID, _ head: UpstreamHead, at now: Instant, _ context: inout ServerContext
    ) {
        guard let exchange = self.exchange, exchange.id == id, case .pending = exchange.answer else { return }
        let hasNoBody = exchange.head.method == "HEAD" || head.status == 204 || head.status == 304
        let isUntilClose = !hasNoBody && head.length == nil && exchange.head.version == .http10
        let keepsAlive = exchange.head.keepsAlive && exchange.isComplete && !isUntilClose
        var headers = HeaderFields(head.headers)
        if !isUntilClose { self.setConnectionHeader(keepsAlive, in: &headers) }
        context.answered(id, head.status)
        context.admitPages(&headers)
        let framing: ReplyFraming
        if hasNoBody {
            framing = .none
            if let length = head.length, head.status != 204 {
                headers.append("Content-Length", String(length))
            }
        } else if let length = head.length {
            framing = .length(length)
        } else {
            framing = isUntilClose ? .untilClose : .chunked
        }
        var bytes: [UInt8] = []
        ResponseWriter.head(status: head.status, headers: headers, framing: framing, into: &bytes)
        self.exchange?.answer = .passing(
            isChunked: framing == .chunked, keepsAlive: keepsAlive, since: now)
        self.answered = id
        self.armTimedCuts(at: now)
        _ = self.sendOfReply(bytes, at: now, &context)
    }

    mutating func passBody(
        _ id: ExchangeID, _ piece: [UInt8], at now: Instant, _ context: inout ServerContext
    ) {
        guard let exchange = self.exchange, exchange.id == id, self.isOpen, !piece.isEmpty,
            case .passing(let isChunked, _, _) = exchange.answer, exchange.head.method != "HEAD"
        else { return }
        var bytes = piece
        if isChunked {
            bytes = []
            ResponseWriter.chunk(piece, into: &bytes)
        }
        _ = self.sendOfReply(bytes, at: now, &context)
    }

    mutating func passEnd(_ id: ExchangeID, at now: Instant, _ context: inout ServerContext) {
        guard let exchange = self.exchange, exchange.id == id, self.isOpen,
            case .passing(let isChunked, let keepsAlive, let since) = exchange.answer
        else { return }
        if isChunked {
            var bytes: [UInt8] = []
            ResponseWriter.lastChunk(into: &bytes)
            if self.sendOfReply(bytes, at: now, &context) { return }
        }
        self.exchange?.answer = .answered(since: since)
        if !keepsAlive { self.finish(at: now, &context) }
        self.endIfAnswered(at: now, &context)
    }

    /// The answer that was under way will not be complete.
    mutating func breakOff(
        _ id: ExchangeID, _ ending: CutEnding, at now: Instant, _ context: inout ServerContext
    ) {
        guard let exchange = self.exchange, exchange.id == id, self.isOpen else { return }
        self.cut(CutOrder(upstreamEndedBy: ending), at: now, &context)
    }

    /// Holds up the upstream while too much of what it sent is still on its way to the phone.
    mutating func checkBackPressure(_ context: inout ServerContext) {
        guard context.origin.hasUpstream, let exchange = self.exchange else { return }
        let waiting = self.isOpen ? self.outbox.bytes + self.backlog : 0
        if !self.isUpstreamPaused, waiting > HTTPServerLimits.downloadWaitingMax {
            self.isUpstreamPaused = true
            context.effects.append(.upstream(.setPaused(exchange.id, true)))
        } else if self.isUpstreamPaused, waiting <= HTTPServerLimits.downloadWaitingMax / 4 {
            self.isUpstreamPaused = false
            context.effects.append(.upstream(.setPaused(exchange.id, false)))
        }
    }

    // MARK: Streams

    mutating func openStream(
        _ id: ExchangeID, headers lines: [HeaderField], lineEnd: SSELineEnd, at now: Instant,
        _ context: inout ServerContext
    ) {
        guard self.exchange?.id == id, case .pending? = self.exchange?.answer,
            let version = self.exchange?.head.version
        else { return }
        var headers = HeaderFields(lines)
        context.answered(id, 200)
        context.admitPages(&headers)
        var bytes: [UInt8] = []
        let framing: ServedExchange.StreamFraming
        switch version {
        case .http11:
            framing = .chunks(lineEnd)
            headers.append("Connection", "close")
            ResponseWriter.head(status: 200, headers: headers, framing: .chunked, into: &bytes)
        case .http10:
            framing = .untilClose(lineEnd)
            ResponseWriter.head(status: 200, headers: headers, framing: .untilClose, into: &bytes)
        }
        self.beginStream(id, framing, at: now)
        self.loseEarly(&context)
        self.send(bytes, at: now, &context)
    }

    private mutating func beginStream(
        _ id: ExchangeID, _ framing: ServedExchange.StreamFraming, at now: Instant
    ) {
        self.exchange?.answer = .streaming(framing, since: now)
        self.answered = id
        self.deadline = .distantFuture
    }

    /// Answers a handshake of WebSocket. What the peer has sent behind its request are frames.
    mutating func openSocket(
        _ id: ExchangeID, headers: [HeaderField], at now: Instant, _ context: inout ServerContext
    ) {
        guard self.exchange?.id == id, case .pending? = self.exchange?.answer else { return }
        context.answered(id, 101)
        var bytes: [UInt8] = []
        ResponseWriter.head(status: 101, headers: HeaderFields(headers), framing: .none, into: &bytes)
        self.beginStream(id, .frames, at: now)
        self.send(bytes, at: now, &context)
        self.admitFrames(self.reader.takeLeftOver()[...], at: now, &context)
        var early: [UInt8] = []
        swap(&early, &self.early)
        self.admitFrames(early[...], at: now, &context)
    }

    /// One piece of an event stream; events get their stamp here, where they are passed to the link.
    mutating func stream(
        _ id: ExchangeID, _ bytes: [UInt8], _ mark: StreamPieceKind, at now: Instant,
        _ context: inout ServerContext
    ) {
        guard self.exchange?.id == id, self.isOpen, case .streaming(let framing, _)? = self.exchange?.answer
        else { return }
        var head: [UInt8] = []
        let kind: StreamPiece
        switch mark {
        case .preamble: kind = .preamble
        case .ping, .extra: kind = .ping
        case .event(_, _, let replayed, let emitted):
            kind = replayed ? .replay : .event
            if context.origin.stampsEvents, self.exchange?.isOfOwnPhone == true {
                let stamp = context.clockZero + (replayed ? emitted : now).nanoseconds
                head = framing.stamp(stamp, isReplayed: replayed)
            }
        }
        if !self.isArmed, framing == .chunks(.lf) {
            return self.send(ResponseWriter.chunk(head, bytes), at: now, &context)
        }
        let piece = framing.ending(head + bytes)
        for index in 0..<(self.exchange?.cutters.count ?? 0) {
            guard case .cut(let count)? = self.exchange?.cutters[index].admit(piece, kind),
                let key = self.exchange?.key, let cutter = self.exchange?.cutters[index]
            else { continue }
            self.notePassed(piece, kind, cutAfter: count, by: cutter.fault, key, at: now, &context)
            if cutter.isClean {
                if count > 0 { self.sendChunk(Array(piece.prefix(count)), cutAfter: nil, at: now, &context) }
                self.sendLastChunk(at: now, &context)
            } else {
                self.sendChunk(piece, cutAfter: count, at: now, &context)
            }
            self.cut(
                CutOrder(fault: cutter.fault, key: key, ending: cutter.ending), at: now, &context)
            return
        }
        if kind == .event || kind == .replay { self.exchange?.eventsPassed += 1 }
        self.sendChunk(piece, cutAfter: nil, at: now, &context)
    }

    /// Returns how many events a reader may have received completely. If an event is cut in its last line
    /// end, which has up to four bytes, the reader may see its end. Phones distinguish the events of the
    /// simulated backend by the stamps.
    private func notePassed(
        _ piece: [UInt8], _ kind: StreamPiece, cutAfter count: Int, by fault: Int, _ key: ExchangeKey,
        at now: Instant, _ context: inout ServerContext
    ) {
        guard !context.origin.stampsEvents, let passed = self.exchange?.eventsPassed else { return }
        let isWhole = (kind == .event || kind == .replay) && count + 3 >= piece.count
        context.faultPassed(passed + (isWhole ? 1 : 0), by: fault, key, at: now)
    }

    /// A chunk's frame states the whole length even where only a part of it is sent: the peer then sees exactly so
    /// many bytes of the body, and a connection that died inside a chunk. Of a piece that is sent whole before a cut
    /// even the end of its frame is left out, so that the body is not complete in any reading.
    private mutating func sendChunk(
        _ piece: [UInt8], cutAfter count: Int?, at now: Instant, _ context: inout ServerContext
    ) {
        guard self.exchange?.answer.isChunkedStream == true else {
            self.send(count.map { Array(piece.prefix($0)) } ?? piece, at: now, &context)
            return
        }
        var framed: [UInt8] = []
        framed.reserveCapacity(piece.count + 8)
        ResponseWriter.chunk(piece, into: &framed)
        if let count {
            let frame = framed.count - piece.count - 2  // The size line; the data ends with CRLF.
            framed.removeLast(framed.count - frame - count)
        }
        self.send(framed, at: now, &context)
    }

    mutating func endStream(_ id: ExchangeID, at now: Instant, _ context: inout ServerContext) {
        guard self.exchange?.id == id, case .streaming(_, let since)? = self.exchange?.answer else { return }
        self.sendLastChunk(at: now, &context)
        self.exchange?.answer = .answered(since: since)
        context.forget(id)
        self.finish(at: now, &context)
    }

    private mutating func sendLastChunk(at now: Instant, _ context: inout ServerContext) {
        guard self.exchange?.answer.isChunkedStream == true else { return }
        var bytes: [UInt8] = []
        ResponseWriter.lastChunk(into: &bytes)
        self.send(bytes, at: now, &context)
    }

    /// The time of the next cut with a time trigger.
    var nextCutterDue: Instant? {
        guard let since = self.exchange?.answer.since, self.exchange?.cutters.isEmpty == false else {
            return nil
        }
        return self.exchange?.cutters.compactMap { $0.dueAfter.map { since + $0 } }.min()
    }

    mutating func checkCutters(at now: Instant, _ context: inout ServerContext) {
        guard self.isOpen, let since = self.exchange?.answer.since else { return }
        for index in (self.exchange?.cutters ?? []).indices {
            guard let due = self.exchange?.cutters[index].dueAfter, since + due <= now else { continue }
            if self.exchange?.cutters[index].triggerTimePassed() == true, let key = self.exchange?.key,
                let cutter = self.exchange?.cutters[index]
            {
                if cutter.isClean { self.sendLastChunk(at: now, &context) }
                self.cut(
                    CutOrder(fault: cutter.fault, key: key, ending: cutter.ending), at: now, &context)
                return
            }
        }
    }

    /// A fault of the server has acted on this exchange.
    mutating func serverFaultFired(_ id: ExchangeID, _ fault: Int) {
        guard let exchange = self.exchange, exchange.id == id else { return }
        self.exchange?.endedBy = min(exchange.endedBy ?? fault, fault)
    }
}
