import Observations
import SimBase
import Talaria

/// retry.budget: checks whether each attempt waits for its backoff after the previous failure, and no longer.
///
/// A wait is judged from the moment at which the phone knew of the failure to the next request of the same
/// kind for the same scan (for a DELETE: the same job). It is at least the wait that the server requested
/// and, if nothing else holds the phone back, at most min(cap, base x 2^n). Other reasons are: no path, the
/// background, a 429 or a full storage for uploads, and no free slot. The distribution of the waits below
/// their ceilings is judged over the fleet (`BackoffSamples`).
///
/// The number of attempts is not limited while a job lives, but the number of jobs is (Docs/design.md section
/// 6): a retryable `error` event leads to one upload, after 2 s, and a job rejected with 401, 404 or 410 to
/// three. The scan then waits until the app is opened, or after an `error` event until the path returns.
/// Counted from the start of the process to its end.
struct BackoffCheck: Sendable {
    struct Complaint: Sendable {
        var invariant: Invariant
        var text: String
    }

    /// The waits of one operation for one scan, from its first failure to its next success.
    private struct Chain: Sendable {
        let operation: Operation
        let scan: ScanNumber
        /// The job that a DELETE is for; nil for other operations.
        let job: String?
        var failures = 0
        /// The moment of the last failed attempt; nil while one is open.
        var failedAt: Instant?
        /// The wait that the server requested with it.
        var asked: Interval?
        /// The moment of failure is known exactly: the phone says nothing at the end of some answers.
        var isExact = true
        /// The answer was a 429: its wait is judged by limit.honoured.
        var isLimited = false
        /// A server's `retry:` has raised the base of the last wait, or may have.
        var raise = Raise.none
        /// The moment since which something else has held back the next attempt.
        var heldAt: Instant?
    }

    /// The state of a server's `retry:`.
    private enum Raise: Sendable {
        /// No stream of the job has been open.
        case none
        /// One was, and nobody knows how much of it has come.
        case unsure
        case raised
    }

    /// The end of an upload that has not returned to the queue yet.
    private enum End: Sendable {
        case answered(Int)
        case failed
        /// The path was lost: not a failure.
        case withoutPath
    }

    /// Jobs of one scan that ended without its books.
    private struct Restarts: Sendable {
        let scan: ScanNumber
        /// The number of `error` events.
        var errors = 0
        var erredAt = Instant.zero
        /// The path has returned since the last one, or the app was opened.
        var mayFollowError = false
        /// The number of refusals of its stream or its results.
        var refusals = 0
        /// Whether the app was opened since the last refusal.
        var mayFollowRefusal = false
        /// Whether such a response has arrived and the scan has not returned to the queue yet.
        var isRefused = false
    }

    private struct Phone: Sendable {
        let slotsMax: Int
        var chains: [Chain] = []
        var restarts: [Restarts] = []
        var uploads: [(scan: ScanNumber, attempt: UInt32, end: End)] = []
        /// DELETEs under way.
        var cleanups: [(scan: ScanNumber, attempt: UInt32, job: String)] = []
        /// The waits that responses in flight request.
        var told: [(operation: Operation, scan: ScanNumber, attempt: UInt32, wait: Interval, status: Int)] =
            []
        var slots = 0
        /// Streams that were opened, by the scans whose jobs they follow; only where a server says `retry:`.
        var raises: [(scan: ScanNumber, raise: Raise)] = []
        var isOnScreen = true
        var hasPath = true
        var isFull = false
        /// Uploads wait until then: for a 429, or for the moment at which the queue opens after an outage.
        var opensAt = Instant.zero
        /// The phone's word of a 429 whose wait is zero.
        var mayComeAtOnce: ScanNumber?

        init(slotsMax: Int) { self.slotsMax = slotsMax }
    }

