import Observations
import SimBase
import Talaria

extension CoverageGoal {
    /// Whether it takes more than one observation to see it.
    var isWatched: Bool {
        switch self {
        case .suspendedInCleanup, .pathLostInLimit, .killedInLimit, .clockSetBack, .failedTwice,
            .failedThrice,
            .tokenEndedFourTimes, .streamsEmpty, .streamsOfPings, .backoffCapped, .baseRaised,
            .killedBeforeRecord, .killedInStream, .killedBeforeBooks, .slotLingering, .streamUnharmed,
            .endWhileRunning, .startedOver, .capturedAnew, .limitBelowSeconds, .requeuedBeforeYounger:
            true
        case .resumed, .replayed, .uploadRepeated, .jobOrphaned, .tokenRefused, .limited, .streamLimited,
            .resultsLimited, .cleanupLimited, .silenceFound, .endWithoutTerminal, .resultsFetched,
            .resultsGone, .cleanupRepeated, .relaunched, .slotsFull, .bookRecognized, .suspended, .restarted,
            .connectRefused, .pathLost, .scanRefused, .storageFull, .reinstalled, .eventIgnored,
            .cleanupNotFound, .cleanupGone, .cleanupUnauthorized, .resultsUnauthorized, .uploadLong,
            .serverErrorFinal, .statusPolled, .statusLimited, .circuitClosed:
            false
        }
    }
}

/// The state of phones for coverage goals that consist of several observations. For each phone, its size
/// depends on the unsettled scans.
struct CoverageDetector: Sendable {
    private let slotsMax: Int
    private let raisesBase: Bool
    private let countsPings: Bool
    private var phones: [Phone] = []
    private var indexes = DeviceIndex()

    init(slotsMax: Int, raisesBase: Bool, countsPings: Bool) {
        self.slotsMax = slotsMax
        self.raisesBase = raisesBase
        self.countsPings = countsPings
    }

    /// - Returns: The moments that it completes.
    mutating func record(_ observation: Observation) -> [CoverageGoal] {
        var moments: [CoverageGoal] = []
        if observation.isRoutine {
            if self.countsPings { self.recordRoutine(observation.what, observation.device, observation.scan) }
            return moments
        }
        self.record(
            observation.what, observation.device, observation.scan, at: observation.at, into: &moments)
        return moments
    }

    /// A function of the payload: a `switch` over a member of an observation copies the observation.
    private mutating func record(
        _ what: ObservationPayload, _ device: DeviceNumber, _ scan: ScanNumber, at: Instant,
        into moments: inout [CoverageGoal]
    ) {
        switch what {
        case .phone(let payload):
            self.phones[self.index(of: device)].record(
                payload, scan, at, slotsMax: self.slotsMax, raisesBase: self.raisesBase, into: &moments)
        case .backend(let payload):
            guard let index = self.indexes[device] else { return }
            self.phones[index].record(payload, scan, at, into: &moments)
        case .fault, .network, .control: break
        }
    }

    private mutating func recordRoutine(
        _ what: ObservationPayload, _ device: DeviceNumber, _ scan: ScanNumber
    ) {
        guard case .phone(.ping) = what, let index = self.indexes[device] else { return }
        self.phones[index].scans.update(scan) { $0.hadPing = true }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.phones.append(Phone())
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }
}

extension CoverageDetector {
    fileprivate struct Phone: Sendable {
        var scans = SlotMap<ScanNumber, Scan>()
        var waiting: [ScanNumber] = []
        var slots: Set<ScanNumber> = []
        /// Scans whose DELETE is open.
        var cleanups: Set<ScanNumber> = []
        /// The end of the wait that the last 429 to an upload requested.
        var limitedUntil = Instant.zero
        /// Whether it ends at least 200 ms before the next full second of that wait.
        var endsBelowSecond = false
        var lostPathInLimit = false
        var suspendedInCleanup = false
        var killedInLimit = false
        var clockAhead = Interval.zero
        var setBackWithWaiting = false
        var isInstalledAnew = false
    }

    fileprivate struct Scan: Sendable {
        var errors = 0
        var tokensEnded = 0
        /// Losses in a row, without an event between them: of any kind, after a 200, and after a ping.
        var failures = 0
        var empty = 0
        var ofPings = 0
        /// A stream of the job at hand has been opened.
        var wasOpened = false
        var isOpen = false
        /// Whether the open stream had a ping.
        var hadPing = false
        var firstEventAt: Instant?
        var passedOver = false
        /// A 202 came, and nothing that follows its record.
        var isAccepted = false
        /// The job was said to be completed, and none of its books is there.
        var isBeforeBooks = false
        var diedBeforeBooks = false
        var completedAt: Instant?
        /// Others waited for its slot when it was complete.
        var isWaitedFor = false
        var endedAt: Instant?
        var finishedAt: Instant?
        /// The job for which streams and repeated events are counted at the backend.
        var job = ""
        var openings = 0
        var startsOver = false
        var again = 0
    }
}

