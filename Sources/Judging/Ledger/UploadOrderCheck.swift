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

    private struct Waiting: Sendable {
        let scan: ScanNumber
        /// The wait that a server requested, or the pause after an error event: nothing shortens it.
        var floor: Instant
        /// The latest moment from which only a slot can hold it back; nil until it is released.
        var readyAt: Instant?
        /// Whether only opening the app releases it, not a returning path.
        var needsOpening = false
    }

    /// The history of a scan's uploads.
    private struct Past: Sendable {
        let scan: ScanNumber
        /// The job that its record has.
        var job: UInt64?
        /// Uploads that failed in a row.
        var failures = 0
        /// Jobs that ended in an error, and that were rejected with 401, 404 or 410.
        var errors = 0
        var refusals = 0
    }

    private static let floorsMax = 64

    private var waiting: [Waiting] = []
    /// The histories of unsettled scans that were uploaded.
    private var pasts: [Past] = []
    /// Waits other than those of a 429 that a server has requested.
    private var floors: [(scan: ScanNumber, wait: Interval)] = []
    /// The scan whose 429 says that it may come at once: it serves a backoff.
    private var backsOff: ScanNumber?
    private var overtaken: [OutOfOrderUpload] = []
    /// The launch at this moment: scans queued then wait only for a slot.
    private var launchedAt: Instant?

    /// The number of entries, for tests of its growth.
    var remembered: Int { self.waiting.count + self.pasts.count + self.floors.count }

    /// Returns and removes the uploads before older scans, before a moment, that no upload of the same moment explains.
    mutating func overtakings(before moment: Instant) -> [OutOfOrderUpload] {
        guard let first = self.overtaken.first, first.at < moment else { return [] }
        defer { self.overtaken = [] }
        return self.overtaken
    }

    /// A server requested a wait with another answer than 429.
    mutating func receivedRetryAfter(_ wait: Interval, scan: ScanNumber) {
        self.floors.removeAll { $0.scan == scan }
        self.floors.append((scan, wait), max: Self.floorsMax)
    }

    mutating func record(
        _ payload: PhoneObservation, _ now: PhoneMoment, _ settings: SimulationInvariantSettings
    ) {
        let (scan, at) = (now.scan, now.at)
        switch payload {
        case .queued(let cause): self.queued(cause, now, settings)
        case .rateLimited(.upload, let wait): self.backsOff = wait == .zero ? scan : nil
        case .uploadAccepted(let job, _, _): self.accepted(Digest.inWords(of: job), of: scan)
        case .terminalApplied(_, .error, _), .statusDecoded(_, .failed, _), .statusDecoded(_, .canceled, _):
            self.erred(scan)
        case .jobAbandoned(let job, _), .requestSent(.cleanup, _, let job?, _),
            .requestSent(.cancel, _, let job?, _):
            // While the scan is not settled, whatever job of it is given up leaves it without one.
            self.lost(Digest.inWords(of: job), of: scan)
        case .recordKept(_, _, decided: true): self.settled(scan)
        case .recordKept(let job, _, decided: false): self.changePast(scan) { $0.job = job.map(Digest.of) }
        case .completed, .refused, .cancelRequested, .canceled: self.settled(scan)
        case .requestSent(.upload, _, _, _): self.uploaded(scan, at: at)
        // It is in the library since before a kill, and needs no upload.
        case .bookRepeated: self.waiting.removeAll { $0.scan == scan }
        case .pathReturned, .pathChanged: self.released(at: at, isOpened: false)
        case .resumed: self.released(at: at, isOpened: true)
        case .launched: self.launched(at: at)
        case .reinstalled: self = UploadOrderCheck()
        default: break
        }
    }
}