    /// Beyond its ceiling, a stream may be late by this.
    static let tick = Interval.milliseconds(1)
    /// And what waits for a write, a photo or the end of an answer's body, by this.
    static let slack = Interval.seconds(2)
    private static let cleanupsMax = 10
    private static let toldMax = 64
    /// Uploads that the contract has a phone make by itself, and the pause before the first of them.
    static let errorRetriesMax = 1
    static let errorPause = Interval.seconds(2)
    static let refusalRetriesMax = 3

    private let base: Interval
    private let cap: Interval
    /// The server's `retry:` raises the base of streams.
    private let retry: Interval?
    private let returnTime: Interval
    private var phones: [Phone] = []
    private(set) var samples = BackoffSamples()
    private var herds = RetryStormDetector()
    /// Streams that had failures, of all phones: their next event ends the chain.
    private(set) var streamChains = 0
    /// Streams that were opened, and of which nothing else has come so far.
    private var unsure = 0
    private var complaints: [Complaint] = []

    init(_ settings: SimulationInvariantSettings) {
        self.base = settings.backoffBase
        self.cap = settings.backoffCap
        self.retry = settings.retryField
        self.returnTime = settings.herdTime
    }

    var remembered: Int {
        self.phones.reduce(0) {
            $0 + $1.chains.count + $1.restarts.count + $1.uploads.count + $1.cleanups.count + $1.told.count
                + $1.raises.count
        }
    }

    /// Whether events and pings, of which there are many, mean anything just now.
    var followsStreams: Bool { self.streamChains > 0 || self.unsure > 0 }

    /// Adds a phone with the next index.
    mutating func add(slotsMax: Int) { self.phones.append(Phone(slotsMax: slotsMax)) }

    /// Returns and removes the complaints of the last observation.
    mutating func takeComplaints() -> [Complaint] {
        guard !self.complaints.isEmpty else { return [] }
        defer { self.complaints = [] }
        return self.complaints
    }

    /// Returns the complaints that only the whole run shows.
    mutating func end(at now: Instant) -> [Complaint] {
        for phoneIndex in self.phones.indices { self.drop(phoneIndex, now) { _ in true } }
        self.report(self.herds.end())
        return self.takeComplaints()
            + self.samples.findings.map { Complaint(invariant: .retryBudget, text: $0.text) }
    }

    private mutating func report(_ herd: RetryStormDetector.Herd?) {
        guard let herd else { return }
        self.complaints.append(
            Complaint(
                invariant: .herdBounded,
                text:
                    "\(herd.count) retries within \(RetryStormDetector.window.wholeMilliseconds) ms; full jitter produces about \(herd.expected)"
            ))
    }

    // MARK: What is seen

    mutating func receivedRetryAfter(
        _ operation: Operation, scan: ScanNumber, attempt: UInt32, wait: Interval, status: Int,
        phoneIndex: Int
    ) {
        self.phones[phoneIndex].told.removeAll { $0.operation == operation && $0.scan == scan }
        if self.phones[phoneIndex].told.count == Self.toldMax { self.phones[phoneIndex].told.removeFirst() }
        self.phones[phoneIndex].told.append((operation, scan, attempt, wait, status))
    }

    /// A fault cut the exchange: what its answer requests may not have arrived.
    mutating func cut(_ operation: Operation, scan: ScanNumber, attempt: UInt32, phoneIndex: Int) {
        self.phones[phoneIndex].told.removeAll {
            $0.operation == operation && $0.scan == scan && $0.attempt == attempt
        }
    }

