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
/// Uploads after jobs without books are judged by `RestartBudget`.
struct BackoffCheck: Sendable {
    struct Complaint: Sendable {
        var invariant: Invariant
        var text: String
        /// One of the phones that a complaint at the end is about, where all of them have a profile that is known for it.
        var phoneIndex: Int?
    }

    /// The waits of all phones that are judged together: those whose profile draws them, or those whose profile is known not to.
    private struct Pool: Sendable {
        var samples = BackoffSamples()
        var herds = RetryStormDetector()

        /// What a shard hands over; nil where all phones are.
        var evidence: FleetEvidence.Waits? {
            guard let record = self.herds.record else { return nil }
            var waits = FleetEvidence.Waits()
            waits.samples = self.samples
            waits.retries = record
            return waits
        }

        /// The waits that full jitter does not explain. Those of a shard are judged with the others.
        var findings: [BackoffSamples.Finding] { self.herds.record == nil ? self.samples.findings : [] }
    }

    /// Beyond its ceiling, a stream may be late by this.
    static let tick = Interval.milliseconds(1)
    /// And what waits for a write, a photo or the end of an answer's body, by this.
    static let slack = Interval.seconds(2)
    private static let cleanupsMax = 10
    private static let toldMax = 64
    private let base: Interval
    private let cap: Interval
    private let returnTime: Interval
    private var phones: [Phone] = []
    private var drawn = Pool()
    private var fixed = Pool()
    /// Streams that had failures, of all phones: their next event ends the chain.
    private(set) var streamChains = 0
    /// Streams that were opened, and of which nothing else has come so far.
    private var unsure = 0
    private var complaints: [Complaint] = []

    init(_ settings: SimulationInvariantSettings) {
        self.base = settings.backoffBase
        self.cap = settings.backoffCap
        self.returnTime = settings.herdTime
        guard settings.isShard else { return }
        self.drawn.herds.keepRecord()
        self.fixed.herds.keepRecord()
    }

    /// What a shard hands over; nil where all phones are.
    var evidence: FleetEvidence? {
        guard let drawn = self.drawn.evidence, let fixed = self.fixed.evidence else { return nil }
        var evidence = FleetEvidence()
        evidence.drawn = drawn
        evidence.fixed = fixed
        evidence.firstFixed = self.phones.filter { !$0.drawsWaits }.map(\.device).min()
        return evidence
    }

    var remembered: Int {
        self.phones.reduce(0) {
            $0 + $1.chains.count + $1.restarts.remembered + $1.uploads.count + $1.cleanups.count
                + $1.told.count + $1.begun.count + $1.retryFields.remembered
        }
    }

    /// Whether events and pings, of which there are many, mean anything just now.
    var followsStreams: Bool { self.streamChains > 0 || self.unsure > 0 }

    /// Adds a phone with the next index. `drawsWaits`: false if its profile is known not to.
    /// `retry`: the `retry:` of its streams.
    mutating func add(_ device: DeviceNumber, slotsMax: Int, drawsWaits: Bool, retry: Interval?) {
        self.phones.append(Phone(device, slotsMax: slotsMax, drawsWaits: drawsWaits, retry: retry))
    }

    /// Returns and removes the complaints of the last observation.
    mutating func takeComplaints() -> [Complaint] {
        guard !self.complaints.isEmpty else { return [] }
        defer { self.complaints = [] }
        return self.complaints
    }

    /// Returns the complaints that only the whole run shows.
    mutating func end(at now: Instant) -> [Complaint] {
        for phoneIndex in self.phones.indices { self.drop(phoneIndex, now) { _ in true } }
        let known = self.phones.firstIndex { !$0.drawsWaits }
        self.report(self.drawn.herds.end())
        self.report(self.fixed.herds.end(), phoneIndex: known)
        return self.takeComplaints()
            + self.drawn.findings.map { Complaint(invariant: .retryBudget, text: $0.text) }
            + self.fixed.findings.map {
                Complaint(invariant: .retryBudget, text: $0.text, phoneIndex: known)
            }
    }

    private mutating func report(_ herd: RetryStormDetector.Herd?, phoneIndex: Int? = nil) {
        guard let herd else { return }
        self.complaints.append(
            Complaint(
                invariant: .herdBounded,
                text: herd.text,
                phoneIndex: phoneIndex))
    }

    // MARK: What is seen