extension UploadOrderCheck {
    private mutating func queued(
        _ cause: WaitingCause, _ now: PhoneMoment, _ settings: SimulationInvariantSettings
    ) {
        let (scan, at) = (now.scan, now.at)
        self.waiting.removeAll { $0.scan == scan }
        let index = self.floors.firstIndex { $0.scan == scan }
        // A header is rounded up to whole seconds.
        let floor = index.map { at + self.floors.remove(at: $0).wait + .seconds(1) } ?? at
        defer { self.backsOff = nil }
        if self.launchedAt == at {
            self.waiting.append(Waiting(scan: scan, floor: at, readyAt: at))
            return
        }
        var waiting = Waiting(scan: scan, floor: floor, readyAt: floor)
        switch cause {
        case .captured, .offline, .interrupted, .suspended: break
        case .statusBudget: waiting.needsOpening = true
        case .rateLimited:
            if self.backsOff == scan { waiting.readyAt = self.backOff(scan, floor, at, settings) }
        case .serverError, .transport, .resultsUnavailable, .resultsExpired, .unreadableAnswer,
            .answerTooLarge, .noAnswer, .unexpectedStatus, .unauthorized, .foreignURL:
            waiting.readyAt = self.backOff(scan, floor, at, settings)
        case .retryableError:
            let isLast = self.past(of: scan).map { $0.errors > RestartBudget.errorRetriesMax } ?? false
            if !isLast { waiting.floor = max(floor, at + RestartBudget.errorPause) }
            waiting.readyAt = isLast ? nil : waiting.floor
        case .tokenExpired, .tokenRefused, .jobGone:
            self.changePast(scan) { $0.refusals += 1 }
            let refusals = self.past(of: scan)?.refusals ?? 0
            waiting.needsOpening = refusals > RestartBudget.refusalRetriesMax
        }
        if !now.life.isOnScreen { waiting.needsOpening = true }
        if waiting.needsOpening { waiting.readyAt = nil }
        self.waiting.append(waiting)
    }

    /// Records another failed upload: computes the latest end of its backoff.
    private mutating func backOff(
        _ scan: ScanNumber, _ floor: Instant, _ at: Instant, _ settings: SimulationInvariantSettings
    ) -> Instant {
        self.changePast(scan) { $0.failures += 1 }
        return max(floor, at + settings.backoffCeiling(failures: self.past(of: scan)?.failures ?? 1))
    }

    private func past(of scan: ScanNumber) -> Past? {
        self.pasts.last { $0.scan == scan }
    }

    private mutating func changePast(_ scan: ScanNumber, _ change: (inout Past) -> Void) {
        if let index = self.pasts.lastIndex(where: { $0.scan == scan }) {
            change(&self.pasts[index])
        } else {
            var past = Past(scan: scan)
            change(&past)
            self.pasts.append(past)
        }
    }

    private mutating func accepted(_ job: UInt64, of scan: ScanNumber) {
        self.waiting.removeAll { $0.scan == scan }
        self.changePast(scan) { past in
            past.job = job
            past.failures = 0
        }
    }

    /// Its job has ended with an error.
    private mutating func erred(_ scan: ScanNumber) {
        self.changePast(scan) { past in
            past.job = nil
            past.errors += 1
        }
    }

    private mutating func lost(_ job: UInt64, of scan: ScanNumber) {
        guard let index = self.pasts.lastIndex(where: { $0.scan == scan && $0.job == job }) else { return }
        self.pasts[index].job = nil
    }

    private mutating func settled(_ scan: ScanNumber) {
        self.waiting.removeAll { $0.scan == scan }
        self.pasts.removeAll { $0.scan == scan }
        self.floors.removeAll { $0.scan == scan }
    }

    /// Handles a launch: waiting scans are reported again and have waited long enough.
    private mutating func launched(at moment: Instant) {
        self.waiting = []
        self.floors = []
        self.launchedAt = moment
        for index in self.pasts.indices { self.pasts[index].failures = 0 }
    }

    private mutating func released(at moment: Instant, isOpened: Bool) {
        for index in self.waiting.indices where isOpened || !self.waiting[index].needsOpening {
            guard self.waiting[index].readyAt.map({ $0 > moment }) ?? true else { continue }
            self.waiting[index].readyAt = max(moment, self.waiting[index].floor)
            self.waiting[index].needsOpening = false
        }
    }

    private mutating func uploaded(_ scan: ScanNumber, at: Instant) {
        self.waiting.removeAll { $0.scan == scan }
        self.overtaken.removeAll { $0.older == scan && $0.at == at }
        var oldest: ScanNumber?
        for waiting in self.waiting where waiting.scan < scan {
            guard let readyAt = waiting.readyAt, readyAt <= at, self.past(of: waiting.scan)?.job == nil
            else { continue }
            oldest = min(oldest ?? waiting.scan, waiting.scan)
        }
        guard let oldest else { return }
        self.overtaken.append(OutOfOrderUpload(older: oldest, newer: scan, at: at))
    }
}
