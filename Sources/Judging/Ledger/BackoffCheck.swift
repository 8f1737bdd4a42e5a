import Observations
import SimBase
import Talaria

/// retry.budget: checks whether each attempt of a phone waits for its backoff after the previous failure, and no longer.
///
/// A wait is judged from the moment at which the phone knew of the failure to the next request of the same
/// kind for the same scan (for a DELETE: the same job). It is at least the wait that the server requested
/// and, if nothing else holds the phone back, at most min(cap, base x 2^n). Other reasons are: no path, the
/// background, a 429 or a full storage for uploads, and no free slot. The distribution of the waits below
/// their ceilings is judged over the fleet (`BackoffWaits`).
/// Uploads after jobs without books are judged by `RestartBudget`.
struct BackoffCheck: Sendable {
    /// The end of an upload that has not returned to the queue yet.
    private enum End: Sendable {
        case answered(Int)
        case failed
        /// The path was lost: not a failure.
        case withoutPath
    }

    /// Beyond its ceiling, a stream may be late by this.
    private static let tick = Interval.milliseconds(1)
    /// And what waits for a write, a photo or the end of an answer's body, by this.
    private static let slack = Interval.seconds(2)
    private static let cleanupsMax = 10
    private static let requestsMax = 64

    let device: DeviceNumber
    let slotsMax: Int
    let waits: BackoffWaits.Kind
    /// The `retry:` of the server's streams, which raises their base.
    let retry: Interval?
    private var chains: [BackoffChain] = []
    private var restarts = RestartBudget()
    private var uploads: [(scan: ScanNumber, attempt: UInt32, end: End)] = []
    /// DELETEs under way.
    private var cleanups: [(scan: ScanNumber, attempt: UInt32, job: String)] = []
    /// The waits that responses in flight request.
    private var asked: [(request: RequestKey, wait: Interval, status: Int)] = []
    /// Waits that have begun at this moment: the server's word for them may be observed after the phone's.
    private var begun: [(request: RequestKey, job: String?, at: Instant)] = []
    /// Only where a server says `retry:`.
    private var retryFields = RetryFields()
    /// Uploads wait until then: for a 429, or for the moment at which the queue opens after an outage.
    private var opensAt = Instant.zero
    /// The phone's word of a 429 whose wait is zero.
    private var mayComeAtOnce: ScanNumber?

    init(_ device: DeviceNumber, slotsMax: Int, waits: BackoffWaits.Kind, retry: Interval?) {
        self.device = device
        self.slotsMax = slotsMax
        self.waits = waits
        self.retry = retry
    }

    /// The number of entries, for tests of its growth.
    var remembered: Int {
        self.chains.count + self.restarts.remembered + self.uploads.count + self.cleanups.count
            + self.asked.count + self.begun.count + self.retryFields.remembered
    }

    // MARK: What is seen

    mutating func receivedRetryAfter(
        _ operation: Operation, attempt: UInt32, wait: Interval, status: Int, _ now: PhoneMoment
    ) {
        let request = RequestKey(operation.counted, now.scan, attempt)
        self.asked.removeAll { $0.request.operation == request.operation && $0.request.scan == now.scan }
        self.asked.append((request, wait, status), max: Self.requestsMax)
        guard let begun = self.begun.firstIndex(where: { $0.at == now.at && $0.request == request })
        else { return }
        let job = self.begun.remove(at: begun).job
        self.ask(request, job: job, now)
    }

    /// A fault cut the exchange: what its answer requests may not have arrived.
    mutating func cut(_ operation: Operation, scan: ScanNumber, attempt: UInt32) {
        let request = RequestKey(operation.counted, scan, attempt)
        self.asked.removeAll { $0.request == request }
    }