    mutating func receivedRetryAfter(
        _ operation: Operation, scan: ScanNumber, attempt: UInt32, wait: Interval, status: Int, at: Instant,
        phoneIndex: Int
    ) {
        let operation = operation.counted
        self.phones[phoneIndex].told.removeAll { $0.operation == operation && $0.scan == scan }
        if self.phones[phoneIndex].told.count == Self.toldMax { self.phones[phoneIndex].told.removeFirst() }
        self.phones[phoneIndex].told.append((operation, scan, attempt, wait, status))
        let begun = self.phones[phoneIndex].begun.firstIndex {
            $0.at == at && $0.operation == operation && $0.scan == scan && $0.attempt == attempt
        }
        guard let begun else { return }
        let job = self.phones[phoneIndex].begun.remove(at: begun).job
        self.ask(operation, scan, attempt, job: job, at, phoneIndex)
    }

    /// A fault cut the exchange: what its answer requests may not have arrived.
    mutating func cut(_ operation: Operation, scan: ScanNumber, attempt: UInt32, phoneIndex: Int) {
        let operation = operation.counted
        self.phones[phoneIndex].told.removeAll {
            $0.operation == operation && $0.scan == scan && $0.attempt == attempt
        }
    }

    mutating func record(_ payload: PhoneObservation, scan: ScanNumber, at: Instant, phoneIndex: Int) {
        if self.phones[phoneIndex].retry != nil { self.followRetryField(payload, scan, phoneIndex) }
        self.recordRequest(payload, scan, at, phoneIndex)
    }

    /// Requests, streams, and what they say.
    private mutating func recordRequest(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ at: Instant, _ phoneIndex: Int
    ) {
        switch payload {
        case .requestSent(let operation, let attempt, let job, _):
            self.sent(operation.counted, scan, attempt, job, at, phoneIndex)
        case .replied(let operation, let attempt, let status, _):
            self.replied(operation.counted, scan, attempt, status, at, phoneIndex)
        case .requestFailed(let operation, let attempt, let failure, _):
            self.failed(operation.counted, scan, attempt, failure, at, phoneIndex)
        case .badAnswer(.results, _, _):
            self.failure(.results, scan, job: nil, isExact: true, at, phoneIndex)
        case .streamLost(_, let attempt, let cause, _):
            self.failure(.stream, scan, job: nil, isExact: true, at, phoneIndex)
            self.ask(.stream, scan, attempt, job: nil, at, phoneIndex)
            if cause == .offline || cause == .handover { self.hold(phoneIndex, at) { $0.scan == scan } }
        case .rateLimited(.upload, let wait): self.uploadLimited(scan, wait, at, phoneIndex)
        case .uploadAccepted:
            self.phones[phoneIndex].uploads.removeAll { $0.scan == scan }
            self.drop(phoneIndex, at) { $0.operation == .upload && $0.scan == scan }
        case .eventApplied(_, _, let kind, _, _) where !kind.isTerminal:
            self.drop(phoneIndex, at) { $0.operation == .stream && $0.scan == scan }
        case .terminalApplied(_, let kind, _):
            if kind == .error { self.phones[phoneIndex].restarts.erred(scan, at: at) }
            self.drop(phoneIndex, at) { $0.operation == .stream && $0.scan == scan }
        case .reconnectSuperseded:
            self.drop(phoneIndex, at) { $0.operation == .stream && $0.scan == scan }
        case .statusDecoded(_, let status, _):
            guard status == .failed || status == .canceled else { return }
            self.phones[phoneIndex].restarts.erred(scan, at: at)
        case .resultsDecoded:
            self.drop(phoneIndex, at) { $0.operation == .results && $0.scan == scan }
        case .cleanupAnswered(let job, _, _):
            self.drop(phoneIndex, at) { $0.operation == .cleanup && $0.job == job }
        case .jobAbandoned(let job, _):
            self.drop(phoneIndex, at) { chain in
                chain.operation == .cleanup
                    ? chain.job == job : chain.scan == scan && chain.operation != .upload
            }
        default: self.recordLife(payload, scan, at, phoneIndex)
        }
    }