    mutating func record(_ payload: PhoneObservation, scan: ScanNumber, at: Instant, phoneIndex: Int) {
        if self.retry != nil { self.followRaise(payload, scan, phoneIndex) }
        switch payload {
        case .requestSent(let operation, let attempt, let job, _):
            self.sent(operation, scan, attempt, job, at, phoneIndex)
        case .replied(let operation, let attempt, let status, _):
            self.replied(operation, scan, attempt, status, at, phoneIndex)
        case .requestFailed(let operation, let attempt, let failure, _):
            self.failed(operation, scan, attempt, failure, at, phoneIndex)
        case .badAnswer(.results, _, _):
            self.failure(.results, scan, job: nil, isExact: true, at, phoneIndex)
        case .streamLost(_, let attempt, let cause, _):
            self.failure(.stream, scan, job: nil, isExact: true, at, phoneIndex)
            self.ask(.stream, scan, attempt, job: nil, phoneIndex)
            if cause == .offline || cause == .handover { self.hold(phoneIndex, at) { $0.scan == scan } }
        case .queued: self.queued(scan, at, phoneIndex)
        case .rateLimited(.upload, let wait):
            self.phones[phoneIndex].mayComeAtOnce = wait == .zero ? scan : nil
            guard wait > .zero else { return }
            self.phones[phoneIndex].opensAt = max(self.phones[phoneIndex].opensAt, at + wait)
            self.hold(phoneIndex, at) { $0.operation == .upload }
        case .uploadAccepted:
            self.phones[phoneIndex].uploads.removeAll { $0.scan == scan }
            self.drop(phoneIndex, at) { $0.operation == .upload && $0.scan == scan }
        case .eventApplied(_, _, let kind, _, _) where !kind.isTerminal:
            self.drop(phoneIndex, at) { $0.operation == .stream && $0.scan == scan }
        case .terminalApplied(_, let kind, _):
            if kind == .error { self.jobErred(scan, at, phoneIndex) }
            self.drop(phoneIndex, at) { $0.operation == .stream && $0.scan == scan }
        case .resultsDecoded:
            self.drop(phoneIndex, at) { $0.operation == .results && $0.scan == scan }
        case .cleanupAnswered(let job, _, _):
            self.drop(phoneIndex, at) { $0.operation == .cleanup && $0.job == job }
        case .jobAbandoned(let job, _):
            self.drop(phoneIndex, at) { chain in
                chain.operation == .cleanup
                    ? chain.job == job : chain.scan == scan && chain.operation != .upload
            }
        case .completed, .refused:
            self.phones[phoneIndex].uploads.removeAll { $0.scan == scan }
            self.phones[phoneIndex].restarts.removeAll { $0.scan == scan }
            self.drop(phoneIndex, at) { $0.scan == scan && $0.operation != .cleanup }
        case .photoPrepared: self.void(.upload, scan, phoneIndex)
        case .slotTaken:
            self.phones[phoneIndex].slots += 1
            guard self.phones[phoneIndex].slots >= self.phones[phoneIndex].slotsMax else { return }
            self.hold(phoneIndex, at) { $0.operation == .upload }
        case .slotGiven: self.phones[phoneIndex].slots = max(0, self.phones[phoneIndex].slots - 1)
        case .storageFilled:
            self.phones[phoneIndex].isFull = true
            self.hold(phoneIndex, at) { $0.operation == .upload }
        case .storageFreed: self.phones[phoneIndex].isFull = false
        case .pathLost:
            self.phones[phoneIndex].hasPath = false
            self.hold(phoneIndex, at) { _ in true }
        case .pathReturned, .pathChanged:
            self.hold(phoneIndex, at) { _ in true }
            if payload == .pathReturned { self.phones[phoneIndex].hasPath = true }
            self.release(phoneIndex, isOpened: false)
            self.phones[phoneIndex].opensAt = max(self.phones[phoneIndex].opensAt, at + self.returnTime)
        case .suspended:
            self.phones[phoneIndex].isOnScreen = false
            self.hold(phoneIndex, at) { _ in true }
            self.drop(phoneIndex, at) { $0.operation == .stream || $0.operation == .results }
        case .resumed:
            self.phones[phoneIndex].isOnScreen = true
            self.release(phoneIndex, isOpened: true)
            self.hold(phoneIndex, at) { _ in true }
        case .killed, .reinstalled, .launched:
            self.hold(phoneIndex, at) { _ in true }
            self.drop(phoneIndex, at) { _ in true }
            // A process that has no path says so.
            let isFull = self.phones[phoneIndex].isFull
            self.unsure -= self.phones[phoneIndex].raises.count { $0.raise == .unsure }
            self.phones[phoneIndex] = Phone(slotsMax: self.phones[phoneIndex].slotsMax)
            self.phones[phoneIndex].isFull = isFull
        default: break
        }
    }