    /// The results were refused for a token that was exchanged since. When that answer was whole, and the wait began, is not known.
    mutating func resultsRefused(_ now: PhoneMoment, _ fleet: inout FleetChecks) {
        self.failure(.results, isExact: false, now, &fleet)
        self.hold(now.at) { $0.scan == now.scan && $0.operation == .results }
    }

    /// Requests, streams, and what they say.
    mutating func record(_ payload: PhoneObservation, _ now: PhoneMoment, _ fleet: inout FleetChecks) {
        if self.retry != nil { self.followRetryField(payload, now.scan, &fleet) }
        switch payload {
        case .requestSent(let operation, let attempt, let job, _):
            self.sent(RequestKey(operation.counted, now.scan, attempt), job, now, &fleet)
        case .replied(let operation, let attempt, let status, _):
            self.replied(RequestKey(operation.counted, now.scan, attempt), status, now, &fleet)
        case .requestFailed(let operation, let attempt, let failure, _):
            self.failed(RequestKey(operation.counted, now.scan, attempt), failure, now, &fleet)
        case .badAnswer(.results, _, _): self.failure(.results, isExact: true, now, &fleet)
        case .streamLost(_, let attempt, let cause, _):
            self.failure(.stream, isExact: true, now, &fleet)
            if let wait = cause.wait {
                self.receivedRetryAfter(.stream, attempt: attempt, wait: wait, status: 101, now)
            }
            self.ask(RequestKey(.stream, now.scan, attempt), job: nil, now)
            if cause == .offline || cause == .handover { self.hold(now.at) { $0.scan == now.scan } }
        case .rateLimited(.upload, let wait): self.uploadLimited(wait, now)
        case .uploadAccepted:
            self.uploads.removeAll { $0.scan == now.scan }
            self.drop(.upload, now, &fleet)
        case .eventApplied(_, _, let kind, _, _) where !kind.isTerminal: self.drop(.stream, now, &fleet)
        case .terminalApplied(_, let kind, _):
            if kind == .error { self.restarts.erred(now.scan, at: now.at) }
            self.drop(.stream, now, &fleet)
        case .reconnectSuperseded: self.drop(.stream, now, &fleet)
        case .statusDecoded(_, let status, _):
            guard status == .failed || status == .canceled else { return }
            self.restarts.erred(now.scan, at: now.at)
        case .resultsDecoded: self.drop(.results, now, &fleet)
        case .cleanupAnswered(let job, _, _):
            self.drop(now.at, &fleet) { $0.operation == .cleanup && $0.job == job }
        case .jobAbandoned(let job, _):
            self.drop(now.at, &fleet) { chain in
                chain.operation == .cleanup
                    ? chain.job == job : chain.scan == now.scan && chain.operation != .upload
            }
        default: self.recordLife(payload, now, &fleet)
        }
    }

    /// Scans, the app, and what holds them back.
    private mutating func recordLife(
        _ payload: PhoneObservation, _ now: PhoneMoment, _ fleet: inout FleetChecks
    ) {
        switch payload {
        case .queued: self.queued(now, &fleet)
        case .completed, .refused, .cancelRequested, .canceled:
            self.uploads.removeAll { $0.scan == now.scan }
            self.restarts.settled(now.scan)
            self.drop(now.at, &fleet) { $0.scan == now.scan && $0.operation != .cleanup }
        case .photoPrepared:
            // It was prepared again: it is not known what the upload has waited for.
            guard let index = self.index(.upload, now.scan, nil) else { return }
            self.chains[index].failedAt = nil
        case .slotTaken:
            guard now.life.slots + 1 >= self.slotsMax else { return }
            self.hold(now.at) { $0.operation == .upload }
        case .storageFilled: self.hold(now.at) { $0.operation == .upload }
        case .pathLost: self.hold(now.at) { _ in true }
        case .pathReturned, .pathChanged:
            self.hold(now.at) { _ in true }
            self.restarts.released(isOpened: false)
            self.opensAt = max(self.opensAt, now.at + fleet.settings.herdTime)
        case .suspended:
            self.hold(now.at) { _ in true }
            self.drop(now.at, &fleet) { $0.operation == .stream || $0.operation == .results }
        case .resumed:
            self.restarts.released(isOpened: true)
            self.hold(now.at) { _ in true }
        case .killed, .reinstalled, .launched: self.beginProcess(now, &fleet)
        default: break
        }
    }