    /// Scans, the app, and what holds them back.
    private mutating func recordLife(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ at: Instant, _ phoneIndex: Int
    ) {
        switch payload {
        case .queued: self.queued(scan, at, phoneIndex)
        case .completed, .refused, .cancelRequested, .canceled:
            self.phones[phoneIndex].uploads.removeAll { $0.scan == scan }
            self.phones[phoneIndex].restarts.settled(scan)
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
            self.phones[phoneIndex].restarts.released(isOpened: false)
            self.phones[phoneIndex].opensAt = max(self.phones[phoneIndex].opensAt, at + self.returnTime)
        case .suspended:
            self.phones[phoneIndex].isOnScreen = false
            self.hold(phoneIndex, at) { _ in true }
            self.drop(phoneIndex, at) { $0.operation == .stream || $0.operation == .results }
        case .resumed:
            self.phones[phoneIndex].isOnScreen = true
            self.phones[phoneIndex].restarts.released(isOpened: true)
            self.hold(phoneIndex, at) { _ in true }
        case .killed, .reinstalled, .launched: self.beginProcess(at, phoneIndex)
        default: break
        }
    }

    private mutating func uploadLimited(
        _ scan: ScanNumber, _ wait: Interval, _ at: Instant, _ phoneIndex: Int
    ) {
        self.phones[phoneIndex].mayComeAtOnce = wait == .zero ? scan : nil
        guard wait > .zero else { return }
        self.phones[phoneIndex].opensAt = max(self.phones[phoneIndex].opensAt, at + wait)
        self.hold(phoneIndex, at) { $0.operation == .upload }
    }

    /// A process has ended or begun: of what it waited for, only the state of the storage remains.
    private mutating func beginProcess(_ at: Instant, _ phoneIndex: Int) {
        self.hold(phoneIndex, at) { _ in true }
        self.drop(phoneIndex, at) { _ in true }
        // A process that has no path says so.
        let isFull = self.phones[phoneIndex].isFull
        self.unsure -= self.phones[phoneIndex].retryFields.unsure
        self.phones[phoneIndex] = Phone(
            self.phones[phoneIndex].device, slotsMax: self.phones[phoneIndex].slotsMax,
            drawsWaits: self.phones[phoneIndex].drawsWaits, retry: self.phones[phoneIndex].retry)
        self.phones[phoneIndex].isFull = isFull
    }

