import Metrics
import Observations
import SimBase
import Talaria

/// Checks the harness: the reports of the backend, the gateway, the faults and the link are compared with the
/// observations of the other sides.
///
/// A fault that fired must have had its effect, and an effect that only a fault explains must have its fault.
/// Quotas are recounted. A job must be served as it was made. An error found here is not the phone's: no
/// measurement of the run is reliable then.
///
/// It receives observations in the ledger's order: those of one instant by side, backend, faults, phones. It
/// remembers only the open state of a phone, so its memory is bounded, and no event allocates once the lists
/// have their size.
///
/// Exchanges are in HarnessChecks+Exchanges, their faults in +Faults, streams in +Streams, jobs in +Jobs, imports and
/// look-ups in +Imports, quotas in +Quotas, the lifecycle of phones in +Life.
struct HarnessChecks: Sendable {
    /// The tolerance for the time of a cut: a phone can date it earlier, since both sides read their clocks
    /// independently.
    static let graceTime = Interval.seconds(1)
    /// A phone that has not noticed the end of its connection by then never will.
    static let noticeTime = Interval.seconds(5)

    /// The largest fleet whose phones are all watched. Of a larger fleet, only every n-th phone is, since
    /// events are half of all observations.
    static let watchedAllMax = 64
    static let watchedShare: UInt32 = 8

    /// Something that the backend did at this instant and that a fault may have caused.
    struct Effect: Sendable {
        enum Kind: Hashable, Sendable {
            case answered(Talaria.Operation, status: Int)
            case tokenRevoked, vanished, jobFailed, degraded, terminalWritten, streamEnded, startedOver
            /// The stream of a job that has ended was ended without its terminal event.
            case terminalOmitted
        }

        let kind: Kind
        let phoneIndex: Int
        let scan: ScanNumber
        /// 0 if it does not belong to an exchange.
        var attempt: UInt32 = 0
        /// Whether only a fault explains it.
        var needsFault: Bool
    }

    /// Something that a phone saw and that only a fault explains, which has not been seen yet.
    struct Doubt: Sendable {
        let phoneIndex: Int
        let scan: ScanNumber
        let operation: Talaria.Operation
        let attempt: UInt32
        let at: Instant
        let text: String
    }

    struct AskedUpload: Sendable {
        /// The index of its phone.
        let phoneIndex: Int
        var upload: QuotaAccount.Upload
    }

    struct Refusal: Sendable {
        let phoneIndex: Int
        let scan: ScanNumber
        let operation: Talaria.Operation
        let attempt: UInt32
        let fault: Int
    }

    struct Phone: Sendable {
        let device: DeviceNumber
        var exchanges: [Exchange] = []
        var jobs: [HarnessJob] = []
        var quotas = QuotaAccount()
        var firings: [Firings] = []
        /// The last exchanges that faults with a limit may hit.
        var armed: [ArmedExchange] = []
        /// The faults that have a share, a bit for each.
        var hitBy: UInt64 = 0
        /// The latest requests for the status of a job: one may be answered after the phone has given it up.
        var polls: [(scan: ScanNumber, attempt: UInt32, job: String)] = []
        /// The latest jobs whose tokens a fault has revoked, for a target behind the gateway.
        var revoked: [(job: String, at: Instant)] = []
        var life = HarnessLifecycle()
        var imports = HarnessImports()
        /// The last look-up that the backend answered, and whether it asked a provider.
        var lookedUp: (scan: ScanNumber, at: Instant, isBilled: Bool)?
    }

    private(set) var settings: HarnessSettings
    /// What the simulated backend finds.
    let shelf: Shelf
    /// Nil for a backend whose reasons for its answers are not known.
    let server: SimulatedServer?
    let hasQuotas: Bool
    private let hasPingFaults: Bool
    private let watchesAll: Bool
    var errors = HarnessErrors()
    var phones: [Phone] = []
    var jobsAlive = 0
    var uploadsOpen = 0
    /// The rows of all files that were prepared.
    var rowsPrepared = 0
    /// Nil without a circuit breaker.
    private(set) var circuit: CircuitAccount?
    private var phoneIndexes = DeviceIndex()
    private(set) var now = Instant(nanoseconds: .min)
    /// The effects of the present instant.
    var effects: [Effect] = []
    /// Uploads whose limits were asked at the present instant.
    var uploads: [AskedUpload] = []
    /// The lifecycle events that began at the present instant.
    var acts: [Act] = []
    /// Requests that were refused at the present instant, and that their phones have not reported yet.
    var refusals: [Refusal] = []
    var doubts: [Doubt] = []
    /// Phones that each fault has hit, of those that have a share.
    var hits: [Int] = []
    /// The end of the backend's observations.
    private var accountEnd: Instant?