    // MARK: A server's `retry:`

    /// It stands after the head of each stream: whatever else comes of the stream comes after it. It holds as long as the
    /// phone follows the job.
    private mutating func followRaise(_ payload: PhoneObservation, _ scan: ScanNumber, _ phoneIndex: Int) {
        let index = self.phones[phoneIndex].raises.firstIndex { $0.scan == scan }
        switch payload {
        case .streamOpened:
            guard index == nil else { return }
            self.phones[phoneIndex].raises.append((scan, .unsure))
            self.unsure += 1
        case .ping, .eventApplied, .eventIgnored, .firstEvent:
            guard let index, self.phones[phoneIndex].raises[index].raise == .unsure else { return }
            self.phones[phoneIndex].raises[index].raise = .raised
            self.unsure -= 1
        case .uploadAccepted, .queued, .completed, .refused:
            guard let index else { return }
            if self.phones[phoneIndex].raises.remove(at: index).raise == .unsure { self.unsure -= 1 }
        default: break
        }
    }

    // MARK: Failures

    private mutating func replied(
        _ operation: Operation, _ scan: ScanNumber, _ attempt: UInt32, _ status: Int, _ at: Instant,
        _ phoneIndex: Int
    ) {
        switch operation {
        case .upload:
            self.phones[phoneIndex].uploads.removeAll { $0.scan == scan }
            self.phones[phoneIndex].uploads.append((scan, attempt, .answered(status)))
        case .stream where Self.endsJob(status), .results where Self.endsJob(status):
            self.changeRestarts(scan, phoneIndex) { $0.isRefused = true }
        case .results, .cleanup:
            let job = operation == .cleanup ? self.takeCleanup(scan, attempt, phoneIndex) : nil
            guard status == 408 || status == 429 || status >= 500 else { return }
            self.failure(operation, scan, job: job, isExact: false, at, phoneIndex)
            self.ask(operation, scan, attempt, job: job, phoneIndex)
        case .stream, .status, .cancel: break
        }
    }

    private mutating func failed(
        _ operation: Operation, _ scan: ScanNumber, _ attempt: UInt32, _ failure: TransportFailure,
        _ at: Instant, _ phoneIndex: Int
    ) {
        switch operation {
        case .upload:
            self.phones[phoneIndex].uploads.removeAll { $0.scan == scan }
            self.phones[phoneIndex].uploads.append(
                (scan, attempt, failure == .noPath ? .withoutPath : .failed))
        case .results:
            self.failure(.results, scan, job: nil, isExact: true, at, phoneIndex)
            if failure == .noPath {
                self.hold(phoneIndex, at) { $0.scan == scan && $0.operation == .results }
            }
        case .cleanup:
            let job = self.takeCleanup(scan, attempt, phoneIndex)
            guard failure != .noPath else { return }
            self.failure(.cleanup, scan, job: job, isExact: true, at, phoneIndex)
        case .stream, .status, .cancel: break  // A stream that is lost is told as such.
        }
    }

    private mutating func takeCleanup(_ scan: ScanNumber, _ attempt: UInt32, _ phoneIndex: Int) -> String? {
        guard
            let index = self.phones[phoneIndex].cleanups.firstIndex(where: {
                $0.scan == scan && $0.attempt == attempt
            })
        else { return nil }
        return self.phones[phoneIndex].cleanups.remove(at: index).job
    }

