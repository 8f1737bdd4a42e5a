import Observations
package import SimBase
import Talaria

/// A stretch in which no byte of an open stream reached its phone, as the link saw it: from the last byte to the next, or
/// to the moment at which the stream was over for the phone.
package struct SilentStream: Hashable, Sendable {
    package var device: DeviceNumber
    package var scan: ScanNumber
    package var from: Instant
    package var to: Instant
    /// The phone closed the stream.
    package var isGivenUp: Bool
    /// The moment at which the head of the stream arrived.
    package var openedAt: Instant
    /// The number of bytes after the head.
    package var bytes: Int

    package init(
        device: DeviceNumber, scan: ScanNumber, from: Instant, to: Instant, isGivenUp: Bool,
        openedAt: Instant = .zero, bytes: Int = 0
    ) {
        self.device = device
        self.scan = scan
        self.from = from
        self.to = to
        self.isGivenUp = isGivenUp
        self.openedAt = openedAt
        self.bytes = bytes
    }
}

/// stream.dead-detected: compares the link's view of each stream with the idle timeout of the contract or of
/// the scenario, whatever the phone reports.
///
/// A phone in the background or without a path cannot notice anything: that time does not count.
///
/// A stream that its phone closes sooner needs another reason at that moment: its terminal event, its DELETE, a cancel,
/// a path that is lost or changed, an app in the background, or more bytes than an event may have. The
/// content of an event is no reason.
struct IdleTimeoutCheck: Sendable {
    private typealias Moment = (scan: ScanNumber, at: Instant)

    /// The tolerance of a phone beyond the idle timeout.
    static let tick = Interval.milliseconds(1)
    private static let overMax = 64
    /// The maximum size of an event in the contract (Docs/contract.md section 2.3); a smaller event is never
    /// too long.
    private static let eventBytesMax = 131_072

    /// Streams that it has called silent at this moment.
    private var calledSilent: [Moment] = []
    /// Streams that have had their terminal event, and WebSockets that were closed: what comes after it is only their end.
    private var over: [Moment] = []
    /// The last scans whose jobs are followed by WebSocket.
    private var sockets: [ScanNumber] = []
    /// Scans of which it has sent a DELETE, that its user has canceled, or found a stream's event too long, at this moment.
    private var deleted: [Moment] = []
    private var overlong: [Moment] = []

    /// Returns what is wrong with a silence; nil if nothing is. `limit`: how long a stream of the phone may be silent.
    func judge(_ silence: SilentStream, life: PhoneLife, limit: Interval) -> String? {
        // A phone may read its terminal event after the last byte. One that arrives ends a silence, and excuses none.
        let end = silence.isGivenUp ? silence.to : silence.from
        let isOver = self.over.contains {
            $0.scan == silence.scan && silence.openedAt <= $0.at && $0.at <= end
        }
        guard !isOver else { return nil }
        if silence.isGivenUp, silence.to - silence.from < limit - Self.tick {
            let lasted = (silence.to - silence.from).wholeMilliseconds
            if Self.isNamed(silence, in: self.calledSilent) {
                return
                    "given up as silent \(lasted) ms after its last byte, before its idle timeout of \(limit.wholeMilliseconds) ms"
            }
            guard !self.mayClose(silence, life) else { return nil }
            return "closed \(lasted) ms after its last byte, without a reason that ends a stream"
        }
        let from = max(silence.from, life.presentSince)
        let to = min(silence.to, life.absentSince ?? silence.to)
        guard to - from > limit + Self.tick else { return nil }
        return
            "held open through \((to - from).wholeMilliseconds) ms of silence, past its idle timeout of \(limit.wholeMilliseconds) ms"
    }

    /// Whether something else than silence was the end of a stream.
    private func mayClose(_ stream: SilentStream, _ life: PhoneLife) -> Bool {
        life.absentSince != nil || life.interruptedAt == stream.to || Self.isNamed(stream, in: self.deleted)
            || Self.isNamed(stream, in: self.overlong) && stream.bytes >= Self.eventBytesMax
    }

    private static func isNamed(_ stream: SilentStream, in moments: [Moment]) -> Bool {
        moments.contains { $0.scan == stream.scan && $0.at == stream.to }
    }

    mutating func record(_ payload: PhoneObservation, _ now: PhoneMoment) {
        let (scan, at) = (now.scan, now.at)
        switch payload {
        case .streamLost(_, _, .silence, _): Self.note(scan, at, in: &self.calledSilent)
        case .requestSent(.cleanup, _, _, _), .requestSent(.cancel, _, _, _), .cancelRequested:
            Self.note(scan, at, in: &self.deleted)
        case .badAnswer(.stream, _, .overlongStream), .badAnswer(.stream, _, .tooLarge):
            Self.note(scan, at, in: &self.overlong)
        case .terminalApplied: self.over.append((scan, at), max: Self.overMax)
        case .jobFollowed(_, .websocket): self.sockets.append(scan, max: Self.overMax)
        case .streamLost(_, _, let cause, _)
        where cause.isClose || cause == .endWithoutTerminal || cause == .badAnswer:
            if self.sockets.contains(scan) { self.over.append((scan, at), max: Self.overMax) }
        default: break
        }
    }

    /// Adds a scan to those of this moment. Those of earlier ones matter no more.
    private static func note(_ scan: ScanNumber, _ moment: Instant, in moments: inout [Moment]) {
        moments.removeAll { $0.at < moment }
        moments.append((scan, moment))
    }
}