    init(_ settings: HarnessSettings, shelf: Shelf) {
        self.settings = settings
        self.shelf = shelf
        if case .simulated(let server) = settings.server { self.server = server } else { self.server = nil }
        let limits = settings.faults.contains { if case .limit = $0 { true } else { false } }
        self.circuit = self.server?.breaker.map { CircuitAccount($0) }
        self.hasQuotas = limits || self.server?.quota != nil
        self.hasPingFaults = settings.faults.contains {
            if case .latePings = $0 { true } else { $0 == .noPings }
        }
        self.watchesAll = settings.fleet.count <= Self.watchedAllMax
    }

    // MARK: Events

    mutating func record(_ observation: borrowing Observation) {
        let (device, scan, at) = (observation.device, observation.scan, observation.at)
        if let end = self.accountEnd, at > end { return }
        if at > self.now { self.pass(to: at) }
        // To look into an observation copies it, and half of them are routine.
        if observation.isRoutine {
            guard self.watches(device) || observation.side == .backend && self.hasPingFaults else { return }
        }
        self.followCircuit(observation)
        if observation.side == .control { return self.allow(observation) }
        guard observation.side != .network, self.settings.fleet.group(of: device) != nil else { return }
        let phoneIndex = self.phoneIndex(of: device)
        switch observation.what {
        case .backend(let payload): self.backend(payload, scan, phoneIndex)
        case .fault(.fired(let fault, let operation, let attempt)):
            self.fired(fault, operation, attempt, scan, phoneIndex)
        case .fault(.decided(let fault, let operation, let attempt, fires: true)):
            self.opened(fault, operation, attempt, scan, phoneIndex)
            guard operation == .upload, self.hasQuotas else { return }
            self.decided(fault, scan, attempt: attempt, at: at, phoneIndex)
        case .fault(.passed(_, let attempt, let events)): self.passed(events, attempt, scan, phoneIndex)
        case .fault(.began(let fault)):
            self.holdToScope(fault, scan, phoneIndex)
            self.began(fault, phoneIndex)
        case .fault(.ended(let fault)): self.ended(fault, phoneIndex)
        case .fault: break
        case .phone(let payload): self.phone(payload, scan, phoneIndex)
        case .network, .control: break
        }
    }

    /// The operator starts a fault: it may act from now on, whatever the scenario says.
    private mutating func allow(_ observation: borrowing Observation) {
        guard case .control(let action) = observation.what else { return }
        switch action {
        case .fault(let fault):
            guard self.settings.rules.indices.contains(fault) else { return }
            self.settings.rules[fault].from = min(self.settings.rules[fault].from, observation.at)
        // A phone loses its path without a fault then, as in a tunnel.
        case .offline: self.settings.hasTunnels = true
        case .stopped, .paused, .resumed, .phones: break
        }
    }

    /// The backend's process died, and had reported everything up to this time.
    mutating func lostBackend(after moment: Instant) {
        self.accountEnd = moment
    }

    /// The end of the run, or of what is known of it.
    mutating func finish() {
        self.settleInstant()
        for doubt in self.doubts { self.report(doubt) }
        self.doubts = []
        self.judgeShares()
        // What was cut just now may be on its way.
        for phoneIndex in self.phones.indices { self.lookForUnnoticed(phoneIndex) }
    }

    /// Whether every event that is written to this phone is followed.
    private func watches(_ device: DeviceNumber) -> Bool {
        self.watchesAll || device.raw % Self.watchedShare == 0
    }

    func watches(_ phoneIndex: Int) -> Bool { self.watches(self.phones[phoneIndex].device) }

    /// Whether the server says once that a job is completed: what follows cannot be blamed on a fault.
    var completesOnce: Bool { self.server?.dialect.completesOnce ?? true }

    /// Whether a phone deviates from the contract on purpose.
    func deviates(_ phoneIndex: Int) -> Bool {
        let device = self.phones[phoneIndex].device
        return self.settings.fleet.value(of: device, in: self.settings.deviations) ?? false
    }

    /// A book of an answer is filed. In an answer that a fault has reordered, no book is at its index.
    mutating func filed(_ book: Book?, _ ordinal: Int, _ scan: ScanNumber, _ phoneIndex: Int) {
        let results = self.phones[phoneIndex].exchanges.last { $0.scan == scan && $0.operation == .results }
        guard self.server != nil, let book, let results, results.isReordered else { return }
        let device = self.phones[phoneIndex].device
        // The books of a captured stream may be alike.
        if case .captured = self.shelf.lookup { return }
        guard ordinal < self.shelf.count(device: device, scan: scan),
            BookKey(book) == BookKey(self.shelf.book(device: device, scan: scan, ordinal: ordinal))
        else { return }
        self.error("book \(ordinal) is at its place, but a fault had reordered the results", scan, phoneIndex)
    }