    /// An upload that goes back to the queue has failed, unless its path did or a limit turned it down.
    private mutating func queued(_ scan: ScanNumber, _ at: Instant, _ phoneIndex: Int) {
        self.drop(phoneIndex, at) { $0.scan == scan && ($0.operation == .stream || $0.operation == .results) }
        self.jobRefused(scan, phoneIndex)
        let mayComeAtOnce = self.phones[phoneIndex].mayComeAtOnce == scan
        if mayComeAtOnce { self.phones[phoneIndex].mayComeAtOnce = nil }
        guard let index = self.phones[phoneIndex].uploads.firstIndex(where: { $0.scan == scan }) else {
            return
        }
        let upload = self.phones[phoneIndex].uploads.remove(at: index)
        switch upload.end {
        case .withoutPath: return
        case .answered(429) where !mayComeAtOnce: return
        case .answered, .failed: break
        }
        self.failure(.upload, scan, job: nil, isExact: true, at, phoneIndex)
        self.ask(.upload, scan, upload.attempt, job: nil, phoneIndex)
    }

    private mutating func failure(
        _ operation: Operation, _ scan: ScanNumber, job: String?, isExact: Bool, _ at: Instant,
        _ phoneIndex: Int
    ) {
        let index: Int
        if let known = self.index(operation, scan, job, phoneIndex) {
            index = known
        } else {
            self.phones[phoneIndex].chains.append(Chain(operation: operation, scan: scan, job: job))
            index = self.phones[phoneIndex].chains.count - 1
            if operation == .stream { self.streamChains += 1 }
        }
        guard self.phones[phoneIndex].chains[index].failedAt == nil else { return }  // It was told already.
        self.phones[phoneIndex].chains[index].failures += 1
        self.phones[phoneIndex].chains[index].failedAt = at
        self.phones[phoneIndex].chains[index].asked = nil
        self.phones[phoneIndex].chains[index].isLimited = false
        self.phones[phoneIndex].chains[index].isExact = isExact
        if operation == .stream {
            let opened = self.phones[phoneIndex].raises.firstIndex { $0.scan == scan }
            self.phones[phoneIndex].chains[index].raise =
                opened.map { self.phones[phoneIndex].raises[$0].raise } ?? .none
        }
        let isHeld = self.isHeld(operation, at, phoneIndex)
        self.phones[phoneIndex].chains[index].heldAt = isHeld ? at : nil
        guard !isHeld, self.isDrawnFreely(self.phones[phoneIndex].chains[index]) else { return }
        self.report(self.herds.began(ceiling: self.ceiling(self.phones[phoneIndex].chains[index]), at: at))
    }

    private func isHeld(_ operation: Operation, _ at: Instant, _ phoneIndex: Int) -> Bool {
        let phone = self.phones[phoneIndex]
        if !phone.hasPath || !phone.isOnScreen { return true }
        switch operation {
        case .upload: return phone.isFull || phone.slots >= phone.slotsMax || at < phone.opensAt
        case .cleanup: return phone.cleanups.count >= Self.cleanupsMax
        case .stream, .results, .status, .cancel: return false
        }
    }

    private func index(_ operation: Operation, _ scan: ScanNumber, _ job: String?, _ phoneIndex: Int) -> Int?
    {
        self.phones[phoneIndex].chains.firstIndex {
            $0.operation == operation && $0.scan == scan && $0.job == job
        }
    }

    /// Applies a wait that the server requested to the wait that has just begun.
    private mutating func ask(
        _ operation: Operation, _ scan: ScanNumber, _ attempt: UInt32, job: String?, _ phoneIndex: Int
    ) {
        guard
            let told = self.phones[phoneIndex].told.firstIndex(where: {
                $0.operation == operation && $0.scan == scan && $0.attempt == attempt
            })
        else { return }
        let answer = self.phones[phoneIndex].told.remove(at: told)
        guard let index = self.index(operation, scan, job, phoneIndex) else { return }
        self.phones[phoneIndex].chains[index].asked = answer.wait
        self.phones[phoneIndex].chains[index].isLimited = answer.status == 429
    }

