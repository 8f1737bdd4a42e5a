internal import Faults
import Observations
package import OriginServer
package import SimBase
package import Talaria

/// The simulated Talaria: a value that receives events with their time and returns effects.
///
/// It serves Docs/contract.md section 1.1 rows 1 to 6 with the rulings of Docs/design.md section 6, and v2 (section 3.2): its
/// jobs, and the enrichment of single books, which is answered at once (`EnrichmentService`). A request is checked in this
/// order: path (404), method (405), device id, rate limit, then the endpoint's own requirements. Faults of the server that are
/// armed for an exchange act here; those of the link and of the phone act in their drivers.
///
/// Everything is bounded: jobs and open uploads by `jobsMax`, their documents by `documentBytesMax`, removed jobs by
/// `tombstonesMax`, a job's log by its script and the event buffer, devices of a rate limit by `RateLimiter.devicesMax`, streams
/// by the connections of the driver. Time never runs backwards: an event with an earlier time happens at the time of the last
/// one.
package struct Backend: Sendable {
    let configuration: BackendConfiguration
    let shelf: Shelf
    private(set) var random: KeyedRandom
    var now = Instant.zero
    var jobs = SlotMap<JobKey, Job>()
    var streams = SlotMap<ExchangeID, Stream>()
    /// Streams behind their terminal event whose connections are still open.
    var lingering = SlotMap<ExchangeID, LingeringStream>()
    /// Requests for a new token whose body is being read.
    var refreshes = SlotMap<ExchangeID, RequestContext>()
    var sockets = SlotMap<ExchangeID, JobSocket>()
    /// Uploads whose body is being read.
    var uploads = SlotMap<ExchangeID, PendingUpload>()
    var tombstones: Tombstones
    var deadlines = DeadlineQueue()
    /// The configured limits, each with its rule.
    var limits: [(rule: RateLimitRule, limiter: RateLimiter)]
    var faults: ServerFaults
    var lastPing: (wall: Int64, bytes: [UInt8])?
    /// Bytes of documents that are being read or belong to a job.
    var documentBytes = 0
    /// Jobs of v2 that can be forgotten for new ones.
    var served = ServedJobs()
    /// Nil if no provider's failures close the backend.
    var breaker: CircuitBreaker?
    private let v2: V2Dialects
    var libraries: Libraries
    var enrichments: EnrichmentService

    package init(configuration: BackendConfiguration, shelf: Shelf, random: KeyedRandom) {
        precondition(configuration.objection == nil, configuration.objection ?? "")
        self.configuration = configuration
        self.shelf = shelf
        self.random = random
        self.tombstones = Tombstones(jobsMax: configuration.tombstonesMax)
        self.limits = configuration.rules.map { ($0, RateLimiter(quota: $0.quota)) }
        self.faults = ServerFaults(wallClockAtZero: configuration.wallClockAtZero)
        self.breaker = configuration.v2.breaker.map { CircuitBreaker($0) }
        self.v2 = V2Dialects(configuration.v2)
        self.libraries = Libraries(booksMax: configuration.imports.booksMax)
        self.enrichments = EnrichmentService(
            rules: configuration.enrichments, shelf: shelf, random: random)
    }

    /// Continues with other draws.
    package mutating func redraw(_ random: KeyedRandom) {
        self.random = random
        self.enrichments.redraw(random)
    }

    // MARK: Events

    /// The one way in. Whatever is due by `moment` happens first, so the answer to an event does not depend on whether
    /// the driver woke the backend in time.
    ///
    /// - Returns: `nextWake`.
    @discardableResult package mutating func handle(
        _ event: OriginEvent, at moment: Instant, into effects: inout [OriginEffect]
    ) -> Instant? {
        self.now = max(self.now, moment)
        self.doWhatIsDue(into: &effects)
        switch event {
        case .requested(let exchange, let request, let caller, let connection, let faults):
            precondition(
                self.streams[exchange] == nil && self.uploads[exchange] == nil
                    && self.lingering[exchange] == nil,
                "the driver used the number of an open exchange again")
            self.requested(exchange, request, caller, connection, faults, into: &effects)
        case .uploaded(let exchange, let parts):
            guard !self.refreshUploaded(exchange, parts.first?.prefix, into: &effects) else { break }
            self.uploaded(exchange, parts, into: &effects)
        case .uploadFailed(let exchange, let fault):
            guard !self.refreshUploaded(exchange, nil, into: &effects) else { break }
            self.uploadFailed(exchange, fault, into: &effects)
        case .aborted(let exchange):
            self.aborted(exchange, into: &effects)
        case .received(let exchange, let bytes): self.socketReceived(exchange, bytes, into: &effects)
        case .forwarded, .upstreamReplied, .upstreamReceived, .upstreamEnded:
            break  // Nothing is forwarded here.
        case .changed(let job, let change):
            if let key = JobKey(jobID: job) { self.apply(change, to: key, into: &effects) }
        case .woke:
            break
        }
        self.dropStaleDeadlines()
        return self.nextWake
    }

    private mutating func refuseUnknown(
        _ exchange: ExchangeID, path: String, into effects: inout [OriginEffect]
    ) {
        let (code, text): (ProblemCode, String) =
            path == ProgressSocket.path
            ? (.invalidRequest, "jobId must be that of a job of v2.")
            : (.notFound, "There is nothing at this path.")
        self.refuseUnrouted(exchange, code, text, [], path: path, into: &effects)
    }

    private mutating func requested(
        _ exchange: ExchangeID, _ request: OriginRequest, _ caller: Caller, _ connection: UInt64,
        _ faults: [ArmedFault], into effects: inout [OriginEffect]
    ) {
        guard let path = JourneyPath(path: request.path, query: request.query) else {
            return self.refuseUnknown(exchange, path: request.path, into: &effects)
        }
        guard let operation = path.operation(method: request.method) else {
            let allow = HeaderField("Allow", path.methods)
            self.refuseUnrouted(
                exchange, .methodNotAllowed, "This path does not take this method.", [allow],
                path: request.path,
                into: &effects)
            return
        }
        effects.append(
            .observe(
                self.payload(
                    caller, .requested(operation, attempt: caller.attempt, connection: connection))))
        let context = RequestContext(
            exchange: exchange, operation: operation, journey: path.journey, caller: caller, path: path.path,
            faults: faults)
        // The handshake of a WebSocket is judged by its answer.
        if !path.isSocket {
            self.observe(request.deviations(for: operation, at: path), of: context, into: &effects)
        }
        let device: DeviceKey?
        switch self.device(request.deviceID, operation) {
        case .failure where !path.journey.version.needsDeviceID: device = DeviceKey(caller: caller.device)
        case .success(let key): device = key
        case .failure(let refusal):
            guard operation == .stream, !self.dialect.hasAuthorization else {
                self.refuse(context, refusal, into: &effects)
                return
            }
            device = nil
        }
        if path.isSocket, case .stream(let job) = path.endpoint {
            self.socketRequested(context, request, device, job, into: &effects)
        } else {
            self.serve(context, request, device, path.endpoint, into: &effects)
        }
    }

    private mutating func serve(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey?, _ endpoint: Endpoint,
        into effects: inout [OriginEffect]
    ) {
        switch endpoint {
        case .upload:
            guard let device else { preconditionFailure("an upload without a device") }
            self.uploadRequested(context, request, device, into: &effects)
        case .stream(let job): self.streamRequested(context, request, device, job, into: &effects)
        case .results(let job): self.resultsRequested(context, request, device, job, into: &effects)
        case .cleanup(let job): self.cleanupRequested(context, request, device, job, into: &effects)
        case .refresh: self.refreshRequested(context, into: &effects)
        case .job(let job):
            if context.operation == .cancel {
                self.cancelRequested(context, request, device, job, into: &effects)
            } else {
                self.statusRequested(context, request, device, job, into: &effects)
            }
        }
    }

    /// The device id comes before everything else that an endpoint requests. Docs/contract.md section 1.1: on
    /// a stream it is part of being authorized.
    private func device(_ header: String?, _ operation: Operation) -> Result<DeviceKey, Refusal> {
        guard let header, !header.isEmpty else {
            return .failure(
                operation == .stream
                    ? Refusal(.unauthorized, "X-Device-ID is missing.")
                    : Refusal(.missingParameter, "X-Device-ID is missing."))
        }
        guard let key = DeviceKey(header: header) else {
            return .failure(
                operation == .stream
                    ? Refusal(.unauthorized, "X-Device-ID is not a version 4 UUID.")
                    : Refusal(.invalidRequest, "X-Device-ID is not a version 4 UUID."))
        }
        return .success(key)
    }

    private mutating func aborted(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        _ = self.takePending(exchange)
        self.refreshes[exchange] = nil
        guard !self.forgetSocket(exchange, into: &effects) else { return }
        if let stream = self.lingering[exchange] {
            self.lingering[exchange] = nil
            self.observeEnd(of: stream, byPeer: true, into: &effects)
            return
        }
        guard let stream = self.streams[exchange] else { return }  // Over already: the two ends crossed.
        self.forget(exchange, stream)
        let ended = BackendObservation.streamEnded(
            job: stream.facts.id, attempt: stream.attempt, byPeer: true)
        effects.append(.observe(self.payload(stream.facts.owner, ended)))
    }

    // MARK: Queries

    /// The moment of the next wake-up; other wake-ups do no harm.
    package var nextWake: Instant? {
        self.deadlines.nextAt
    }

    /// Jobs that are neither cleaned up nor expired.
    package var jobsAlive: Int { self.jobs.count }
    package var streamsOpen: Int { self.streams.count + self.lingering.count + self.sockets.count }
    /// Uploads whose body is being read.
    package var uploadsOpen: Int { self.uploads.count }

    var dialect: Dialect { self.configuration.dialect }

    /// The form of the answer to a request.
    func dialect(of context: RequestContext) -> Dialect {
        switch context.journey {
        case .scan, .textEnrichment: self.configuration.dialect
        case .bookshelfScan: self.v2.bookshelfScan
        case .batchEnrichment, .bookEnrichment: self.v2.batchEnrichment
        case .csvImport: self.v2.csvImport
        }
    }

    /// Milliseconds since 1970.
    var wall: Int64 { self.wall(at: self.now) }

    func wall(at moment: Instant) -> Int64 {
        self.configuration.wallClockAtZero + (moment - Instant.zero).wholeMilliseconds
    }

    func payload(_ whose: Caller, _ what: BackendObservation) -> Observation {
        Observation(at: self.now, device: whose.device, scan: whose.scan, what: .backend(what))
    }
}
