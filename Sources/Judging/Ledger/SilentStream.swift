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
    struct Complaint: Sendable {
        let silence: SilentStream
        let text: String
    }

    private struct Phone: Sendable {
        var isRunning = false
        var isOnScreen = true
        var hasPath = true
        /// The start and the end of the period in which it could notice a silence.
        var presentSince = Instant.zero
        var absentSince: Instant? = .zero
        /// Streams that it has called silent at this moment.
        var calledSilent: [(scan: ScanNumber, at: Instant)] = []
        /// Streams that have had their terminal event: what comes after it is only their end.
        var over: [(scan: ScanNumber, at: Instant)] = []
        /// The moment at which it last lost its data in flight: with its path, its app or its process.
        var uprootedAt: Instant?
        /// Scans of which it has sent a DELETE, that its user has canceled, or found a stream's event too long, at this moment.
        var deleted: [(scan: ScanNumber, at: Instant)] = []
        var overlong: [(scan: ScanNumber, at: Instant)] = []

        mutating func changed(at moment: Instant) {
            let isPresent = self.isRunning && self.isOnScreen && self.hasPath
            if isPresent, self.absentSince != nil {
                self.absentSince = nil
                self.presentSince = moment
            } else if !isPresent, self.absentSince == nil {
                self.absentSince = moment
            }
        }

        /// Whether something else than silence was the end of a stream.
        func mayClose(_ stream: SilentStream) -> Bool {
            if self.absentSince != nil || self.uprootedAt == stream.to { return true }
            func isNamed(_ scans: [(scan: ScanNumber, at: Instant)]) -> Bool {
                scans.contains { $0.scan == stream.scan && $0.at == stream.to }
            }
            return isNamed(self.deleted)
                || isNamed(self.overlong) && stream.bytes >= IdleTimeoutCheck.eventBytesMax
        }
    }

    /// The tolerance of a phone beyond the idle timeout.
    static let tick = Interval.milliseconds(1)
    private static let overMax = 64
    /// The maximum size of an event in the contract (Docs/contract.md section 2.3); a smaller event is never
    /// too long.
    static let eventBytesMax = 131_072

    private var phones: [Phone] = []
    /// The silences in the order of their ends. Judged at the end of their instant.
    private var pending: [SilentStream] = []
    private var judged = 0

    mutating func record(_ silence: SilentStream) { self.pending.append(silence) }

    var isPending: Bool { self.judged < self.pending.count }

    /// Returns the complaints about silences that ended before a moment.
    ///
    /// - Parameter phone: The index of a phone, and how long its streams may be silent.
    mutating func complaints(
        before moment: Instant, phone: (DeviceNumber) -> (phoneIndex: Int, limit: Interval)?
    ) -> [Complaint] {
        var complaints: [Complaint] = []
        while self.isPending, self.pending[self.judged].to < moment {
            let silence = self.pending[self.judged]
            self.judged += 1
            guard let (phoneIndex, limit) = phone(silence.device), phoneIndex < self.phones.count,
                let text = Self.judge(silence, of: self.phones[phoneIndex], limit)
            else { continue }
            complaints.append(Complaint(silence: silence, text: text))
        }
        if !self.isPending {
            self.pending.removeAll(keepingCapacity: true)
            self.judged = 0
        }
        return complaints
    }

    private static func judge(_ silence: SilentStream, of phone: Phone, _ limit: Interval) -> String? {
        // A phone may read its terminal event after the last byte. One that arrives ends a silence, and excuses none.
        let end = silence.isGivenUp ? silence.to : silence.from
        let isOver = phone.over.contains {
            $0.scan == silence.scan && silence.openedAt <= $0.at && $0.at <= end
        }
        guard !isOver else { return nil }
        if silence.isGivenUp, silence.to - silence.from < limit - Self.tick {
            let lasted = (silence.to - silence.from).wholeMilliseconds
            if phone.calledSilent.contains(where: { $0.scan == silence.scan && $0.at == silence.to }) {
                return
                    "given up as silent \(lasted) ms after its last byte, before its idle timeout of \(limit.wholeMilliseconds) ms"
            }
            guard !phone.mayClose(silence) else { return nil }
            return "closed \(lasted) ms after its last byte, without a reason that ends a stream"
        }
        let from = max(silence.from, phone.presentSince)
        let to = min(silence.to, phone.absentSince ?? silence.to)
        guard to - from > limit + Self.tick else { return nil }
        return
            "held open through \((to - from).wholeMilliseconds) ms of silence, past its idle timeout of \(limit.wholeMilliseconds) ms"
    }

    mutating func record(_ payload: PhoneObservation, scan: ScanNumber, at: Instant, phoneIndex: Int) {
        switch payload {
        case .launched:
            self.change(phoneIndex, at) {
                $0.isRunning = true
                $0.isOnScreen = true
                $0.hasPath = true  // Else it says so.
            }
        case .killed, .reinstalled:
            self.change(phoneIndex, at) {
                $0.isRunning = false
                $0.uprootedAt = at
            }
        case .suspended:
            self.change(phoneIndex, at) {
                $0.isOnScreen = false
                $0.uprootedAt = at
            }
        case .resumed: self.change(phoneIndex, at) { $0.isOnScreen = true }
        case .pathLost:
            self.change(phoneIndex, at) {
                $0.hasPath = false
                $0.uprootedAt = at
            }
        case .pathChanged: self.change(phoneIndex, at) { $0.uprootedAt = at }
        case .pathReturned: self.change(phoneIndex, at) { $0.hasPath = true }
        case .streamLost(_, _, .silence, _):
            self.change(phoneIndex, at) { Self.note(scan, at, in: &$0.calledSilent) }
        case .requestSent(.cleanup, _, _, _), .requestSent(.cancel, _, _, _), .cancelRequested:
            self.change(phoneIndex, at) { Self.note(scan, at, in: &$0.deleted) }
        case .badAnswer(.stream, _, .overlongStream), .badAnswer(.stream, _, .tooLarge):
            self.change(phoneIndex, at) { Self.note(scan, at, in: &$0.overlong) }
        case .terminalApplied:
            self.change(phoneIndex, at) { phone in
                if phone.over.count == Self.overMax { phone.over.removeFirst() }
                phone.over.append((scan, at))
            }
        default: break
        }
    }

    /// Adds a scan to those of this moment. Those of earlier ones matter no more.
    private static func note(
        _ scan: ScanNumber, _ moment: Instant, in scans: inout [(scan: ScanNumber, at: Instant)]
    ) {
        scans.removeAll { $0.at < moment }
        scans.append((scan, moment))
    }

    private mutating func change(_ phoneIndex: Int, _ at: Instant, _ change: (inout Phone) -> Void) {
        while self.phones.count <= phoneIndex { self.phones.append(Phone()) }
        change(&self.phones[phoneIndex])
        self.phones[phoneIndex].changed(at: at)
    }
}
