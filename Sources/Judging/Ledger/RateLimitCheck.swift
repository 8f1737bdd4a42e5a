import Observations
import SimBase
import Talaria

/// retry.budget: checks whether a limited phone uploads again as soon as the wait that the server requested
/// has ended.
///
/// `retryAfterMs` of the body states the wait in milliseconds and takes precedence over the header, which is
/// rounded up to whole seconds (Docs/design.md section 6). A contract phone adds nothing: its queue opens at
/// that time, for every waiting scan. The first upload after it is judged, counted from the time at which
/// nothing else holds the phone back: it has a slot, and the photos and the records of the scans that come
/// first. If anything else happens to the phone in between, it is not judged; neither is the upload of a scan that has
/// waited for something else, while those that were turned down have no photo yet.
struct RateLimitCheck: Sendable {
    /// The tolerance for a write, and for rounding to milliseconds.
    private static let slack = Interval.milliseconds(10)
    private static let toldMax = 64
    private static let waitMax = Interval.hours(24)

    let slotsMax: Int
    /// The waits that responses in flight request. `isRounded`: in whole seconds, since the body does not
    /// contain the wait.
    private var told: [(scan: ScanNumber, attempt: UInt32, wait: Interval, isRounded: Bool)] = []
    /// Waits that a fault is about to round: it fires before the answer.
    private var rounded: [(scan: ScanNumber, attempt: UInt32)] = []
    /// The attempt of each upload that was answered with 429, until its phone has read that.
    private var limited: [(scan: ScanNumber, attempt: UInt32)] = []
    /// The last 429 that the phone has read, with its own word of the wait.
    private var last: (scan: ScanNumber, attempt: UInt32, said: Interval, at: Instant)?
    /// The youngest scan that was turned down and has its photo, while the queue is shut.
    private var youngest: ScanNumber?
    /// Scans that wait for something other than their turn, such as a backoff.
    private var held: [ScanNumber] = []
    /// The user has canceled a scan that may be the one that was to come first.
    private var isCanceled = false
    /// The time at which it opens and nothing else holds the phone back.
    private var dueAt = Instant.zero

    init(slotsMax: Int) { self.slotsMax = slotsMax }

    mutating func receivedRetryAfter(_ wait: Interval, scan: ScanNumber, attempt: UInt32) {
        self.told.removeAll { $0.scan == scan }
        let isRounded = self.rounded.contains { $0 == (scan, attempt) }
        self.rounded.removeAll { $0.scan == scan }
        self.told.append((scan, attempt, wait, isRounded), max: Self.toldMax)
    }

    /// A fault leaves the body of the answer without its wait.
    mutating func rounded(_ operation: Operation, scan: ScanNumber, attempt: UInt32) {
        guard operation == .upload else { return }
        if let index = self.told.lastIndex(where: { $0.scan == scan && $0.attempt == attempt }) {
            self.told[index].isRounded = true
        } else {
            self.rounded.removeAll { $0.scan == scan }
            self.rounded.append((scan, attempt), max: Self.toldMax)
        }
    }

    /// Records a cut of a response: its wait may not have arrived, although its header may have.
    mutating func cut(_ operation: Operation, scan: ScanNumber, attempt: UInt32) {
        guard operation == .upload else { return }
        self.told.removeAll { $0.scan == scan && $0.attempt == attempt }
        // The phone may have read it in the same instant.
        guard let last = self.last, last.scan == scan, last.attempt == attempt else { return }
        self.dueAt = max(self.dueAt, last.at + min(max(.zero, last.said), Self.waitMax))
    }

    /// - Returns: What is wrong with what is seen.
    mutating func record(_ payload: PhoneObservation, _ now: PhoneMoment) -> String? {
        let (scan, at) = (now.scan, now.at)
        switch payload {
        case .replied(.upload, let attempt, status: 429, _):
            self.limited.removeAll { $0.scan == scan }
            self.limited.append((scan, attempt), max: Self.toldMax)
        case .rateLimited(.upload, let wait): self.limited(scan, saying: wait, at: at)
        case .requestSent(.upload, _, _, _):
            defer { self.held.removeAll { $0 == scan } }
            return self.uploaded(scan, at: at)
        case .photoPrepared, .queued, .refused:
            if case .queued(let cause) = payload, cause != .captured, cause != .rateLimited {
                self.held.append(scan, max: Self.toldMax)
            }
            // What is older comes first, and had to wait for this.
            guard let youngest = self.youngest, scan <= youngest else { return nil }
            self.dueAt = max(self.dueAt, at)
        case .cancelRequested:
            // Perhaps it was the one that waited.
            guard let youngest = self.youngest, scan <= youngest else { return nil }
            self.isCanceled = true
        case .slotGiven:
            if now.life.slots >= self.slotsMax { self.dueAt = max(self.dueAt, at) }
        case .pathLost, .pathReturned, .pathChanged, .suspended, .resumed, .storageFilled, .storageFreed:
            self.youngest = nil
        case .killed, .reinstalled, .launched: self = RateLimitCheck(slotsMax: self.slotsMax)
        default: break
        }
        return nil
    }

    /// The phone has read a 429. Its own report is used only if nothing else shows what the answer requested.
    private mutating func limited(_ scan: ScanNumber, saying: Interval, at: Instant) {
        var wait = saying
        if let index = self.limited.firstIndex(where: { $0.scan == scan }) {
            let attempt = self.limited.remove(at: index).attempt
            self.last = (scan, attempt, saying, at)
            if let told = self.told.firstIndex(where: { $0.scan == scan && $0.attempt == attempt }) {
                let told = self.told.remove(at: told)
                wait = told.isRounded ? told.wait.roundedUpToSeconds : told.wait
            }
        }
        let due = at + min(max(.zero, wait), Self.waitMax)
        self.dueAt = self.youngest == nil ? due : max(self.dueAt, due)
        // A wait of zero: it serves a backoff.
        guard wait > .zero else { return }
        self.youngest = max(self.youngest ?? scan, scan)
    }

    private mutating func uploaded(_ scan: ScanNumber, at moment: Instant) -> String? {
        guard self.youngest != nil, self.dueAt <= moment else { return nil }
        self.youngest = nil
        defer { self.isCanceled = false }
        guard self.dueAt + Self.slack < moment, !self.isCanceled, !self.held.contains(scan) else {
            return nil
        }
        return
            "upload sent \((moment - self.dueAt).wholeMilliseconds) ms after the end of the wait that a 429 requested, although nothing else delayed it"
    }
}

extension Interval {
    /// The wait as the header `Retry-After` states it, in whole seconds.
    fileprivate var roundedUpToSeconds: Interval {
        let second = Interval.seconds(1).nanoseconds
        return .nanoseconds((self.nanoseconds + second - 1) / second * second)
    }
}
