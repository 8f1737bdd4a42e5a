package import SimBase

/// One side of an open connection: reads frames, answers pings, and closes (RFC 6455 sections 5.5 and 7).
package struct WebSocketConnection: Sendable {
    package enum Effect: Hashable, Sendable {
        /// The peer sent this.
        case received(WebSocketEvent)
        /// The peer sent what cannot be read. Nothing is read after it.
        case failed(WebSocketError)
        /// Write this frame; a client masks it first.
        case send(WebSocketFrame)
        /// Close the socket. `ended` follows.
        case closeSocket
        /// The connection is over: with the peer's close frame, with `noStatus` if that had no code, or with
        /// `abnormal` if no such frame came (RFC 6455 section 7.1.5).
        case ended(WebSocketClose)
    }

    private enum Stage: Sendable {
        /// Messages go in both directions. Leaves to any of the others.
        case open
        /// Our close frame was the first; that of the peer is awaited. Leaves to `closed` or `ended`.
        case closing(until: Instant)
        /// Only of a client, which awaits that the server closes the socket (RFC 6455 section 7.1.1). Leaves
        /// to `ended`.
        case closed(WebSocketClose, until: Instant)
        /// The socket is closed.
        case ended
    }

    private let role: WebSocketRole
    private let patience: Interval
    private var reader: WebSocketReader
    private var stage = Stage.open

    /// - Parameter patience: How long a close frame of the peer is awaited after ours, and by a client then
    ///   the end of the socket.
    package init(
        role: WebSocketRole, limits: WebSocketReader.Limits, acceptsBinary: Bool, patience: Interval
    ) {
        self.role = role
        self.patience = patience
        self.reader = WebSocketReader(role: role, limits: limits, acceptsBinary: acceptsBinary)
    }

    // MARK: Events

    /// Bytes came.
    package mutating func received(
        _ bytes: ArraySlice<UInt8>, at now: Instant, into effects: inout [Effect]
    ) {
        switch self.stage {
        case .open, .closing: break
        case .closed, .ended: return
        }
        var events: [WebSocketEvent] = []
        var failure: WebSocketError?
        do throws(WebSocketError) { try self.reader.receive(bytes, into: &events) } catch { failure = error }
        for event in events {
            effects.append(.received(event))
            switch event {
            case .ping(let payload): effects.append(.send(WebSocketFrame(.pong, payload)))
            case .close(let close): self.finish(close, answer: close.code, at: now, into: &effects)
            case .text, .binary, .pong: break
            }
        }
        guard let failure else { return }
        effects.append(.failed(failure))
        self.finish(WebSocketClose(.abnormal), answer: failure.closeCode, at: now, into: &effects)
    }

    /// The owner wants to close. Ignored if either side has closed.
    package mutating func closed(
        by close: WebSocketClose, at now: Instant, into effects: inout [Effect]
    ) {
        guard self.isOpen else { return }
        effects.append(.send(WebSocketFrame(close)))
        self.stage = .closing(until: now + self.patience)
    }

    /// The socket ended, or failed.
    package mutating func socketEnded(into effects: inout [Effect]) {
        switch self.stage {
        case .open, .closing: self.end(WebSocketClose(.abnormal), into: &effects)
        case .closed(let close, _): self.end(close, into: &effects)
        case .ended: break
        }
    }

    /// It is later. Does nothing before `deadline`.
    package mutating func timePassed(at now: Instant, into effects: inout [Effect]) {
        guard let deadline = self.deadline, now >= deadline else { return }
        self.socketEnded(into: &effects)
    }

    // MARK: Queries

    /// Whether messages may be sent.
    package var isOpen: Bool {
        switch self.stage {
        case .open: true
        case .closing, .closed, .ended: false
        }
    }

    /// When to call `timePassed`; nil while nothing is awaited.
    package var deadline: Instant? {
        switch self.stage {
        case .closing(let until), .closed(_, let until): until
        case .open, .ended: nil
        }
    }

    // MARK: Closing

    /// Nothing more is read. A close frame goes out unless one has. A server closes the socket at once.
    private mutating func finish(
        _ close: WebSocketClose, answer: WebSocketCloseCode, at now: Instant, into effects: inout [Effect]
    ) {
        if self.isOpen { effects.append(.send(WebSocketFrame(WebSocketClose(answer)))) }
        switch self.role {
        case .client: self.stage = .closed(close, until: now + self.patience)
        case .server: self.end(close, into: &effects)
        }
    }

    private mutating func end(_ close: WebSocketClose, into effects: inout [Effect]) {
        self.stage = .ended
        effects.append(.closeSocket)
        effects.append(.ended(close))
    }
}
