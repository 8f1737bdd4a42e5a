import Faults
import Observations
import SimBase
import Talaria

/// The causes that act on one scan: on its requests, its jobs, and the chain of errors that is under way.
struct ScanCauses: Sendable {
    /// A fault that has fired on a request. Some change one message only.
    private struct Fired: Sendable {
        let fault: Int
        var hasErred = false
        var hasDeviated = false
    }

    private struct Exchange: Sendable {
        let operation: Operation
        let attempt: UInt32
        var job: String?
        var fired: [Fired] = []
        /// What broke its connection first, or will.
        var hit: Cause?
        /// The faults that may cut it, and whether the server has seen it cut. Until one of them has fired, that is all.
        var armed: [Int] = []
        var isCut = false
        /// Why a gateway had no answer for it.
        var upstream: Cause?
        /// Why it failed, or was refused.
        var failure: Cause?
    }

    private struct Job: Sendable {
        let id: String
        /// Nil for a job of an earlier run.
        var acceptedAt: Instant?
        var isExpired = false
        /// The faults that have changed it, or taken its books.
        var changes: [Int] = []
        /// Why the server has turned it away; it does so from then on.
        var end: Cause?
        var hasResults = false
    }

    private static let exchangesMax = 12
    private static let jobsMax = 4
    private static let firedMax = 16

    let scan: ScanNumber
    private var exchanges: [Exchange] = []
    private var jobs: [Job] = []
    /// The first cause since something went well.
    private var first: Cause?
    private var isSettled = false

    init(scan: ScanNumber) { self.scan = scan }

    /// Whether nothing can follow.
    private(set) var isOver = false

    static func concerns(_ payload: PhoneObservation) -> Bool {
        switch payload {
        case .requestSent, .replied, .requestFailed, .badAnswer, .found, .eventIgnored(_, _, _, true),
            .streamLost,
            .streamOpened, .uploadAccepted, .lookupAnswered, .resultsDecoded, .resultsGivenUp, .statusDecoded,
            .terminalApplied, .cleanupAnswered, .jobAbandoned, .tokenExchanged, .completed, .refused,
            .canceled:
            true
        default: false
        }
    }

    // MARK: What others do to it

    mutating func fired(
        _ fault: Int, _ rule: CauseRules.Fault, _ operation: Operation, _ attempt: UInt32
    ) {
        let index = self.index(of: operation, attempt)
        if self.exchanges[index].fired.count < Self.firedMax {
            self.exchanges[index].fired.append(Fired(fault: fault))
        }
        if rule.effects.connection == .broken { self.hit(index, rule.cause) }
        if let job = self.exchanges[index].job ?? self.jobs.last?.id { self.change(job, by: fault, rule) }
    }

    private mutating func change(_ job: String, by fault: Int, _ rule: CauseRules.Fault) {
        guard rule.kind.has(.changesJob) || rule.effects.takesBooks else { return }
        self.updateJob(job) { if !$0.changes.contains(fault) { $0.changes.append(fault) } }
    }

    /// Names the job of an exchange. Live, a fault may be observed to fire on it before the phone is.
    private mutating func concern(_ index: Int, _ job: String, _ rules: CauseRules) {
        self.exchanges[index].job = job
        for fired in self.exchanges[index].fired {
            if let rule = rules[fired.fault] { self.change(job, by: fired.fault, rule) }
        }
    }

    mutating func armed(_ fault: Int, _ attempt: UInt32) {
        let index = self.index(of: .stream, attempt)
        if self.exchanges[index].armed.count < Self.firedMax { self.exchanges[index].armed.append(fault) }
    }

    mutating func streamCut(_ attempt: UInt32) {
        self.exchanges[self.index(of: .stream, attempt)].isCut = true
    }

    mutating func upstreamFailed(_ operation: Operation, _ attempt: UInt32, _ cause: Cause) {
        self.exchanges[self.index(of: operation, attempt)].upstream = cause
    }

    mutating func jobExpired(_ job: String) {
        for index in self.jobs.indices where self.jobs[index].id == job { self.jobs[index].isExpired = true }
    }

    mutating func pathFailed(_ cause: Cause) {
        for index in self.exchanges.indices { self.hit(index, cause) }
    }

    /// The process was stopped, or the app was.
    mutating func interrupted(by cause: Cause) { self.first = self.first ?? cause }

    private mutating func hit(_ index: Int, _ cause: Cause) {
        self.exchanges[index].hit = self.exchanges[index].hit ?? cause
    }

    // MARK: The phone