    private mutating func uploadLimited(_ wait: Interval, _ now: PhoneMoment) {
        self.mayComeAtOnce = wait == .zero ? now.scan : nil
        guard wait > .zero else { return }
        self.opensAt = max(self.opensAt, now.at + wait)
        self.hold(now.at) { $0.operation == .upload }
    }

    /// A process has ended or begun: nothing remains that it waited for.
    private mutating func beginProcess(_ now: PhoneMoment, _ fleet: inout FleetChecks) {
        self.end(at: now.at, &fleet)
        fleet.waits.streams -= self.retryFields.unsure
        self = BackoffCheck(self.device, slotsMax: self.slotsMax, waits: self.waits, retry: self.retry)
    }

    /// The end of the run, or of a process.
    mutating func end(at moment: Instant, _ fleet: inout FleetChecks) {
        self.drop(moment, &fleet) { _ in true }
    }

    private mutating func followRetryField(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ fleet: inout FleetChecks
    ) {
        fleet.waits.streams -= self.retryFields.unsure
        switch payload {
        case .jobFollowed(_, .websocket): self.retryFields.followedBySocket(scan)
        case .streamOpened: self.retryFields.opened(scan)
        case .ping, .eventApplied, .eventIgnored, .firstEvent: self.retryFields.received(scan)
        case .uploadAccepted, .queued, .completed, .refused, .canceled: self.retryFields.left(scan)
        default: break
        }
        fleet.waits.streams += self.retryFields.unsure
    }

    // MARK: Failures

    private mutating func replied(
        _ request: RequestKey, _ status: Int, _ now: PhoneMoment, _ fleet: inout FleetChecks
    ) {
        switch request.operation {
        case .upload:
            self.uploads.removeAll { $0.scan == now.scan }
            self.uploads.append((now.scan, request.attempt, .answered(status)))
        case .stream where RestartBudget.endsJob(status), .results where RestartBudget.endsJob(status),
            .status where RestartBudget.endsJob(status):
            self.restarts.refused(now.scan)
        case .results, .cleanup:
            let job = request.operation == .cleanup ? self.takeCleanup(request) : nil
            guard status == 408 || status == 429 || status >= 500 else { return }
            self.failure(request.operation, job: job, isExact: false, now, &fleet)
            self.ask(request, job: job, now)
        case .stream, .status, .cancel, .refresh: break
        }
    }

    private mutating func failed(
        _ request: RequestKey, _ failure: TransportFailure, _ now: PhoneMoment, _ fleet: inout FleetChecks
    ) {
        // An answer that the phone does not have requests nothing of it.
        self.cut(request.operation, scan: now.scan, attempt: request.attempt)
        switch request.operation {
        case .upload:
            self.uploads.removeAll { $0.scan == now.scan }
            self.uploads.append((now.scan, request.attempt, failure == .noPath ? .withoutPath : .failed))
        case .results:
            self.failure(.results, isExact: true, now, &fleet)
            guard failure == .noPath else { return }
            self.hold(now.at) { $0.scan == now.scan && $0.operation == .results }
        case .cleanup:
            let job = self.takeCleanup(request)
            guard failure != .noPath else { return }
            self.failure(.cleanup, job: job, isExact: true, now, &fleet)
        case .stream, .status, .cancel, .refresh: break  // The loss of a stream is reported as such.
        }
    }

    private mutating func takeCleanup(_ request: RequestKey) -> String? {
        let index = self.cleanups.firstIndex { $0.scan == request.scan && $0.attempt == request.attempt }
        return index.map { self.cleanups.remove(at: $0).job }
    }

