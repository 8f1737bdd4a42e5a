package import Observations
package import SimBase
import Talaria
import Wire

/// The app: every decision of it, and nothing else. Events and the time come in, effects go out.
///
/// A scan is always in the custody of exactly one of two: the durable queue, or the scans that are being worked on. Its record
/// is in the driver's store from the capture until it is settled. A phone that is killed is thrown away; a fresh one that
/// is launched with what the store holds continues.
///
/// Events about requests that the phone has given up are late, not wrong, and change nothing.
package struct App: Sendable {
    package let number: DeviceNumber
    package let identity: DeviceIdentity
    package let profile: ClientProfile
    var random: KeyedRandom
    /// As `RunContext` has it.
    var deviceSalt: DeviceSalt?
    /// Nil without a rollout: each job is followed as the profile says.
    var rollout: RolloutFlag?
    let run: UInt64
    let clockZero: Int64?
    let wallClockAtZero: Int64
    /// The offset of the phone's wall clock from the true time.
    var wallClockAhead = Interval.zero

    var phase = Phase.off
    var pathAvailable = true
    var pathReturns: UInt64 = 0
    /// The earliest moment for leaving the queue: the path has only just returned.
    var queueOpensAt = Instant.zero
    /// The end of the last scan of a drain that uploads one after another, as the user sees it.
    var drainsAgainAt = Instant.zero
    var gate = RateGate(opensAt: .zero)
    var queue = ScanQueue()
    /// The scans that are being worked on, in the order in which they were taken up: in a slot while they may have a
    /// stream, without one while only the DELETE is left.
    var active: [ActiveScan] = []
    /// Slots that are held after their scans: while a stream is still open after its terminal event, and for as long as the
    /// profile holds a slot.
    var outlasted: [HeldSlot] = []
    var cleanups: [Cleanup] = []
    /// Scans whose photos cannot be used, and of which that is not durable yet, in the order of their tickets.
    var rejected: [RejectedScan] = []
    var exchanges: [Exchange] = []
    var durable = WriteID(0)
    var lastWriteID: UInt64 = 0
    var lastRequest: UInt64 = 0
    /// Frames of WebSockets that were sent, each masked with a key of its own.
    var framesSent: UInt64 = 0
    /// The preview of the last segmented photo: one for the whole phone, however many jobs send one.
    var preview: Preview?
    var recentJobs = RecentJobIDs()
    /// Whether the backend has no look-up by text, as this process has seen.
    var lacksTexts = false
    /// The books that wait for their person; empty where books are not reviewed.
    var review = ReviewQueue()
    var session = ReviewSession()
    /// Reused, so that an event of a stream costs no buffer.
    var items: [SSEItem] = []

    /// The earliest moment at which the phone has something to do by itself. It may come to be too early while a stream
    /// brings bytes; a wake-up then changes nothing but this.
    package private(set) var nextWake: Instant?
    /// Whether nothing more happens without a new event from outside. A suspended phone is then done; a running one has
    /// settled or parked everything it had. Kept like `nextWake`: to ask a phone of thousands would copy it.
    package private(set) var isQuiescent = true

    enum Phase: Hashable, Sendable {
        /// Leaves to `running` by `launched`.
        case off
        /// Leaves to `suspended`.
        case running
        /// Only cleanup continues, until this moment. Leaves to `frozen`, or back to `running`.
        case suspended(until: Instant)
        /// Nothing is sent any more. Leaves to `running`.
        case frozen

        /// The app is not in the foreground.
        var isAway: Bool {
            switch self {
            case .off, .running: false
            case .suspended, .frozen: true
            }
        }
    }

    /// - Parameters:
    ///   - run: The run's id in trace contexts, never 0.
    ///   - clockZero: The monotonic clock of the machine at `Instant.zero`, nanoseconds: stamps of the backend are read
    ///     against it.
    ///   - wallClockAtZero: The true time at `Instant.zero`, milliseconds since 1970; the phone's own clock shows it
    ///     until it is set to another.
    package init(
        number: DeviceNumber, identity: DeviceIdentity, profile: ClientProfile, random: KeyedRandom,
        run: UInt64,
        clockZero: Int64?, wallClockAtZero: Int64
    ) {
        precondition(run != 0, "a trace id must not be zero")
        precondition(profile.stream.slots > 0, "a phone without a slot never uploads")
        self.number = number
        self.identity = identity
        self.profile = profile
        self.random = random
        self.run = run
        self.clockZero = clockZero
        self.wallClockAtZero = wallClockAtZero
    }

    /// An image that a job sent while it ran. Only its size is kept: an app holds the image, and a fleet of apps in one
    /// process could not.
    struct Preview: Hashable, Sendable {
        var scan: ScanNumber
        var imageBytes: Int
    }

    struct HeldSlot: Hashable, Sendable {
        let scan: ScanNumber
        var until: Instant
    }

    struct RejectedScan: Hashable, Sendable {
        var scan: ScanNumber
        var writeID: WriteID
    }

    // MARK: Events

    package mutating func handle(_ event: AppEvent, at now: Instant, into effects: inout [PhoneEffect]) {
        switch event {
        case .launched(let restored, let review, let pathAvailable):
            self.launched(restored, pathAvailable: pathAvailable, at: now, into: &effects)
            self.restore(review, at: now, into: &effects)
        case .captured(let scan, let photo, let scheduled):
            self.captured(scan, photo, scheduled: scheduled, at: now, into: &effects)
        case .photoPrepared(let scan, let bytes, let took, let file, let barcode, let reading):
            self.photoPrepared(
                scan, bytes: bytes, took: took, file: file, barcode: barcode, reading: reading, at: now,
                into: &effects)
        case .photoRejected(let scan, let reason):
            self.photoRejected(scan, reason, at: now, into: &effects)
        case .pathLost:
            self.pathLost(at: now, into: &effects)
        case .pathReturned:
            self.pathReturned(at: now, into: &effects)
        case .pathChanged(let isAvailable):
            self.pathChanged(isAvailable: isAvailable, at: now, into: &effects)
        case .suspended:
            self.suspended(at: now, into: &effects)
        case .resumed:
            self.resumed(at: now, into: &effects)
        case .clockSet(let ahead):
            self.clockSet(ahead: ahead, at: now, into: &effects)
        case .replyHead(let id, let head):
            self.replyHead(id, head, at: now, into: &effects)
        case .replyBytes(let id, let bytes):
            // The hot path: most bytes are events that leave everything else as it was.
            guard self.replyBytes(id, bytes, at: now, into: &effects) else { return }
        case .replyEnded(let id):
            self.replyEnded(id, at: now, into: &effects)
        case .replyFailed(let id, let failure):
            self.replyFailed(id, failure, at: now, into: &effects)
        case .woke:
            self.passDeadlines(at: now, into: &effects)
        case .stored(let writeID):
            self.stored(writeID, at: now, into: &effects)
        case .storeFailed(let writeID):
            self.storeFailed(writeID, at: now, into: &effects)
        }
        precondition(self.phase != .off, "the first event of a phone is its launch")
        self.settle(at: now, into: &effects)
    }

    /// Begins what the event has made possible, and says when there is more to do.
    private mutating func settle(at now: Instant, into effects: inout [PhoneEffect]) {
        self.proceed(at: now, into: &effects)
        self.nextWake = self.earliestWake(at: now)
        self.isQuiescent = self.hasNothingToDo
        if self.isQuiescent { self.releaseMemory() }
    }

    private mutating func clockSet(
        ahead: Interval, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.wallClockAhead = ahead
        self.observe(.clockSet(ahead: ahead), of: .none, at: now, into: &effects)
    }

    /// Frees the buffers of an app that is done. Thousands of phones would keep the memory of their busiest moments.
    private mutating func releaseMemory() {
        if self.active.isEmpty, self.active.capacity > 0 { self.active = [] }
        if self.exchanges.isEmpty, self.exchanges.capacity > 0 { self.exchanges = [] }
        if self.cleanups.isEmpty, self.cleanups.capacity > 0 { self.cleanups = [] }
        if self.rejected.isEmpty, self.rejected.capacity > 0 { self.rejected = [] }
    }

    /// Does everything that is due and allowed.
    private mutating func proceed(at now: Instant, into effects: inout [PhoneEffect]) {
        self.freezeIfDue(at: now, into: &effects)
        self.cancelDueScans(at: now, into: &effects)
        self.reviewDueBooks(at: now, into: &effects)
        self.readOn(at: now, into: &effects)
        self.giveIdleSlots(at: now, into: &effects)
        self.prepareAhead(at: now, into: &effects)
        guard self.pathAvailable, self.phase != .frozen else { return }
        self.returnToJobs(at: now, into: &effects)
        self.exchangeDueTokens(at: now, into: &effects)
        self.startWaiting(at: now, into: &effects)
        self.sendDueCleanups(at: now, into: &effects)
    }

    /// Mutating, so that the stages are looked at where they are: to read one copies it.
    private mutating func earliestWake(at now: Instant) -> Instant? {
        var earliest: Instant?
        func consider(_ moment: Instant?) {
            guard let moment else { return }
            earliest = min(earliest ?? moment, moment)
        }
        for index in self.exchanges.indices { consider(self.exchanges.span[index].deadline) }
        for index in self.active.indices {
            let (timeout, hasPath) = (self.profile.stream.idleTimeout, self.pathAvailable)
            consider(
                self.active.update(index) { $0.stage.earliestWake(idleTimeout: timeout, hasPath: hasPath) })
        }
        for slot in self.outlasted where !self.isDraining(slot.scan) { consider(slot.until) }
        if case .suspended(let until) = self.phase, !self.exchanges.isEmpty || !self.cleanups.isEmpty {
            consider(until)
        }
        consider(self.nextCancel)
        consider(self.nextReview)
        guard self.pathAvailable, self.phase != .frozen else { return earliest }
        for index in self.active.indices { consider(self.refreshWake(index)) }
        if self.maySendCleanup {
            for index in self.cleanups.indices { consider(self.cleanups[index].dueAt) }
        }
        if self.queue.count > 0, self.phase == .running {
            let hasSlot = self.slotsTaken < self.profile.stream.slots
            consider(self.queue.nextReady(self.conditions(at: now), hasSlot: hasSlot))
        }
        return earliest
    }

    func conditions(at now: Instant) -> ScanQueue.Conditions {
        ScanQueue.Conditions(
            now: now, durable: self.durable, gate: self.gate, opensAt: self.queueOpensAt,
            offlineOpensAt: self.offlineOpensAt)
    }

    // MARK: Queries

    private var hasNothingToDo: Bool {
        switch self.phase {
        case .off:
            true
        case .running:
            self.active.isEmpty && self.cleanups.isEmpty && self.outlasted.isEmpty && !self.hasRequests
                && self.nextCancel == nil && self.nextReview == nil && self.session.news.isEmpty
                && self.queue.scans.indices.allSatisfy { self.queue.scans[$0].hold.isParked }
        case .suspended, .frozen:
            !self.hasRequests && self.session.news.isEmpty
                && (self.cleanups.isEmpty || !self.pathAvailable || self.phase == .frozen)
                && self.active.indices.allSatisfy { self.active[$0].stage.isCleaning }
                && self.queue.scans.indices.allSatisfy { self.queue.scans[$0].isAnnounced }
        }
    }

    /// Whether the app waits for an answer. It does not wait for a stream that it left open.
    private var hasRequests: Bool {
        for index in self.exchanges.indices where self.exchanges[index].purpose != .left { return true }
        return false
    }

    /// The unsettled scans that wait in the durable queue, oldest first, with their causes. A scan in a slot does not
    /// wait, nor does one of which only the DELETE is left.
    package var waiting: [(ScanNumber, WaitingCause)] {
        self.queue.scans.filter { $0.scan.work != .finish }.map { ($0.scan.number, $0.cause) }
    }

    /// The scans that a fresh process would report as waiting if it found these records, with their causes.
    package static func waiting(
        restoring records: [DurableScan], profile: ClientProfile
    ) -> [(ScanNumber, WaitingCause)] {
        let random = KeyedRandom(seed: 0)
        var fresh = App(
            number: DeviceNumber(0), identity: .draw(random, DeviceNumber(0)), profile: profile,
            random: random, run: 1, clockZero: 0, wallClockAtZero: 0)
        var effects: [PhoneEffect] = []
        fresh.handle(.launched(restored: records, pathAvailable: false), at: .zero, into: &effects)
        return fresh.waiting
    }

    /// Scans that are not settled, wherever they are.
    package var unsettledCount: Int { self.queue.count + self.active.count }

    /// Whether the app is in the background.
    package var isAway: Bool { self.phase.isAway }

    /// Bytes of the preview that the user is shown; 0 without one.
    package var previewBytes: Int { self.preview?.imageBytes ?? 0 }
}