    // MARK: Time

    private mutating func pass(to moment: Instant) {
        let isQuiet = self.effects.isEmpty && self.uploads.isEmpty && self.refusals.isEmpty
        if !isQuiet || !self.acts.isEmpty { self.settleInstant() }
        self.now = moment
        guard let first = self.doubts.first, first.at + Self.graceTime < moment else { return }
        for doubt in self.doubts where doubt.at + Self.graceTime < moment { self.report(doubt) }
        self.doubts.removeAll { $0.at + Self.graceTime < moment }
    }

    /// Everything of the present instant was seen.
    private mutating func settleInstant() {
        for effect in self.effects where effect.needsFault && !self.deviates(effect.phoneIndex) {
            self.error(
                "\(effect.kind.text), but neither a fault nor anything else explains it", effect.scan,
                effect.phoneIndex)
        }
        self.effects.removeAll(keepingCapacity: true)
        self.refusals.removeAll(keepingCapacity: true)
        for act in self.acts { self.judge(act) }
        self.acts.removeAll(keepingCapacity: true)
        for asked in self.uploads { self.judge(asked.upload, asked.phoneIndex) }
        self.uploads.removeAll(keepingCapacity: true)
    }

    private mutating func report(_ doubt: Doubt) {
        if let end = self.accountEnd, doubt.at > end - Self.graceTime { return }  // The phone saw it die.
        self.errors.add(
            doubt.text, device: self.phones[doubt.phoneIndex].device, scan: doubt.scan, at: doubt.at)
    }

    private mutating func phoneIndex(of device: DeviceNumber) -> Int {
        if let phoneIndex = self.phoneIndexes[device] { return phoneIndex }
        self.phones.append(Phone(device: device))
        self.phoneIndexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }

    /// Whoever the jobs are of, foreign callers included, the breaker counts them.
    private mutating func followCircuit(_ observation: borrowing Observation) {
        guard self.circuit != nil, observation.side == .backend, case .backend(let payload) = observation.what
        else { return }
        let (device, scan, at) = (observation.device, observation.scan, observation.at)
        guard let wrong = self.circuit?.record(payload, device: device, scan: scan, at: at) else { return }
        self.errors.add(wrong, device: device, scan: scan, at: at)
    }

    /// Records an error of this instant.
    mutating func error(_ text: @autoclosure () -> String, _ scan: ScanNumber, _ phoneIndex: Int) {
        self.errors.add(text(), device: self.phones[phoneIndex].device, scan: scan, at: self.now)
    }

    // MARK: Effects

    mutating func note(
        _ kind: Effect.Kind, _ scan: ScanNumber, _ phoneIndex: Int, attempt: UInt32 = 0,
        needsFault: Bool = false
    ) {
        self.effects.append(
            Effect(kind: kind, phoneIndex: phoneIndex, scan: scan, attempt: attempt, needsFault: needsFault))
    }

    /// Takes an effect for that of a fault that has fired.
    ///
    /// - Returns: Whether there was one.
    mutating func explain(_ scan: ScanNumber, _ phoneIndex: Int, where fits: (Effect) -> Bool) -> Bool {
        guard
            let index = self.effects.firstIndex(where: {
                $0.phoneIndex == phoneIndex && $0.scan == scan && fits($0)
            })
        else { return false }
        self.effects[index].needsFault = false
        return true
    }

    /// The number of remembered entries, for tests of its growth.
    var remembered: Int {
        self.phones.reduce(self.doubts.count) {
            $0 + $1.exchanges.count + $1.jobs.count + $1.quotas.remembered + $1.polls.count
                + $1.imports.remembered
        }
    }
}

extension HarnessChecks.Effect.Kind {
    fileprivate var text: String {
        switch self {
        case .answered(let operation, let status): "\(operation.name) was answered with \(status)"
        case .tokenRevoked: "a token was revoked"
        case .vanished: "a job vanished"
        case .jobFailed: "a job failed"
        case .degraded: "a book was degraded"
        case .terminalWritten: "a terminal event was written"
        case .streamEnded: "the backend ended a stream whose job continues"
        case .startedOver: "a stream restarted"
        case .terminalOmitted: "the backend ended a stream without the terminal event of its job"
        }
    }
}
