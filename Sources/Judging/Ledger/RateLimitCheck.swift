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
/// first. If anything else happens to the phone in between, it is not judged.
struct RateLimitCheck: Sendable {
    private struct Phone: Sendable {
        let slotsMax: Int
        var slots = 0
        /// The waits that responses in flight request. `isRounded`: in whole seconds, since the body does not
        /// contain the wait.
        var told: [(scan: ScanNumber, attempt: UInt32, wait: Interval, isRounded: Bool)] = []
        /// Waits that a fault is about to round: it fires before the answer.
        var rounded: [(scan: ScanNumber, attempt: UInt32)] = []
        /// The attempt of each upload that was answered with 429, until its phone has read that.
        var limited: [(scan: ScanNumber, attempt: UInt32)] = []
        /// The last 429 that the phone has read, with its own word of the wait.
        var last: (scan: ScanNumber, attempt: UInt32, said: Interval, at: Instant)?
        /// The youngest scan that was turned down and has its photo, while the queue is shut.
        var youngest: ScanNumber?
        /// The user has canceled a scan that may be the one that was to come first.
        var isCanceled = false
        /// The time at which it opens and nothing else holds the phone back.
        var dueAt = Instant.zero
    }

    /// The tolerance for a write, and for rounding to milliseconds.
    static let slack = Interval.milliseconds(10)
    private static let toldMax = 64

    private var phones: [Phone] = []

    /// Adds a phone with the next index.
    mutating func add(slotsMax: Int) { self.phones.append(Phone(slotsMax: slotsMax)) }

    mutating func receivedRetryAfter(_ wait: Interval, scan: ScanNumber, attempt: UInt32, phoneIndex: Int) {
        self.phones[phoneIndex].told.removeAll { $0.scan == scan }
        if self.phones[phoneIndex].told.count == Self.toldMax { self.phones[phoneIndex].told.removeFirst() }
        let isRounded = self.phones[phoneIndex].rounded.contains { $0 == (scan, attempt) }
        self.phones[phoneIndex].rounded.removeAll { $0.scan == scan }
        self.phones[phoneIndex].told.append((scan, attempt, wait, isRounded))
    }

    /// A fault leaves the body of the answer without its wait.
    mutating func rounded(_ operation: Operation, scan: ScanNumber, attempt: UInt32, phoneIndex: Int) {
        guard operation == .upload else { return }
        let told = self.phones[phoneIndex].told.lastIndex { $0.scan == scan && $0.attempt == attempt }
        guard let index = told else {
            self.phones[phoneIndex].rounded.removeAll { $0.scan == scan }
            if self.phones[phoneIndex].rounded.count == Self.toldMax {
                self.phones[phoneIndex].rounded.removeFirst()
            }
            self.phones[phoneIndex].rounded.append((scan, attempt))
            return
        }
        self.phones[phoneIndex].told[index].isRounded = true
    }

    /// Records a cut of a response: its wait may not have arrived, although its header may have.
    mutating func cut(_ operation: Operation, scan: ScanNumber, attempt: UInt32, phoneIndex: Int) {
        guard operation == .upload else { return }
        self.phones[phoneIndex].told.removeAll { $0.scan == scan && $0.attempt == attempt }
        // The phone may have read it in the same instant.
        guard let last = self.phones[phoneIndex].last, last.scan == scan, last.attempt == attempt else {
            return
        }
        self.phones[phoneIndex].dueAt = max(
            self.phones[phoneIndex].dueAt, last.at + min(max(.zero, last.said), .hours(24)))
    }

    /// - Returns: What is wrong with what is seen.
    mutating func record(_ payload: PhoneObservation, scan: ScanNumber, at: Instant, phoneIndex: Int)
        -> String?
    {
        switch payload {
        case .replied(.upload, let attempt, status: 429, _):
            self.phones[phoneIndex].limited.removeAll { $0.scan == scan }
            if self.phones[phoneIndex].limited.count == Self.toldMax {
                self.phones[phoneIndex].limited.removeFirst()
            }
            self.phones[phoneIndex].limited.append((scan, attempt))
        case .rateLimited(.upload, let wait): self.limited(scan, saying: wait, at: at, phoneIndex)
        case .requestSent(.upload, _, _, _): return self.uploaded(at: at, phoneIndex)
        case .photoPrepared, .queued, .refused:
            // What is older comes first, and had to wait for this.
            guard let youngest = self.phones[phoneIndex].youngest, scan <= youngest else { return nil }
            self.phones[phoneIndex].dueAt = max(self.phones[phoneIndex].dueAt, at)
        case .cancelRequested:
            // Perhaps it was the one that waited.
            if let youngest = self.phones[phoneIndex].youngest, scan <= youngest {
                self.phones[phoneIndex].isCanceled = true
            }
        case .slotTaken: self.phones[phoneIndex].slots += 1
        case .slotGiven:
            if self.phones[phoneIndex].slots >= self.phones[phoneIndex].slotsMax {
                self.phones[phoneIndex].dueAt = max(self.phones[phoneIndex].dueAt, at)
            }
            self.phones[phoneIndex].slots = max(0, self.phones[phoneIndex].slots - 1)
        case .pathLost, .pathReturned, .pathChanged, .suspended, .resumed, .storageFilled, .storageFreed:
            self.phones[phoneIndex].youngest = nil
        case .killed, .reinstalled, .launched:
            self.phones[phoneIndex] = Phone(slotsMax: self.phones[phoneIndex].slotsMax)
        default: break
        }
        return nil
    }

    /// The phone has read a 429. Its own report is used only if nothing else shows what the answer requested.
    private mutating func limited(_ scan: ScanNumber, saying: Interval, at: Instant, _ phoneIndex: Int) {
        var wait = saying
        if let index = self.phones[phoneIndex].limited.firstIndex(where: { $0.scan == scan }) {
            let attempt = self.phones[phoneIndex].limited.remove(at: index).attempt
            self.phones[phoneIndex].last = (scan, attempt, saying, at)
            if let told = self.phones[phoneIndex].told.firstIndex(where: {
                $0.scan == scan && $0.attempt == attempt
            }) {
                let told = self.phones[phoneIndex].told.remove(at: told)
                wait = told.isRounded ? told.wait.roundedUpToSeconds : told.wait
            }
        }
        let due = at + min(max(.zero, wait), .hours(24))
        let isShut = self.phones[phoneIndex].youngest != nil
        self.phones[phoneIndex].dueAt = isShut ? max(self.phones[phoneIndex].dueAt, due) : due
        // A wait of zero: it serves a backoff.
        guard wait > .zero else { return }
        self.phones[phoneIndex].youngest = max(self.phones[phoneIndex].youngest ?? scan, scan)
    }

    private mutating func uploaded(at moment: Instant, _ phoneIndex: Int) -> String? {
        let due = self.phones[phoneIndex].dueAt
        guard self.phones[phoneIndex].youngest != nil, due <= moment else { return nil }
        self.phones[phoneIndex].youngest = nil
        defer { self.phones[phoneIndex].isCanceled = false }
        guard due + Self.slack < moment, !self.phones[phoneIndex].isCanceled else { return nil }
        return
            "upload sent \((moment - due).wholeMilliseconds) ms after the end of the wait that a 429 requested, although nothing else delayed it"
    }
}

extension Interval {
    /// The wait as the header `Retry-After` states it, in whole seconds.
    fileprivate var roundedUpToSeconds: Interval {
        let second = Interval.seconds(1).nanoseconds
        return .nanoseconds((self.nanoseconds + second - 1) / second * second)
    }
}
