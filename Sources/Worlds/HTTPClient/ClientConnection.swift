package import CurlLoop
package import SimBase
import SystemIO
package import Wire

/// One HTTP/1.1 connection of a client, with one exchange at a time and without its socket (RFC 9112).
///
/// What happens to the socket is passed in. Each outcome says what its owner does next. A request is never sent a second
/// time: a connection that dies ends its exchange.
package struct ClientConnection: Sendable {
    /// What follows from an event.
    package enum Outcome: Hashable, Sendable {
        case nothing
        /// Connect a new socket to the address with this index, in place of the present one.
        case connect(address: Int)
        /// Make the TLS handshake.
        case secure
        /// Send the request.
        case send
        /// The exchange is over, and complete without a failure. The socket is kept for the next one, or closed.
        case ended(TransferFailure?, isKept: Bool)
        /// Close a socket that has no exchange.
        case close
    }

    /// How a request is answered.
    package struct Terms: Hashable, Sendable {
        /// The answer to a HEAD has no body.
        package var isHead: Bool
        /// Whether the connection is kept after the answer, if the server keeps it, too.
        package var keepsConnection: Bool
        /// Whether the request asks for another protocol, and 101 is an answer (RFC 9110 section 15.2.2).
        package var isUpgrade: Bool

        package init(isHead: Bool, keepsConnection: Bool, isUpgrade: Bool) {
            self.isHead = isHead
            self.keepsConnection = keepsConnection
            self.isUpgrade = isUpgrade
        }
    }

    private enum Stage: Hashable, Sendable {
        /// Has no socket. Leaves to `connecting`.
        case closed
        /// The address with this index is tried until then. Leaves to `securing`, `awaiting` or `closed`.
        case connecting(address: Int, until: Instant, attempt: Attempt, Terms)
        /// Connected, and TLS has until then for its handshake. Leaves to `awaiting` or `closed`.
        case securing(until: Instant, Terms)
        /// Connected, without an exchange. Leaves to `awaiting` or `closed`.
        case idle
        /// Nothing of the answer has come. `isKept`: the connection had an exchange before. Leaves to `reading` or
        /// `closed`.
        case awaiting(isKept: Bool, Terms)
        /// Leaves to `switched`, `idle` or `closed`.
        case reading(isKept: Bool, Terms)
        /// The answer was 101. What comes, until the end of the connection, is its body. Leaves to `closed`.
        case switched
    }

    /// The time and the addresses that one connect has, and whether TLS is a part of it.
    private struct Attempt: Hashable, Sendable {
        let addresses: Int
        let isSecure: Bool
        let end: Instant
    }

    private var stage: Stage
    /// Whether bytes came behind the end of the last answer.
    package private(set) var hasExcess = false
    private var reader = ResponseReader()
    /// Whether all of the request was passed to the system.
    private var isSent = true
    /// errno of a failed write. What can still be read comes first: a server may answer and close before it has read all.
    private var sendFailure: Int32?

    private init(_ stage: Stage) { self.stage = stage }

    /// Without a socket.
    package static var closed: ClientConnection { ClientConnection(.closed) }
    /// On a socket that is connected and has nothing to be read.
    package static var idle: ClientConnection { ClientConnection(.idle) }

    package var isIdle: Bool { self.stage == .idle }

    package var isClosed: Bool { self.stage == .closed }

    /// Whether the peer goes on in the protocol that the request asked for.
    package var isSwitched: Bool { self.stage == .switched }

    package var isConnecting: Bool {
        switch self.stage {
        case .connecting: true
        case .closed, .securing, .idle, .awaiting, .reading, .switched: false
        }
    }

    package var isSecuring: Bool {
        switch self.stage {
        case .securing: true
        case .closed, .connecting, .idle, .awaiting, .reading, .switched: false
        }
    }

    /// Whether the last answer was of HTTP/1.0.
    package var isHTTP10: Bool { self.reader.isHTTP10 }

    /// When `timePassed` is due; nil for no limit.
    package var deadline: Instant? {
        switch self.stage {
        case .connecting(_, let until, _, _), .securing(let until, _): until
        case .closed, .idle, .awaiting, .reading, .switched: nil
        }
    }

    // MARK: Connecting

    /// Begins an exchange on a new connection. The addresses, at least one, and the TLS handshake have so much time together:
    /// all addresses but the last get half of what is left.
    package mutating func connect(
        addresses: Int, isSecure: Bool, within time: Interval, _ terms: Terms, at now: Instant
    ) -> Outcome {
        precondition(self.stage == .closed, "a connection is made once")
        precondition(addresses > 0, "a target has an address")
        let attempt = Attempt(addresses: addresses, isSecure: isSecure, end: now + time)
        return self.attempt(0, attempt, terms, at: now)
    }

    private mutating func attempt(
        _ address: Int, _ attempt: Attempt, _ terms: Terms, at now: Instant
    ) -> Outcome {
        let left = attempt.end - now
        let isLast = address == attempt.addresses - 1
        self.stage = .connecting(
            address: address, until: isLast ? attempt.end : now + left / 2, attempt: attempt, terms)
        return .connect(address: address)
    }

    package mutating func connected() -> Outcome {
        guard case .connecting(_, _, let attempt, let terms) = self.stage else { return .nothing }
        guard attempt.isSecure else {
            self.await(terms, isKept: false)
            return .send
        }
        self.stage = .securing(until: attempt.end, terms)
        return .secure
    }

    /// The TLS handshake is complete.
    package mutating func secured() -> Outcome {
        guard case .securing(_, let terms) = self.stage else { return .nothing }
        self.await(terms, isKept: false)
        return .send
    }

    /// `code`: errno.
    package mutating func connectFailed(_ code: Int32, at now: Instant) -> Outcome {
        guard case .connecting(let address, _, let attempt, let terms) = self.stage else { return .nothing }
        if address + 1 < attempt.addresses, now < attempt.end, !SystemCode.isDescriptorShortage(code) {
            return self.attempt(address + 1, attempt, terms, at: now)
        }
        let kind: TransportFailure =
            switch code {
            case SystemCode.connectionRefused: .connectRefused
            case let code where SystemCode.isDescriptorShortage(code): .descriptorsExhausted
            default: .connectFailed
            }
        return self.fail(kind, code, SystemError.text(of: code))
    }

    /// The deadline has come.
    package mutating func timePassed(at now: Instant) -> Outcome {
        guard let deadline = self.deadline, deadline <= now else { return .nothing }
        if case .connecting(let address, _, let attempt, let terms) = self.stage,
            address + 1 < attempt.addresses, now < attempt.end
        {
            return self.attempt(address + 1, attempt, terms, at: now)
        }
        return self.fail(.connectTimedOut, 0, "no connection within the time limit")
    }

    // MARK: Sending

    /// Begins an exchange on an idle connection.
    package mutating func begin(_ terms: Terms) -> Outcome {
        precondition(self.isIdle, "one exchange at a time")
        self.await(terms, isKept: true)
        return .send
    }

    private mutating func await(_ terms: Terms, isKept: Bool) {
        self.stage = .awaiting(isKept: isKept, terms)
        self.reader.isForHead = terms.isHead
        self.reader.isForUpgrade = terms.isUpgrade
        self.isSent = false
        self.sendFailure = nil
        self.hasExcess = false
    }

    /// All of the request was passed to the system.
    package mutating func sent() { self.isSent = true }

    /// `code`: errno. What can be read decides about the exchange.
    package mutating func sendFailed(_ code: Int32) { self.sendFailure = code }

    /// The peer takes so little that more than `limit` bytes wait to be sent.
    package mutating func overflowed(limit: Int) -> Outcome {
        self.fail(.other, 0, "more than \(limit) bytes wait to be sent")
    }

    // MARK: Receiving

    /// Reads bytes of the peer; what they mean is appended to `events`.
    package mutating func received(
        _ bytes: ArraySlice<UInt8>, into events: inout [ResponseEvent]
    ) -> Outcome {
        let terms: Terms?
        switch self.stage {
        case .closed, .connecting, .securing: return .nothing
        case .idle:
            self.stage = .closed
            return .close
        case .awaiting(let isKept, let its):
            terms = its
            self.stage = .reading(isKept: isKept, its)
        case .reading(_, let its): terms = its
        case .switched: terms = nil
        }
        var error: ResponseError?
        do throws(ResponseError) {
            try self.reader.receive(bytes, into: &events)
        } catch let flaw { error = flaw }
        if events.last == .end {
            // Bytes behind an answer belong to no exchange: they end the connection only.
            self.hasExcess = error == .excess
            let isKept =
                error == nil && self.isSent && terms?.keepsConnection == true && self.reader.keepsAlive
            self.stage = isKept ? .idle : .closed
            return .ended(nil, isKept: isKept)
        }
        if let error { return self.fail(.malformed, 0, error.text) }
        if terms?.isUpgrade == true, events.contains(where: \.isSwitch) { self.stage = .switched }
        return .nothing
    }

    /// The peer has closed its end, over TLS with or without close_notify: many servers leave that out, and libcurl does not ask
    /// for it. Only a body without a length would show the difference (RFC 9112 section 9.8).
    package mutating func ended(into events: inout [ResponseEvent]) -> Outcome {
        switch self.stage {
        case .closed, .connecting: return .nothing
        case .securing: return self.broken("the server closed the connection in the TLS handshake")
        case .idle:
            self.stage = .closed
            return .close
        case .awaiting(let isKept, _):
            if let code = self.sendFailure { return self.failed(code) }
            return isKept ? self.failKept() : self.failBeforeReply()
        case .reading, .switched:
            guard self.reader.isInsideResponse else { return self.failBeforeReply() }
            do throws(ResponseError) {
                try self.reader.finish(into: &events)
            } catch {
                if let code = self.sendFailure { return self.failed(code) }
                return self.fail(.closedEarly, 0, "the connection closed inside the answer")
            }
            self.stage = .closed
            return .ended(nil, isKept: false)
        }
    }

    /// TLS has failed: nothing more can be read.
    package mutating func broken(_ message: String) -> Outcome {
        switch self.stage {
        case .closed, .connecting: return .nothing
        case .securing: return self.fail(.tls, 0, message)
        case .idle:
            self.stage = .closed
            return .close
        case .awaiting, .reading, .switched:
            if let code = self.sendFailure { return self.failed(code) }
            if case .awaiting(isKept: true, _) = self.stage { return self.failKept() }
            return self.fail(self.reader.isInsideResponse ? .closedEarly : .closedBeforeReply, 0, message)
        }
    }

    /// Reading failed. `code`: errno.
    package mutating func failed(_ code: Int32) -> Outcome {
        switch self.stage {
        case .closed, .connecting: return .nothing
        case .securing: return self.broken(SystemError.text(of: code))
        case .idle:
            self.stage = .closed
            return .close
        case .awaiting(isKept: true, _): return self.failKept()
        case .awaiting(isKept: false, _), .reading, .switched:
            let isReset = code == SystemCode.connectionReset || code == SystemCode.brokenPipe
            let kind: TransportFailure =
                isReset ? .reset : self.reader.isInsideResponse ? .closedEarly : .closedBeforeReply
            return self.fail(kind, code, SystemError.text(of: code))
        }
    }

    /// The owner closes the socket, whatever the connection does.
    package mutating func close() { self.stage = .closed }

    private mutating func failBeforeReply() -> Outcome {
        self.fail(.closedBeforeReply, 0, "the connection closed before the answer")
    }

    /// The server may have closed the connection before it saw the request. To send that again is the caller's decision
    /// (RFC 9112 section 9.3.1 allows it for idempotent methods only).
    private mutating func failKept() -> Outcome {
        self.stage = .closed
        return .ended(
            TransferFailure(
                kind: .closedBeforeReply, isResendRefused: true, code: 0, systemCode: 0,
                message: "a connection that was kept closed before the answer"), isKept: false)
    }

    private mutating func fail(_ kind: TransportFailure, _ code: Int32, _ message: String) -> Outcome {
        self.stage = .closed
        return .ended(
            TransferFailure(kind: kind, isResendRefused: false, code: 0, systemCode: code, message: message),
            isKept: false)
    }
}

extension ResponseEvent {
    fileprivate var isSwitch: Bool {
        switch self {
        case .head(let status, _): status == 101
        case .body, .end: false
        }
    }
}

extension ResponseError {
    /// For messages.
    fileprivate var text: String {
        switch self {
        case .badStatusLine: "no status line of HTTP/1"
        case .badHeader: "a header field that cannot be read"
        case .headTooLong: "a head of more than \(ResponseReader.headBytesMax) bytes"
        case .badContentLength: "a Content-Length that is not a length"
        case .unsupportedTransferCoding: "a transfer coding that was not asked for"
        case .badChunk: "a chunk that cannot be read"
        case .truncated: "the end of the connection"
        case .excess: "bytes after its end"
        case .switchedProtocols: "a switch of protocols that was not asked for"
        }
    }
}
