package import SimBase

/// The kind of a piece of an event stream, as faults distinguish it.
package enum StreamPiece: Hashable, Sendable {
    /// The opening comment and `retry:`.
    case preamble
    case ping
    /// A new event of the job.
    case event
    /// An event that had been emitted before.
    case replay
}

/// The decision about one piece.
package enum CutVerdict: Hashable, Sendable {
    case pass
    /// The first `bytes` bytes of the piece are sent (perhaps none, perhaps all), then the connection is cut.
    case cut(bytes: Int)
}

/// Finds the byte of one event stream at which an armed `reset`, `close` or `silence` lands.
///
/// `HTTPServer.ServedConnection` then queues the cut behind that byte (`ServedConnection+Sending.swift`) and emits its
/// effect, which `LiveServer.Connection` or the virtual world carries out. `MessageCut` does the same for a message.
///
/// It is shown every piece that is about to be sent, complete and in order: an event with its stamp comment
/// is one piece. Positions are in payload bytes, before any chunk framing. First the trigger must be reached;
/// what counts as an event for it is a new event, neither a ping nor a replay. Then the cut is made:
///
/// - `between-events`: where the trigger was reached: right after the n-th event, after the piece that holds the n-th
///   byte, at once when a time has passed.
/// - `inside-event`: in the next event, at a drawn byte of it, after its stamp comment and before its last line end.
/// - `inside-utf8`: in the next event that holds a multi-byte sequence, inside one of them. It waits for one as long
///   as the stream lives, so a stream of plain ASCII is never cut.
/// - `inside-line-end`: in the next event, between the newline bytes that end it (of CRLF, at one of the three positions).
/// - `after-bytes: N`: N bytes after the position where the trigger was reached, whatever the bytes are.
///
/// "The next event" may be a replay: to a client that lost it, it is new.
package struct StreamCutter: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        /// The trigger is not reached. Leaves to `placing`, or to `done` when trigger and position are the same.
        case waiting
        /// The number of bytes that are still to pass; for other cuts than `after-bytes` the number means nothing. Leaves to `done`.
        case placing(bytesLeft: Int)
        /// The verdict was given, or the time trigger was answered with a cut at once.
        case done
    }

    /// The fault's index in the scenario's list.
    package let fault: Int
    package let ending: CutEnding
    /// Whether the body is brought to an end first, as a server's own end is.
    package let isClean: Bool
    private let cut: Cut
    private let trigger: ArmedTrigger
    private let draw: UInt64
    private var phase = Phase.waiting
    private var events = 0
    private var bytes = 0

    /// Creates the cutter; nil if the fault does not cut the server's data.
    package init?(_ armed: ArmedFault) {
        guard let cutting = armed.kind.cutting, cutting.side == .reply else { return nil }
        self.cut = cutting.cut
        self.ending = cutting.ending
        self.isClean = armed.kind.endsCleanly
        self.fault = armed.fault
        self.trigger = armed.trigger
        self.draw = armed.draw
        if Self.isReached(armed.trigger, events: 0, bytes: 0) { self.phase = self.placing }
    }

    /// The time after the response's head at which `triggerTimePassed` must be called; nil if it waits for no
    /// time.
    package var dueAfter: Interval? {
        guard case (.waiting, .afterTime(let time)) = (self.phase, self.trigger) else { return nil }
        return time
    }

    /// The time of the trigger has passed. Answers whether the connection is to be cut at once.
    package mutating func triggerTimePassed() -> Bool {
        guard self.dueAfter != nil else { return false }
        self.phase = self.placing
        return self.cutHere()
    }

    /// The verdict on the next piece. After a cut everything passes: there is nothing left to cut.
    package mutating func admit(_ piece: [UInt8], _ kind: StreamPiece) -> CutVerdict {
        switch self.phase {
        case .done:
            return .pass
        case .waiting:
            let before = self.bytes
            self.bytes += piece.count
            if kind == .event { self.events += 1 }
            guard Self.isReached(self.trigger, events: self.events, bytes: self.bytes) else { return .pass }
            self.phase = self.placing
            return self.reachedInside(piece, before: before)
        case .placing(let left):
            return self.offset(in: piece, kind, bytesLeft: left)
        }
    }

    /// The trigger was reached by this piece, which began after `before` bytes.
    private mutating func reachedInside(_ piece: [UInt8], before: Int) -> CutVerdict {
        guard case (.afterBytes(let ahead), .afterBytes(let mark)) = (self.cut, self.trigger) else {
            return self.cutHere() ? .cut(bytes: piece.count) : .pass
        }
        // Counted from the very byte, not from the end of its piece.
        return self.offset(in: piece, .preamble, bytesLeft: (mark - before).addingSaturating(ahead))
    }

    private mutating func offset(in piece: [UInt8], _ kind: StreamPiece, bytesLeft: Int) -> CutVerdict {
        let isEvent = kind == .event || kind == .replay
        let offset: Int?
        switch self.cut {
        case .betweenEvents: offset = 0
        case .insideEvent: offset = isEvent ? EventBytes(piece).insideEvent(self.draw) : nil
        case .insideUTF8: offset = isEvent ? EventBytes(piece).insideUTF8(self.draw) : nil
        case .insideLineEnd: offset = isEvent ? EventBytes(piece).insideLineEnd(self.draw) : nil
        case .afterBytes:
            offset = bytesLeft <= piece.count ? bytesLeft : nil
            if offset == nil { self.phase = .placing(bytesLeft: bytesLeft - piece.count) }
        }
        guard let offset else { return .pass }
        self.phase = .done
        return .cut(bytes: offset)
    }

    /// Whether the cut's position is the one just reached, between two pieces.
    private mutating func cutHere() -> Bool {
        switch self.cut {
        case .betweenEvents, .afterBytes(0):
            self.phase = .done
            return true
        case .insideEvent, .insideUTF8, .insideLineEnd, .afterBytes:
            return false
        }
    }

    private var placing: Phase {
        if case .afterBytes(let bytes) = self.cut { return .placing(bytesLeft: bytes) }
        return .placing(bytesLeft: 0)
    }

    private static func isReached(_ trigger: ArmedTrigger, events: Int, bytes: Int) -> Bool {
        switch trigger {
        case .atOnce: true
        case .afterEvents(let count): events >= count
        case .afterBytes(let count): bytes >= count
        case .afterTime: false
        }
    }
}
