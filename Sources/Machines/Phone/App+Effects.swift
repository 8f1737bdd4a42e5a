import Observations
import SimBase
import Talaria
import Wire

// How the phone speaks: observations, durable writes, requests.

extension App {
    /// Changes nothing. It is `mutating` because a borrowed phone would be copied wherever an observation
    /// contains a value of the phone.
    mutating func observe(
        _ what: PhoneObservation, of scan: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        effects.append(
            .app(.observe(Observation(at: now, device: self.number, scan: scan, what: .phone(what)))))
    }

    mutating func store(_ change: StoreChange, into effects: inout [PhoneEffect]) -> WriteID {
        self.lastWriteID += 1
        let writeID = WriteID(self.lastWriteID)
        effects.append(.app(.store(self.stored(change), writeID)))
        return writeID
    }

    /// What the app's storage has room for: a file of the offline queue names no job (Docs/apps.md section 4.7).
    private func stored(_ change: StoreChange) -> StoreChange {
        guard case .put(var record) = change, record.job != nil, self.profile.queue.storage == .offlineOnly
        else { return change }
        record.job = nil
        return .put(record)
    }

    /// A write for which nothing waits.
    mutating func note(_ change: StoreChange, into effects: inout [PhoneEffect]) {
        _ = self.store(change, into: &effects)
    }

    /// Changes a scan wherever it is; nil when it is settled.
    mutating func changeScan<Result>(_ number: ScanNumber, _ change: (inout Scan) -> Result) -> Result? {
        if let index = self.activeIndex(number) { return change(&self.active[index].scan) }
        guard let index = self.queue.index(of: number) else { return nil }
        var result: Result?
        self.queue.update(at: index) { result = change(&$0.scan) }
        return result
    }

    func activeIndex(_ scan: ScanNumber) -> Int? {
        // By index: a closure would get a copy of each scan.
        for index in self.active.indices where self.active[index].scan.record.scan == scan.raw {
            return index
        }
        return nil
    }

    /// 64 uniform bits for the wait after one request.
    func jitter(_ operation: Operation, _ scan: ScanNumber, attempt: UInt32) -> UInt64 {
        self.random.draw(
            operation == .upload ? .uploadRetry : .backoff, UInt64(self.number.raw), UInt64(scan.raw),
            UInt64(operation.rawValue) << 32 | UInt64(attempt))
    }

    // MARK: Requests

    /// The purpose of a request, as far as the kinds differ.
    struct RequestPlan {
        var purpose: Exchange.Purpose
        var scan: ScanNumber
        var attempt: UInt32
        var method: String
        var target: String
        /// The running job, with its token.
        var job: DurableJob?
        /// Between the identity and the trace context.
        var headers: [HeaderField]
        var lastEventID: String?
        var handshake: WebSocketRequest?
        var body: AppRequest.Body
        var timeout: Interval
    }

    mutating func send(_ plan: RequestPlan, at now: Instant, into effects: inout [PhoneEffect]) {
        precondition(self.pathAvailable, "a request without a path")
        self.lastRequest += 1
        let exchange = Exchange(
            id: RequestID(self.lastRequest), scan: plan.scan, attempt: plan.attempt, sentAt: now,
            job: plan.job?.jobId, lastEventID: plan.lastEventID, handshake: plan.handshake,
            purpose: plan.purpose, deadline: now + plan.timeout)
        self.exchanges.append(exchange)
        var headers: [HeaderField] = []
        headers.reserveCapacity(plan.headers.count + 4)
        if let identity = self.identity(for: exchange.operation, plan.scan) {
            headers.append(HeaderField(HeaderName.deviceID, identity.text))
        }
        headers += plan.headers
        let isElsewhere =
            plan.handshake != nil || plan.purpose == .refresh
            || plan.purpose == .stream && self.profile.token.stream == .query
        if let token = plan.job?.authToken, !isElsewhere {
            headers.append(HeaderField(HeaderName.authorization, "Bearer \(token)"))
        }
        if let id = plan.lastEventID { headers.append(HeaderField(HeaderName.lastEventID, id)) }
        let trace = TraceContext(
            run: self.run, device: self.number, scan: plan.scan, operation: exchange.operation,
            attempt: plan.attempt)
        headers.append(HeaderField(TraceContext.headerName, trace.headerValue))
        self.observe(
            .requestSent(
                exchange.operation, attempt: plan.attempt, job: plan.job?.jobId, lastEventID: plan.lastEventID
            ),
            of: plan.scan, at: now, into: &effects)
        effects.append(
            .app(
                .send(
                    AppRequest(
                        id: exchange.id, operation: exchange.operation, scan: plan.scan,
                        attempt: plan.attempt,
                        method: plan.method, target: plan.target, headers: headers, body: plan.body))))
    }

    /// The device id that a request carries.
    func identity(for operation: Operation, _ scan: ScanNumber) -> DeviceIdentity? {
        let source =
            switch operation {
            case .upload: self.profile.identity.upload
            case .stream, .status, .refresh: self.profile.identity.stream
            case .results: self.profile.identity.results
            case .cleanup, .cancel: self.profile.identity.cleanup
            }
        return switch source {
        case .persistent: self.identity
        case .perScan: .draw(self.random, self.number, scan, ofService: false, salt: self.deviceSalt)
        case .perService: .draw(self.random, self.number, scan, ofService: true, salt: self.deviceSalt)
        case .absent: nil
        }
    }

    /// The request that a scan is waiting for, if there is one.
    func exchangeIndex(activeScan scan: ScanNumber) -> Int? {
        for index in self.exchanges.indices where self.exchanges[index].scan == scan {
            switch self.exchanges[index].purpose {
            case .upload, .stream, .results, .status: return index
            case .cleanup, .cancel, .refresh, .drain, .left: break
            }
        }
        return nil
    }

    /// Gives up the request that a scan is waiting for.
    mutating func abort(activeScan scan: ScanNumber, into effects: inout [PhoneEffect]) {
        guard let index = self.exchangeIndex(activeScan: scan) else { return }
        self.exchanges.remove(at: index).abort(into: &effects)
    }
}