    // MARK: Jobs in vain

    private mutating func changeRestarts(
        _ scan: ScanNumber, _ phoneIndex: Int, _ change: (inout Restarts) -> Void
    ) {
        if let index = self.phones[phoneIndex].restarts.firstIndex(where: { $0.scan == scan }) {
            change(&self.phones[phoneIndex].restarts[index])
        } else {
            var restarts = Restarts(scan: scan)
            change(&restarts)
            self.phones[phoneIndex].restarts.append(restarts)
        }
    }

    private static func endsJob(_ status: Int) -> Bool { status == 401 || status == 404 || status == 410 }

    /// If the event is final, the scan is refused next.
    private mutating func jobErred(_ scan: ScanNumber, _ at: Instant, _ phoneIndex: Int) {
        self.changeRestarts(scan, phoneIndex) { restarts in
            restarts.errors += 1
            restarts.erredAt = at
            restarts.mayFollowError = false
        }
    }

    /// An app that goes to the background gives its scans back, whatever they were answered.
    private mutating func jobRefused(_ scan: ScanNumber, _ phoneIndex: Int) {
        guard
            let index = self.phones[phoneIndex].restarts.firstIndex(where: { $0.scan == scan && $0.isRefused }
            )
        else { return }
        self.phones[phoneIndex].restarts[index].isRefused = false
        guard self.phones[phoneIndex].isOnScreen else { return }
        self.phones[phoneIndex].restarts[index].refusals += 1
        self.phones[phoneIndex].restarts[index].mayFollowRefusal = false
    }

    /// Releases the retries that waited for the path, or for the app to be opened.
    private mutating func release(_ phoneIndex: Int, isOpened: Bool) {
        for index in self.phones[phoneIndex].restarts.indices {
            self.phones[phoneIndex].restarts[index].mayFollowError = true
            if isOpened { self.phones[phoneIndex].restarts[index].mayFollowRefusal = true }
        }
    }

    private mutating func judgeRestart(_ scan: ScanNumber, _ at: Instant, _ phoneIndex: Int) {
        guard let restarts = self.phones[phoneIndex].restarts.first(where: { $0.scan == scan }) else {
            return
        }
        let pause = at - restarts.erredAt
        if restarts.errors == 1, pause < Self.errorPause {
            self.complain(
                "uploaded again \(pause.wholeMilliseconds) ms after an error event (minimum: \(Self.errorPause.wholeMilliseconds) ms)"
            )
        }
        if restarts.errors > Self.errorRetriesMax, !restarts.mayFollowError {
            self.complain(
                "uploaded again by itself after error event \(restarts.errors) of the scan's jobs (allowed: once)"
            )
        }
        if restarts.refusals > Self.refusalRetriesMax, !restarts.mayFollowRefusal {
            self.complain(
                "uploaded again by itself after its jobs were rejected \(restarts.refusals) times (allowed: \(Self.refusalRetriesMax) times)"
            )
        }
    }

    // MARK: Ends of waits

    /// Something else holds back what waits, from now on.
    private mutating func hold(_ phoneIndex: Int, _ at: Instant, _ isMeant: (Chain) -> Bool) {
        for index in self.phones[phoneIndex].chains.indices
        where self.phones[phoneIndex].chains[index].heldAt == nil
            && isMeant(self.phones[phoneIndex].chains[index])
        {
            self.phones[phoneIndex].chains[index].heldAt = at
        }
    }

    /// The photo was prepared again: nobody knows what the upload has waited for.
    private mutating func void(_ operation: Operation, _ scan: ScanNumber, _ phoneIndex: Int) {
        guard let index = self.index(operation, scan, nil, phoneIndex) else { return }
        self.phones[phoneIndex].chains[index].failedAt = nil
    }

