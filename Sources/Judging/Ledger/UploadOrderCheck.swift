import Observations
import SimBase
import Talaria

/// scan.order: checks whether waiting scans are uploaded oldest first, whatever they wait for.
///
/// A scan in a backoff, or in a wait that a server requested, may be overtaken until its time has passed; so
/// may one that waits until its path returns or the app is opened. A scan that returned to the queue because
/// its job is useless keeps its age; one whose job is kept waits for a stream, not for an upload. Uploads
/// that begin at one moment may begin in any order, as far as there are slots.
struct UploadOrderCheck: Sendable {
    struct OutOfOrderUpload: Sendable {
        let older: ScanNumber
        let newer: ScanNumber
        let at: Instant
    }

    fileprivate struct Waiting: Sendable {
        let scan: ScanNumber
        /// The wait that a server requested, or the pause after an error event: nothing shortens it.
        var floor: Instant
        /// The latest moment from which only a slot can hold it back; nil until it is released.
        var readyAt: Instant?
        /// Whether only opening the app releases it, not a returning path.
        var needsOpening = false
    }

    /// The history of a scan's uploads.
    fileprivate struct Past: Sendable {
        let scan: ScanNumber
        /// The job that its record has.
        var job: UInt64?
        /// Uploads that failed in a row.
        var failures = 0
        /// Jobs that ended in an error, and that were rejected with 401, 404 or 410.
        var errors = 0
        var refusals = 0
    }

    fileprivate struct Phone: Sendable {
        var waiting: [Waiting] = []
        /// The histories of unsettled scans that were uploaded.
        var pasts: [Past] = []
        /// Waits other than those of a 429 that a server has requested.
        var floors: [(scan: ScanNumber, wait: Interval)] = []
        /// The scan whose 429 says that it may come at once: it serves a backoff.
        var backsOff: ScanNumber?
        var overtaken: [OutOfOrderUpload] = []
        var isOnScreen = true
        /// The launch at this moment: scans queued then wait only for a slot.
        var launchedAt: Instant?
    }

    private static let floorsMax = 64

    fileprivate let base: Interval
    fileprivate let cap: Interval
    private var phones: [Phone] = []

    init(base: Interval, cap: Interval) {
        self.base = base
        self.cap = cap
    }

    /// The number of entries for all phones together, for tests of its growth.
    var remembered: Int {
        self.phones.reduce(0) { $0 + $1.waiting.count + $1.pasts.count + $1.floors.count }
    }

    /// Uploads that went before older scans, before a moment, and that no upload of the same moment explains.
    mutating func overtakings(of phoneIndex: Int, before moment: Instant) -> [OutOfOrderUpload] {
        guard phoneIndex < self.phones.count, let first = self.phones[phoneIndex].overtaken.first,
            first.at < moment
        else { return [] }
        defer { self.phones[phoneIndex].overtaken = [] }
        return self.phones[phoneIndex].overtaken
    }

    /// Returns the uploads out of order at the end of the run.
    mutating func overtakings() -> [(phoneIndex: Int, OutOfOrderUpload)] {
        self.phones.indices.flatMap { phoneIndex in
            self.overtakings(of: phoneIndex, before: .distantFuture).map { (phoneIndex, $0) }
        }
    }

    /// A server requested a wait with another answer than 429.
    mutating func receivedRetryAfter(_ wait: Interval, scan: ScanNumber, phoneIndex: Int) {
        self.change(phoneIndex) { phone in
            phone.floors.removeAll { $0.scan == scan }
            if phone.floors.count == Self.floorsMax { phone.floors.removeFirst() }
            phone.floors.append((scan, wait))
        }
    }

    mutating func record(_ payload: PhoneObservation, scan: ScanNumber, at: Instant, phoneIndex: Int) {
        switch payload {
        case .queued(let cause):
            let (base, cap) = (self.base, self.cap)
            self.change(phoneIndex) { $0.queued(scan, cause, at: at, base: base, cap: cap) }
        case .rateLimited(.upload, let wait):
            self.change(phoneIndex) { $0.backsOff = wait == .zero ? scan : nil }
        case .uploadAccepted(let job, _, _):
            self.change(phoneIndex) { $0.accepted(Digest.of(job), of: scan) }
        case .terminalApplied(_, .error, _), .statusDecoded(_, .failed, _), .statusDecoded(_, .canceled, _):
            self.change(phoneIndex) { $0.erred(scan) }
        case .jobAbandoned(let job, _), .requestSent(.cleanup, _, let job?, _),
            .requestSent(.cancel, _, let job?, _):
            // While the scan is not settled, whatever job of it is given up leaves it without one.
            self.change(phoneIndex) { $0.lost(Digest.of(job), of: scan) }
        case .recordKept(let job, _, let isDecided):
            self.change(phoneIndex) { phone in
                if isDecided {
                    phone.settled(scan)
                } else {
                    phone.changePast(scan) { $0.job = job.map(Digest.of) }
                }
            }
        case .completed, .refused, .cancelRequested, .canceled: self.change(phoneIndex) { $0.settled(scan) }
        case .requestSent(.upload, _, _, _): self.change(phoneIndex) { $0.uploaded(scan, at: at) }
        case .pathReturned, .pathChanged: self.change(phoneIndex) { $0.released(at: at, isOpened: false) }
        case .suspended: self.change(phoneIndex) { $0.isOnScreen = false }
        case .resumed:
            self.change(phoneIndex) { phone in
                phone.isOnScreen = true
                phone.released(at: at, isOpened: true)
            }
        case .launched: self.change(phoneIndex) { $0.launched(at: at) }
        case .reinstalled: self.change(phoneIndex) { $0 = Phone() }
        default: break
        }
    }