    private mutating func followRetryField(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        self.unsure -= self.phones[phoneIndex].retryFields.unsure
        switch payload {
        case .streamOpened: self.phones[phoneIndex].retryFields.opened(scan)
        case .ping, .eventApplied, .eventIgnored, .firstEvent:
            self.phones[phoneIndex].retryFields.received(scan)
        case .uploadAccepted, .queued, .completed, .refused, .canceled:
            self.phones[phoneIndex].retryFields.left(scan)
        default: break
        }
        self.unsure += self.phones[phoneIndex].retryFields.unsure
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
        case .stream where RestartBudget.endsJob(status), .results where RestartBudget.endsJob(status),
            .status where RestartBudget.endsJob(status):
            self.phones[phoneIndex].restarts.refused(scan)
        case .results, .cleanup:
            let job = operation == .cleanup ? self.takeCleanup(scan, attempt, phoneIndex) : nil
            guard status == 408 || status == 429 || status >= 500 else { return }
            self.failure(operation, scan, job: job, isExact: false, at, phoneIndex)
            self.ask(operation, scan, attempt, job: job, at, phoneIndex)
        case .stream, .status, .cancel: break
        }
    }

    private mutating func failed(
        _ operation: Operation, _ scan: ScanNumber, _ attempt: UInt32, _ failure: TransportFailure,
        _ at: Instant, _ phoneIndex: Int
    ) {
        // An answer that the phone does not have requests nothing of it.
        self.cut(operation, scan: scan, attempt: attempt, phoneIndex: phoneIndex)
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
        self.phones[phoneIndex].restarts.queued(scan, isOnScreen: self.phones[phoneIndex].isOnScreen)
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
        self.ask(.upload, scan, upload.attempt, job: nil, at, phoneIndex)
    }

    private mutating func failure(
        _ operation: Operation, _ scan: ScanNumber, job: String?, isExact: Bool, _ at: Instant,
        _ phoneIndex: Int
    ) {
        let index: Int
        if let known = self.index(operation, scan, job, phoneIndex) {
            index = known
        } else {
            self.phones[phoneIndex].chains.append(
                BackoffChain(operation: operation, scan: scan, job: job))
            index = self.phones[phoneIndex].chains.count - 1
            if operation == .stream { self.streamChains += 1 }
        }
        guard self.phones[phoneIndex].chains[index].failedAt == nil else { return }  // It was told already.
        let isHeld = self.isHeld(operation, at, phoneIndex)
        let raise = operation == .stream ? self.phones[phoneIndex].retryFields.raise(of: scan) : .none
        self.phones[phoneIndex].chains[index].failed(at: at, isExact: isExact, isHeld: isHeld, raise: raise)
        let chain = self.phones[phoneIndex].chains[index]
        guard !isHeld, chain.isDrawnFreely else { return }
        let ceiling = self.ceiling(chain, phoneIndex)
        self.report(self.changePool(of: phoneIndex) { $0.herds.began(ceiling: ceiling, at: at) })
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
        _ operation: Operation, _ scan: ScanNumber, _ attempt: UInt32, job: String?, _ at: Instant,
        _ phoneIndex: Int
    ) {
        self.phones[phoneIndex].begun.removeAll { $0.at < at }
        guard
            let told = self.phones[phoneIndex].told.firstIndex(where: {
                $0.operation == operation && $0.scan == scan && $0.attempt == attempt
            })
        else {
            self.phones[phoneIndex].begun.append((operation, scan, attempt, job, at))
            return
        }
        let answer = self.phones[phoneIndex].told.remove(at: told)
        guard let index = self.index(operation, scan, job, phoneIndex) else { return }
        self.phones[phoneIndex].chains[index].asked = answer.wait
        self.phones[phoneIndex].chains[index].isLimited = answer.status == 429
    }

    // MARK: Ends of waits

    /// Something else holds back what waits, from now on.
    private mutating func hold(_ phoneIndex: Int, _ at: Instant, _ isMeant: (BackoffChain) -> Bool) {
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

    private mutating func drop(_ phoneIndex: Int, _ at: Instant, _ isMeant: (BackoffChain) -> Bool) {
        while let index = self.phones[phoneIndex].chains.firstIndex(where: isMeant) {
            let chain = self.phones[phoneIndex].chains.remove(at: index)
            if chain.operation == .stream { self.streamChains -= 1 }
            if let failedAt = chain.failedAt {
                self.sample(chain, wait: nil, watched: (chain.heldAt ?? at) - failedAt, phoneIndex)
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
            for text in self.phones[phoneIndex].restarts.complaints(of: scan, at: at) { self.complain(text) }
        }
        guard let index = self.index(operation, scan, job, phoneIndex),
            let failedAt = self.phones[phoneIndex].chains[index].failedAt
        else { return }
        let chain = self.phones[phoneIndex].chains[index]
        self.phones[phoneIndex].chains[index].failedAt = nil
        self.phones[phoneIndex].chains[index].heldAt = nil
        self.judge(chain, waited: at - failedAt, at: at, phoneIndex)
    }

    private mutating func judge(
        _ chain: BackoffChain, waited: Interval, at: Instant, _ phoneIndex: Int
    ) {
        if let asked = chain.asked, !chain.isLimited, waited < asked {
            self.complain(
                "\(chain.operation.name) sent \((asked - waited).wholeMilliseconds) ms before the end of the wait that the server requested"
            )
        }
        if let heldAt = chain.heldAt, let failedAt = chain.failedAt {
            self.sample(chain, wait: nil, watched: heldAt - failedAt, phoneIndex)
            return
        }
        self.sample(chain, wait: waited, watched: waited, phoneIndex)
        if chain.asked == nil, chain.isDrawnFreely {
            let device = self.phones[phoneIndex].device
            self.report(self.changePool(of: phoneIndex) { $0.herds.ended(at: at, by: device) })
        }
        let ceiling = self.ceiling(chain, phoneIndex)
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

    /// Not what a server requested, and not what something held back from the beginning.
    private mutating func sample(
        _ chain: BackoffChain, wait: Interval?, watched: Interval, _ phoneIndex: Int
    ) {
        guard chain.isDrawnFreely, chain.asked == nil, wait != nil || watched > .zero else { return }
        let ceiling = self.ceiling(chain, phoneIndex)
        self.changePool(of: phoneIndex) {
            $0.samples.add(
                chain.operation, failures: chain.failures, ceiling: ceiling, wait: wait, watched: watched)
        }
    }

    private mutating func changePool<Result>(of phoneIndex: Int, _ change: (inout Pool) -> Result) -> Result {
        self.phones[phoneIndex].drawsWaits ? change(&self.drawn) : change(&self.fixed)
    }

    private func ceiling(_ chain: BackoffChain, _ phoneIndex: Int) -> Interval {
        chain.ceiling(base: self.base, cap: self.cap, retry: self.phones[phoneIndex].retry)
    }
}