    /// An upload that goes back to the queue has failed, unless its path did or a limit turned it down.
    private mutating func queued(_ now: PhoneMoment, _ fleet: inout FleetChecks) {
        self.drop(.stream, now, &fleet)
        self.drop(.results, now, &fleet)
        self.restarts.queued(now.scan, isOnScreen: now.life.isOnScreen)
        let mayComeAtOnce = self.mayComeAtOnce == now.scan
        if mayComeAtOnce { self.mayComeAtOnce = nil }
        guard let index = self.uploads.firstIndex(where: { $0.scan == now.scan }) else { return }
        let upload = self.uploads.remove(at: index)
        switch upload.end {
        case .withoutPath: return
        case .answered(429) where !mayComeAtOnce: return
        case .answered, .failed: break
        }
        self.failure(.upload, isExact: true, now, &fleet)
        self.ask(RequestKey(.upload, now.scan, upload.attempt), job: nil, now)
    }

    private mutating func failure(
        _ operation: Operation, job: String? = nil, isExact: Bool, _ now: PhoneMoment,
        _ fleet: inout FleetChecks
    ) {
        if self.index(operation, now.scan, job) == nil {
            self.chains.append(BackoffChain(operation: operation, scan: now.scan, job: job))
            if operation == .stream { fleet.waits.streams += 1 }
        }
        // What has failed already was reported before.
        guard let index = self.index(operation, now.scan, job), self.chains[index].failedAt == nil
        else { return }
        let isHeld = self.isHeld(operation, now)
        let raise = operation == .stream ? self.retryFields.raise(of: now.scan) : .none
        self.chains[index].failed(at: now.at, isExact: isExact, isHeld: isHeld, raise: raise)
        let chain = self.chains[index]
        guard !isHeld, chain.isDrawnFreely else { return }
        let ceiling = chain.ceiling(fleet.settings, retry: self.retry)
        self.report(fleet.waits.began(self.waits, ceiling: ceiling, at: now.at), now, &fleet)
    }

    private func isHeld(_ operation: Operation, _ now: PhoneMoment) -> Bool {
        if !now.life.hasPath || !now.life.isOnScreen { return true }
        switch operation {
        case .upload:
            return now.life.storage.isFull || now.life.slots >= self.slotsMax || now.at < self.opensAt
        case .cleanup: return self.cleanups.count >= Self.cleanupsMax
        case .stream, .results, .status, .cancel, .refresh: return false
        }
    }

    private func index(_ operation: Operation, _ scan: ScanNumber, _ job: String?) -> Int? {
        self.chains.firstIndex { $0.operation == operation && $0.scan == scan && $0.job == job }
    }

    /// Applies a wait that the server requested to the wait that has just begun.
    private mutating func ask(_ request: RequestKey, job: String?, _ now: PhoneMoment) {
        self.begun.removeAll { $0.at < now.at }
        guard let asked = self.asked.firstIndex(where: { $0.request == request }) else {
            self.begun.append((request, job, now.at))
            return
        }
        let answer = self.asked.remove(at: asked)
        guard let index = self.index(request.operation, request.scan, job) else { return }
        self.chains[index].asked = answer.wait
        self.chains[index].isLimited = answer.status == 429
    }

    // MARK: Ends of waits

    /// Something else holds back what waits, from now on.
    private mutating func hold(_ moment: Instant, _ isMeant: (BackoffChain) -> Bool) {
        for index in self.chains.indices where self.chains[index].heldAt == nil && isMeant(self.chains[index])
        {
            self.chains[index].heldAt = moment
        }
    }

    /// The wait of an operation for the scan is over.
    private mutating func drop(
        _ operation: Operation, _ now: PhoneMoment, _ fleet: inout FleetChecks
    ) {
        self.drop(now.at, &fleet) { $0.scan == now.scan && $0.operation == operation }
    }