    private mutating func change(_ phoneIndex: Int, _ change: (inout Phone) -> Void) {
        while self.phones.count <= phoneIndex { self.phones.append(Phone()) }
        change(&self.phones[phoneIndex])
    }
}

extension UploadOrderCheck.Phone {
    fileprivate mutating func queued(
        _ scan: ScanNumber, _ cause: WaitingCause, at: Instant, base: Interval, cap: Interval
    ) {
        self.waiting.removeAll { $0.scan == scan }
        let index = self.floors.firstIndex { $0.scan == scan }
        // A header is rounded up to whole seconds.
        let floor = index.map { at + self.floors.remove(at: $0).wait + .seconds(1) } ?? at
        defer { self.backsOff = nil }
        if self.launchedAt == at {
            self.waiting.append(UploadOrderCheck.Waiting(scan: scan, floor: at, readyAt: at))
            return
        }
        var waiting = UploadOrderCheck.Waiting(scan: scan, floor: floor, readyAt: floor)
        switch cause {
        case .captured, .offline, .interrupted, .suspended: break
        case .statusBudget: waiting.needsOpening = true
        case .rateLimited:
            if self.backsOff == scan { waiting.readyAt = self.backOff(scan, floor, at, base, cap) }
        case .serverError, .transport, .resultsUnavailable, .unreadableAnswer, .answerTooLarge, .noAnswer,
            .unexpectedStatus, .unauthorized, .foreignURL:
            waiting.readyAt = self.backOff(scan, floor, at, base, cap)
        case .retryableError:
            let isLast = self.past(of: scan).map { $0.errors > RestartBudget.errorRetriesMax } ?? false
            if !isLast { waiting.floor = max(floor, at + RestartBudget.errorPause) }
            waiting.readyAt = isLast ? nil : waiting.floor
        case .tokenExpired, .tokenRefused, .jobGone:
            self.changePast(scan) { $0.refusals += 1 }
            let refusals = self.past(of: scan)?.refusals ?? 0
            waiting.needsOpening = refusals > RestartBudget.refusalRetriesMax
        }
        if !self.isOnScreen { waiting.needsOpening = true }
        if waiting.needsOpening { waiting.readyAt = nil }
        self.waiting.append(waiting)
    }

    /// Records another failed upload: computes the latest end of its backoff.
    private mutating func backOff(
        _ scan: ScanNumber, _ floor: Instant, _ at: Instant, _ base: Interval, _ cap: Interval
    ) -> Instant {
        self.changePast(scan) { $0.failures += 1 }
        let doublings = Int64(min(max(0, (self.past(of: scan)?.failures ?? 1) - 1), 62))
        let isCapped = base.nanoseconds > cap.nanoseconds >> doublings
        return max(floor, at + (isCapped ? cap : .nanoseconds(base.nanoseconds << doublings)))
    }

    private func past(of scan: ScanNumber) -> UploadOrderCheck.Past? {
        self.pasts.last { $0.scan == scan }
    }

    fileprivate mutating func changePast(_ scan: ScanNumber, _ change: (inout UploadOrderCheck.Past) -> Void)
    {
        if let index = self.pasts.lastIndex(where: { $0.scan == scan }) {
            change(&self.pasts[index])
        } else {
            var past = UploadOrderCheck.Past(scan: scan)
            change(&past)
            self.pasts.append(past)
        }
    }

    fileprivate mutating func accepted(_ job: UInt64, of scan: ScanNumber) {
        self.waiting.removeAll { $0.scan == scan }
        self.changePast(scan) { past in
            past.job = job
            past.failures = 0
        }
    }

    /// Its job has ended with an error.
    fileprivate mutating func erred(_ scan: ScanNumber) {
        self.changePast(scan) { past in
            past.job = nil
            past.errors += 1
        }
    }

    fileprivate mutating func lost(_ job: UInt64, of scan: ScanNumber) {
        guard let index = self.pasts.lastIndex(where: { $0.scan == scan && $0.job == job }) else { return }
        self.pasts[index].job = nil
    }

    fileprivate mutating func settled(_ scan: ScanNumber) {
        self.waiting.removeAll { $0.scan == scan }
        self.pasts.removeAll { $0.scan == scan }
        self.floors.removeAll { $0.scan == scan }
    }

    /// Handles a launch: waiting scans are reported again and have waited long enough.
    fileprivate mutating func launched(at moment: Instant) {
        self.waiting = []
        self.floors = []
        self.isOnScreen = true
        self.launchedAt = moment
        for index in self.pasts.indices { self.pasts[index].failures = 0 }
    }

    fileprivate mutating func released(at moment: Instant, isOpened: Bool) {
        for index in self.waiting.indices where isOpened || !self.waiting[index].needsOpening {
            guard self.waiting[index].readyAt.map({ $0 > moment }) ?? true else { continue }
            self.waiting[index].readyAt = max(moment, self.waiting[index].floor)
            self.waiting[index].needsOpening = false
        }
    }

    fileprivate mutating func uploaded(_ scan: ScanNumber, at: Instant) {
        self.waiting.removeAll { $0.scan == scan }
        self.overtaken.removeAll { $0.older == scan && $0.at == at }
        var oldest: ScanNumber?
        for waiting in self.waiting where waiting.scan < scan {
            guard let readyAt = waiting.readyAt, readyAt <= at, self.past(of: waiting.scan)?.job == nil
            else { continue }
            oldest = min(oldest ?? waiting.scan, waiting.scan)
        }
        guard let oldest else { return }
        self.overtaken.append(UploadOrderCheck.OutOfOrderUpload(older: oldest, newer: scan, at: at))
    }
}