extension CoverageDetector.Phone {
    mutating func record(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ at: Instant, slotsMax: Int, raisesBase: Bool,
        into moments: inout [CoverageGoal]
    ) {
        switch payload {
        case .launched(let restored): self.launched(restored, into: &moments)
        case .killed: self.killed(at, into: &moments)
        case .recordKept(job: .none, _, decided: false):
            if self.scans.with(scan, { $0.isAccepted }) == true { moments.append(.killedBeforeRecord) }
        case .reinstalled:
            self = Self()
            self.isInstalledAnew = true
        case .suspended: self.suspendedInCleanup = !self.cleanups.isEmpty
        case .resumed:
            if self.suspendedInCleanup { moments.append(.suspendedInCleanup) }
            self.suspendedInCleanup = false
        case .pathLost: self.lostPathInLimit = at < self.limitedUntil && !self.waiting.isEmpty
        case .pathReturned:
            if self.lostPathInLimit, at < self.limitedUntil { moments.append(.pathLostInLimit) }
            self.lostPathInLimit = false
        case .clockSet(let ahead):
            if ahead < self.clockAhead, self.waiting.count >= 2 { self.setBackWithWaiting = true }
            self.clockAhead = ahead
        default:
            self.scan(payload, scan, at, slotsMax: slotsMax, raisesBase: raisesBase, into: &moments)
        }
    }

    private mutating func scan(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ at: Instant, slotsMax: Int, raisesBase: Bool,
        into moments: inout [CoverageGoal]
    ) {
        switch payload {
        case .captured:
            if self.setBackWithWaiting, !self.waiting.isEmpty { moments.append(.clockSetBack) }
            self.setBackWithWaiting = false
            self.scans[scan] = CoverageDetector.Scan()
        case .queued(let cause): self.queued(scan, cause, at, slotsMax: slotsMax, into: &moments)
        case .slotTaken:
            self.waiting.removeAll { $0 == scan }
            self.slots.insert(scan)
        case .slotGiven: self.slotGiven(scan, at, into: &moments)
        case .bookAdded, .bookPending, .bookRepeated:
            self.scans.update(scan) {
                $0.isBeforeBooks = false
                $0.diedBeforeBooks = false
            }
        case .completed:
            self.waiting.removeAll { $0 == scan }
            let isWaitedFor = self.slots.count >= slotsMax && !self.waiting.isEmpty
            self.scans.update(scan) {
                $0.completedAt = at
                $0.isWaitedFor = isWaitedFor
                $0.isBeforeBooks = false
                $0.diedBeforeBooks = false
            }
            self.forgetSettled(scan)
        case .refused, .canceled:
            self.waiting.removeAll { $0 == scan }
            if !self.slots.contains(scan) { self.scans[scan] = nil }
        case .requestSent(.cleanup, _, _, _), .requestSent(.cancel, _, _, _): self.cleanups.insert(scan)
        case .replied(.cleanup, _, _, _), .requestFailed(.cleanup, _, _, _), .replied(.cancel, _, _, _),
            .requestFailed(.cancel, _, _, _), .jobAbandoned:
            self.cleanups.remove(scan)
        case .replied(.upload, _, status: 202, _): self.scans.update(scan) { $0.isAccepted = true }
        case .uploadAccepted:
            if self.isInstalledAnew { moments.append(.capturedAnew) }
        default: self.stream(payload, scan, at, raisesBase: raisesBase, into: &moments)
        }
    }

    private mutating func stream(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ at: Instant, raisesBase: Bool,
        into moments: inout [CoverageGoal]
    ) {
        switch payload {
        case .requestSent(.stream, _, _, _): self.scans.update(scan) { $0.isAccepted = false }
        case .streamOpened:
            self.scans.update(scan) {
                $0.wasOpened = true
                $0.isOpen = true
                $0.hadPing = false
                $0.firstEventAt = nil
                $0.passedOver = false
            }
        case .firstEvent:
            self.scans.update(scan) {
                $0.firstEventAt = at
                $0.failures = 0
                $0.empty = 0
                $0.ofPings = 0
            }
        case .eventIgnored: self.scans.update(scan) { $0.passedOver = true }
        case .terminalApplied(_, let kind, _):
            guard let known = self.scans[scan] else { return }
            if known.isOpen, known.passedOver { moments.append(.streamUnharmed) }
            self.scans.update(scan) {
                $0.isOpen = false
                $0.isBeforeBooks = kind == .completed
            }
        case .streamLost(_, _, let cause, _):
            self.streamLost(scan, cause, at, raisesBase: raisesBase, into: &moments)
        default: break
        }
    }

    private mutating func streamLost(
        _ scan: ScanNumber, _ cause: LossCause, _ at: Instant, raisesBase: Bool,
        into moments: inout [CoverageGoal]
    ) {
        guard var known = self.scans[scan] else { return }
        let isEmpty = known.isOpen && known.firstEventAt == nil
        known.failures += 1
        known.empty = isEmpty ? known.empty + 1 : 0
        known.ofPings = isEmpty && known.hadPing ? known.ofPings + 1 : 0
        if known.failures == 8 { moments.append(.backoffCapped) }
        if known.empty == 3 { moments.append(.streamsEmpty) }
        if known.ofPings == 3 { moments.append(.streamsOfPings) }
        if raisesBase, known.wasOpened { moments.append(.baseRaised) }
        if cause == .endWithoutTerminal, known.finishedAt == nil { known.endedAt = at }
        known.isOpen = false
        self.scans[scan] = known
    }