    mutating func record(
        _ payload: PhoneObservation, at: Instant, _ phone: PhoneMoment, _ rules: CauseRules
    ) -> Cause? {
        switch payload {
        case .requestSent(let operation, let attempt, let job, _):
            let index = self.index(of: operation, attempt)
            if let job { self.concern(index, job, rules) }
            if let trouble = phone.trouble, trouble.isPresent { self.hit(index, trouble.cause) }
        case .replied(let operation, let attempt, let status, _):
            guard PhoneObservation.isError(status: status) else { return nil }
            let index = self.index(of: operation, attempt)
            return self.failed(index, self.causeOfAnswer(index, status: status, at: at, rules))
        case .requestFailed(let operation, let attempt, let failure, _):
            let index = self.index(of: operation, attempt)
            return self.failed(index, self.causeOfFailure(index, failure, phone, rules))
        case .badAnswer(let operation, let attempt, let problem):
            guard problem != .notSuccess else { return nil }
            let index = self.index(of: operation, attempt)
            return self.failed(index, self.garbler(of: operation, index, rules) ?? .target)
        case .eventIgnored: return self.garbler(of: .stream, self.lastIndex(of: .stream), rules) ?? .target
        case .found(let finding): return self.cause(of: finding, rules)
        case .streamLost(let job, let attempt, let loss, _):
            let index = self.index(of: .stream, attempt)
            return self.failed(index, self.causeOfLoss(index, job: job, loss, phone, rules))
        case .refused(_, let cause):
            let blamed = self.causeOfRefusal(cause, rules)
            self.settle()
            return blamed
        case .resultsGivenUp: return self.first ?? .target
        default: self.wentWell(payload, at: at, rules)
        }
        return nil
    }

    /// The cause of what is new in the chain. The first one stays that of the chain.
    private mutating func failed(_ index: Int, _ cause: Cause) -> Cause {
        self.exchanges[index].failure = self.exchanges[index].failure ?? cause
        self.first = self.first ?? cause
        return cause
    }

    private mutating func wentWell(_ payload: PhoneObservation, at: Instant, _ rules: CauseRules) {
        switch payload {
        case .uploadAccepted(let job, _, _):
            self.updateJob(job) { $0.acceptedAt = at }
            if let index = self.lastIndex(of: .upload) { self.concern(index, job, rules) }
            self.first = nil
        case .tokenExchanged(let job, _):
            self.updateJob(job) { $0.acceptedAt = at }
            self.first = nil
        case .streamOpened, .lookupAnswered, .statusDecoded, .terminalApplied: self.first = nil
        case .resultsDecoded(let job, _, _):
            self.updateJob(job) { $0.hasResults = true }
            self.first = nil
        case .completed, .canceled: self.settle()
        case .cleanupAnswered(let job, _, _), .jobAbandoned(let job, _):
            self.jobs.removeAll { $0.id == job }
            self.isOver = self.isSettled && self.jobs.isEmpty
        default: break
        }
    }

    private mutating func settle() {
        self.isSettled = true
        self.isOver = self.jobs.isEmpty
    }

    // MARK: Causes

    private mutating func causeOfAnswer(_ index: Int, status: Int, at: Instant, _ rules: CauseRules) -> Cause
    {
        let exchange = self.exchanges[index]
        if let fired = exchange.fired.compactMap({ rules[$0.fault] }).first(where: {
            $0.effects.status == status
        }) {
            return fired.cause
        }
        if let upstream = exchange.upstream, status == 502 || status == 504 { return upstream }
        if let cut = self.causeOfMissingJob(exchange, status: status) { return cut }
        // Only these say that a job, or its token, is over: that may be the end of a chain.
        guard status == 401 || status == 404 || status == 410, let id = exchange.job,
            let job = self.jobs.firstIndex(where: { $0.id == id })
        else { return .target }
        let cause =
            self.jobs[job].changes.compactMap { rules[$0] }
            .first { $0.effects.status == status || status != 401 && $0.effects.failsJob }?.cause
            ?? self.jobs[job].end ?? (self.isOld(self.jobs[job], at: at, rules) ? self.first : nil)
        self.jobs[job].end = cause ?? .target
        return cause ?? .target
    }

    /// A DELETE that was cut may have done its work: that the job is gone then follows from the cut.
    private func causeOfMissingJob(_ exchange: Exchange, status: Int) -> Cause? {
        guard status == 404 || status == 410, exchange.operation == .cleanup || exchange.operation == .cancel
        else { return nil }
        return self.exchanges.first {
            $0.operation == exchange.operation && $0.job == exchange.job && $0.attempt < exchange.attempt
                && $0.failure != nil
        }?.failure
    }

    /// Whether the server may have forgotten the job, or its token, because of its age.
    private func isOld(_ job: Job, at: Instant, _ rules: CauseRules) -> Bool {
        job.isExpired || job.acceptedAt.map { at - $0 >= rules.tokenLifetime } ?? true
    }

    private func causeOfFailure(
        _ index: Int, _ failure: TransportFailure, _ phone: PhoneMoment, _ rules: CauseRules
    ) -> Cause {
        if let hit = self.exchanges[index].hit { return hit }
        if let trouble = phone.trouble, trouble.isPresent { return trouble.cause }
        return self.exchanges[index].fired.compactMap { rules[$0.fault] }
            .first { $0.effects.explains(failure) }?.cause ?? failure.cause
    }