    private mutating func drop(_ phoneIndex: Int, _ at: Instant, _ isMeant: (Chain) -> Bool) {
        while let index = self.phones[phoneIndex].chains.firstIndex(where: isMeant) {
            let chain = self.phones[phoneIndex].chains.remove(at: index)
            if chain.operation == .stream { self.streamChains -= 1 }
            if let failedAt = chain.failedAt {
                self.sample(chain, wait: nil, watched: (chain.heldAt ?? at) - failedAt)
            }
        }
    }

    private mutating func sent(
        _ operation: Operation, _ scan: ScanNumber, _ attempt: UInt32, _ job: String?, _ at: Instant,
        _ phoneIndex: Int
    ) {
        let job = operation == .cleanup ? job : nil
        if operation == .cleanup, let job {
            self.phones[phoneIndex].cleanups.append((scan, attempt, job))
            if self.phones[phoneIndex].cleanups.count >= Self.cleanupsMax {
                self.hold(phoneIndex, at) { $0.operation == .cleanup }
            }
            if self.phones[phoneIndex].cleanups.count > Self.toldMax {
                self.phones[phoneIndex].cleanups.removeFirst()
            }
        }
        if operation == .upload {
            self.phones[phoneIndex].uploads.removeAll { $0.scan == scan }
            self.judgeRestart(scan, at, phoneIndex)
        }
        guard let index = self.index(operation, scan, job, phoneIndex),
            let failedAt = self.phones[phoneIndex].chains[index].failedAt
        else { return }
        let chain = self.phones[phoneIndex].chains[index]
        self.phones[phoneIndex].chains[index].failedAt = nil
        self.phones[phoneIndex].chains[index].heldAt = nil
        self.judge(chain, waited: at - failedAt, at: at)
    }

    private mutating func judge(_ chain: Chain, waited: Interval, at: Instant) {
        if let asked = chain.asked, !chain.isLimited, waited < asked {
            self.complain(
                "\(chain.operation.name) sent \((asked - waited).wholeMilliseconds) ms before the end of the wait that the server requested"
            )
        }
        if let heldAt = chain.heldAt, let failedAt = chain.failedAt {
            self.sample(chain, wait: nil, watched: heldAt - failedAt)
            return
        }
        self.sample(chain, wait: waited, watched: waited)
        if chain.asked == nil, self.isDrawnFreely(chain) { self.report(self.herds.ended(at: at)) }
        let ceiling = self.ceiling(chain)
        // A header is rounded up to whole seconds.
        let most = max(ceiling, chain.asked.map { $0 + .seconds(1) } ?? .zero)
        let late = chain.isExact && chain.operation == .stream ? Self.tick : Self.slack
        guard waited > most + late else { return }
        self.complain(
            "\(chain.operation.name) waited \(waited.wholeMilliseconds) ms after consecutive failure \(chain.failures) (maximum: \(most.wholeMilliseconds) ms)"
        )
    }

    private mutating func complain(_ text: String) {
        self.complaints.append(Complaint(invariant: .retryBudget, text: text))
    }

    /// The bounds of its wait are known: neither is its beginning uncertain, nor its base one that a server may have raised.
    private func isDrawnFreely(_ chain: Chain) -> Bool {
        chain.isExact && chain.raise != .unsure
    }

    /// Not what a server requested, and not what something held back from the beginning.
    private mutating func sample(_ chain: Chain, wait: Interval?, watched: Interval) {
        guard self.isDrawnFreely(chain), chain.asked == nil, wait != nil || watched > .zero else { return }
        self.samples.add(
            chain.operation, failures: chain.failures,
            ceiling: self.ceiling(chain), wait: wait, watched: watched)
    }

    private func ceiling(_ chain: Chain) -> Interval {
        var base = self.base
        if chain.raise != .none, let retry = self.retry { base = max(base, min(retry, self.cap)) }
        let doublings = Int64(min(max(0, chain.failures - 1), 62))
        guard base.nanoseconds <= self.cap.nanoseconds >> doublings else { return self.cap }
        return .nanoseconds(base.nanoseconds << doublings)
    }
}