    private mutating func queued(
        _ scan: ScanNumber, _ cause: WaitingCause, _ at: Instant, slotsMax: Int,
        into moments: inout [CoverageGoal]
    ) {
        if self.slots.contains(scan), self.slots.count >= slotsMax,
            self.waiting.contains(where: { scan < $0 })
        {
            moments.append(.requeuedBeforeYounger)
        }
        if !self.waiting.contains(scan) { self.waiting.append(scan) }
        if cause == .rateLimited, self.endsBelowSecond, at < self.limitedUntil, self.waiting.count >= 2 {
            moments.append(.limitBelowSeconds)
        }
        guard var known = self.scans[scan] else { return }
        let isPutBack = self.slots.contains(scan)
        if isPutBack, cause == .retryableError {
            known.errors += 1
            if known.errors == 2 { moments.append(.failedTwice) }
            if known.errors == 3 { moments.append(.failedThrice) }
        }
        if isPutBack, cause == .tokenExpired || cause == .tokenRefused {
            known.tokensEnded += 1
            if known.tokensEnded == 4 { moments.append(.tokenEndedFourTimes) }
        }
        // What is left is of the scan, and not of its job.
        var next = CoverageDetector.Scan()
        (next.errors, next.tokensEnded) = (known.errors, known.tokensEnded)
        (next.job, next.openings) = (known.job, known.openings)
        self.scans[scan] = next
    }

    private mutating func slotGiven(
        _ scan: ScanNumber, _ at: Instant, into moments: inout [CoverageGoal]
    ) {
        self.slots.remove(scan)
        if let known = self.scans[scan], known.isWaitedFor, let completedAt = known.completedAt,
            at - completedAt >= .milliseconds(100)
        {
            moments.append(.slotLingering)
        }
        self.forgetSettled(scan)
    }

    private mutating func forgetSettled(_ scan: ScanNumber) {
        guard self.scans.with(scan, { $0.completedAt != nil }) == true, !self.slots.contains(scan) else {
            return
        }
        self.scans[scan] = nil
    }

    private mutating func killed(_ at: Instant, into moments: inout [CoverageGoal]) {
        self.killedInLimit = at < self.limitedUntil && !self.waiting.isEmpty
        for scan in self.scans.keys {
            guard var known = self.scans[scan] else { continue }
            if known.isOpen, let first = known.firstEventAt, at - first >= .seconds(2) {
                moments.append(.killedInStream)
            }
            known.diedBeforeBooks = known.isBeforeBooks
            known.isOpen = false
            self.scans[scan] = known
        }
        self.waiting = []
        self.slots = []
        self.cleanups = []
        self.suspendedInCleanup = false
        self.lostPathInLimit = false
        self.setBackWithWaiting = false
    }

    private mutating func launched(_ restored: Int, into moments: inout [CoverageGoal]) {
        if self.killedInLimit, restored > 0 { moments.append(.killedInLimit) }
        self.killedInLimit = false
        for scan in self.scans.keys {
            if self.scans.with(scan, { $0.diedBeforeBooks }) == true { moments.append(.killedBeforeBooks) }
            self.scans.update(scan) {
                $0.diedBeforeBooks = false
                $0.isBeforeBooks = false
                $0.isAccepted = false
            }
        }
    }
}

extension CoverageDetector.Phone {
    mutating func record(
        _ payload: BackendObservation, _ scan: ScanNumber, _ at: Instant, into moments: inout [CoverageGoal]
    ) {
        switch payload {
        case .problem(.upload, _, status: 429, _, _, let wait?):
            guard at + wait > self.limitedUntil else { return }
            self.limitedUntil = at + wait
            let rest = wait.nanoseconds % 1_000_000_000
            self.endsBelowSecond = rest > 0 && rest <= 800_000_000
        case .streamOpened(let job, _, let after):
            self.scans.update(scan) {
                if $0.job != job { ($0.job, $0.openings) = (job, 0) }
                $0.openings += 1
                $0.startsOver = after == nil && $0.openings > 1
                $0.again = 0
            }
        case .eventWritten(_, _, _, _, replayed: true):
            guard self.scans.with(scan, { $0.startsOver }) == true else { return }
            self.scans.update(scan) { $0.again += 1 }
            if self.scans.with(scan, { $0.again }) == 5 { moments.append(.startedOver) }
        case .finished:
            guard let known = self.scans[scan] else { return }
            if let endedAt = known.endedAt, endedAt < at { moments.append(.endWhileRunning) }
            self.scans.update(scan) {
                $0.endedAt = nil
                $0.finishedAt = at
            }
        default: break
        }
    }
}