    private mutating func drop(
        _ moment: Instant, _ fleet: inout FleetChecks, _ isMeant: (BackoffChain) -> Bool
    ) {
        while let index = self.chains.firstIndex(where: isMeant) {
            let chain = self.chains.remove(at: index)
            if chain.operation == .stream { fleet.waits.streams -= 1 }
            guard let failedAt = chain.failedAt else { continue }
            self.sample(chain, wait: nil, watched: (chain.heldAt ?? moment) - failedAt, &fleet)
        }
    }

    private mutating func sent(
        _ request: RequestKey, _ job: String?, _ now: PhoneMoment, _ fleet: inout FleetChecks
    ) {
        let job = request.operation == .cleanup ? job : nil
        if let job {
            self.cleanups.append((now.scan, request.attempt, job), max: Self.requestsMax)
            if self.cleanups.count >= Self.cleanupsMax { self.hold(now.at) { $0.operation == .cleanup } }
        }
        if request.operation == .upload {
            self.uploads.removeAll { $0.scan == now.scan }
            for text in self.restarts.complaints(of: now.scan, at: now.at) {
                self.complain(text, now, &fleet)
            }
        }
        guard let index = self.index(request.operation, now.scan, job),
            let failedAt = self.chains[index].failedAt
        else { return }
        let chain = self.chains[index]
        self.chains[index].failedAt = nil
        self.chains[index].heldAt = nil
        self.judge(chain, failedAt: failedAt, now, &fleet)
    }

    private func judge(
        _ chain: BackoffChain, failedAt: Instant, _ now: PhoneMoment, _ fleet: inout FleetChecks
    ) {
        let waited = now.at - failedAt
        if let asked = chain.asked, !chain.isLimited, waited < asked {
            self.complain(
                "\(chain.operation.name) sent \((asked - waited).wholeMilliseconds) ms before the end of the wait that the server requested",
                now, &fleet)
        }
        if let heldAt = chain.heldAt {
            self.sample(chain, wait: nil, watched: heldAt - failedAt, &fleet)
            return
        }
        self.sample(chain, wait: waited, watched: waited, &fleet)
        if chain.asked == nil, chain.isDrawnFreely {
            self.report(fleet.waits.ended(self.waits, at: now.at, by: self.device), now, &fleet)
        }
        // A header is rounded up to whole seconds.
        let most = max(
            chain.ceiling(fleet.settings, retry: self.retry), chain.asked.map { $0 + .seconds(1) } ?? .zero)
        let late = chain.isExact && chain.operation == .stream ? Self.tick : Self.slack
        guard waited > most + late else { return }
        self.complain(
            "\(chain.operation.name) waited \(waited.wholeMilliseconds) ms after consecutive failure \(chain.failures) (maximum: \(most.wholeMilliseconds) ms)",
            now, &fleet)
    }

    private func complain(_ text: String, _ now: PhoneMoment, _ fleet: inout FleetChecks) {
        fleet.findings.violate(.retryBudget, device: self.device, scan: now.scan, at: now.at, text)
    }

    private func report(
        _ storm: RetryStormDetector.Herd?, _ now: PhoneMoment, _ fleet: inout FleetChecks
    ) {
        guard let storm else { return }
        fleet.findings.violate(.herdBounded, device: self.device, scan: now.scan, at: now.at, storm.text)
    }

    /// Not what a server requested, and not what something held back from the beginning.
    private func sample(
        _ chain: BackoffChain, wait: Interval?, watched: Interval, _ fleet: inout FleetChecks
    ) {
        guard chain.isDrawnFreely, chain.asked == nil, wait != nil || watched > .zero else { return }
        let ceiling = chain.ceiling(fleet.settings, retry: self.retry)
        fleet.waits.sample(self.waits, chain, ceiling: ceiling, wait: wait, watched: watched)
    }
}