    private func causeOfLoss(
        _ index: Int, job: String, _ loss: LossCause, _ phone: PhoneMoment, _ rules: CauseRules
    ) -> Cause {
        let exchange = self.exchanges[index]
        switch loss {
        case .killed: return phone.death
        case .foreignURL: return .target
        case .offline, .handover: return exchange.hit ?? phone.trouble?.cause ?? .path
        case .connectFailed, .refusedByStatus, .badAnswer, .noAnswer, .reset, .endWithoutTerminal, .silence,
            .closedGoingAway, .closedProtocolError,
            .closedPolicyViolation, .closedMessageTooBig, .closedInternalError, .closedServiceRestart,
            .closedTryAgainLater, .closedOtherwise:
            break
        }
        // Of a request that had failed before, say by an end that cannot be read, this follows.
        if let failure = exchange.failure { return failure }
        if let hit = exchange.hit { return hit }
        let changes = self.jobs.first { $0.id == job }?.changes ?? []
        let ending = (exchange.fired.map(\.fault) + changes).compactMap { rules[$0] }.first { fault in
            switch fault.effects.connection {
            case .ended: loss == .endWithoutTerminal || loss == .reset || loss.isClose
            case .slowed: loss == .silence || loss == .noAnswer
            case .quiet: loss == .silence
            case .broken, .untouched: false
            }
        }
        let armed = exchange.isCut ? exchange.armed : []
        return (ending ?? armed.compactMap { rules[$0] }.first { $0.kind.cuts(as: loss) })?.cause ?? .target
    }

    /// The fault that made an answer or an event unreadable; nil if none did.
    private mutating func garbler(of operation: Operation, _ index: Int?, _ rules: CauseRules) -> Cause? {
        guard let index else { return nil }
        return self.take(index, \.hasErred, rules) { $0.effects.garbles }
    }

    private mutating func cause(of finding: ContractFinding, _ rules: CauseRules) -> Cause {
        guard finding.side == .target else { return .phone }
        guard let index = self.lastIndex(of: finding.operation.counted) else { return .target }
        if let cause = self.take(index, \.hasDeviated, rules, where: { $0.effects.changes(finding) }) {
            return cause
        }
        guard finding.operation == .stream, let id = self.exchanges[index].job,
            let job = self.jobs.first(where: { $0.id == id })
        else { return .target }
        // The number of books is compared with those that arrived, with the event or with the results.
        let isCount = finding.path == "summary.totalDetected" && !job.hasResults
        return job.changes.compactMap { rules[$0] }.first { fault in
            isCount && fault.effects.takesBooks
                || fault.kind.has(.changesJob) && fault.effects.changes(finding)
        }?.cause ?? .target
    }

    /// The first fault of a request that applies. One that changes a single message is used up by it.
    private mutating func take(
        _ index: Int, _ use: WritableKeyPath<Fired, Bool>, _ rules: CauseRules,
        where applies: (CauseRules.Fault) -> Bool
    ) -> Cause? {
        for place in self.exchanges[index].fired.indices {
            let fired = self.exchanges[index].fired[place]
            guard let rule = rules[fired.fault], applies(rule) else { continue }
            guard rule.effects.isSingle else { return rule.cause }
            guard !fired[keyPath: use] else { continue }
            self.exchanges[index].fired[place][keyPath: use] = true
            return rule.cause
        }
        return nil
    }

    private func causeOfRefusal(_ cause: RefusalCause?, _ rules: CauseRules) -> Cause {
        switch cause {
        case .answer(let operation, let attempt, _, _):
            let exchange = self.exchanges.last { $0.operation == operation.counted && $0.attempt == attempt }
            return exchange?.failure ?? .target
        case .event(let id, _):
            let changes = self.jobs.first { $0.id == id }?.changes ?? []
            return changes.compactMap { rules[$0] }.first { $0.effects.failsJob }?.cause ?? .target
        case .photo, .storage, .queue: return .phone
        case nil: return self.first ?? .target
        }
    }

    // MARK: Indexes

    private func lastIndex(of operation: Operation) -> Int? {
        self.exchanges.lastIndex { $0.operation == operation }
    }

    private mutating func index(of operation: Operation, _ attempt: UInt32) -> Int {
        let operation = operation.counted
        let known = self.exchanges.lastIndex { $0.operation == operation && $0.attempt == attempt }
        if let known { return known }
        if self.exchanges.count == Self.exchangesMax { self.exchanges.removeFirst() }
        self.exchanges.append(Exchange(operation: operation, attempt: attempt))
        return self.exchanges.count - 1
    }

    private mutating func updateJob(_ id: String, _ change: (inout Job) -> Void) {
        if let index = self.jobs.firstIndex(where: { $0.id == id }) {
            change(&self.jobs[index])
            return
        }
        if self.jobs.count == Self.jobsMax { self.jobs.removeFirst() }
        var job = Job(id: id)
        change(&job)
        self.jobs.append(job)
    }
}
