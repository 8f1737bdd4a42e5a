import Backend
import Faults
import JSON
import Observations
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing
import Wire

/// A backend with a clock that is moved by hand, and all that came out of it.
struct Bench {
    static let wallClockAtZero: Int64 = 1_769_947_200_000  // 2026-02-01T12:00:00.000Z
    static let deviceID = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
    static let otherDeviceID = "3f2504e0-4f89-41d3-9a0c-0305e82c3302"
    static let jpeg = UploadPart(
        name: "photos[]", filename: "a.jpg", contentType: "image/jpeg", bytes: 250_000,
        prefix: [0xFF, 0xD8, 0xFF, 0xE0])
    /// A job of 3 books and 10 s: events at 0, 0.2, 6, 7.266, 8.533, 9.8 and 10 s.
    static let events = 7

    var backend: Backend
    let shelf: Shelf
    var now = Instant.zero
    var effects: [OriginEffect] = []
    private var exchanges: UInt64 = 0

    init(
        books: Int = 3, seed: UInt64 = 7, shelf own: Shelf? = nil,
        _ change: (inout BackendConfiguration) -> Void = { _ in }
    ) {
        var configuration = BackendConfiguration.contract
        configuration.jobTime = .seconds(10)...(.seconds(10))
        configuration.rateLimit = nil
        configuration.wallClockAtZero = Self.wallClockAtZero
        change(&configuration)
        var shelf = own ?? Shelf(seed: seed, booksMin: books, booksMax: books)
        shelf.lookup = configuration.dialect.books
        self.shelf = shelf
        self.backend = Backend(
            configuration: configuration, shelf: shelf, random: KeyedRandom(seed: seed))
    }

    struct Job {
        var id: String
        var token: String
    }

    // MARK: Events

    /// Hands an event over and returns what came of it.
    @discardableResult mutating func handle(_ event: OriginEvent) -> [OriginEffect] {
        let before = self.effects.count
        self.backend.handle(event, at: self.now, into: &self.effects)
        return Array(self.effects[before...])
    }

    /// Wakes the backend whenever it asks for it, up to a time, which is the present afterwards.
    @discardableResult mutating func run(to moment: Instant) -> [OriginEffect] {
        let before = self.effects.count
        var wakesInVain = 0
        while let wake = self.backend.nextWake, wake <= moment {
            wakesInVain = wake > self.now ? 0 : wakesInVain + 1
            guard wakesInVain < 10 else {
                Issue.record("the backend asks again and again to be woken at \(wake)")
                break
            }
            self.now = max(self.now, wake)
            self.handle(.woke)
        }
        self.now = moment
        return Array(self.effects[before...])
    }

    @discardableResult mutating func run(seconds: Int64) -> [OriginEffect] {
        self.run(to: self.now + .seconds(seconds))
    }

    mutating func nextExchange() -> ExchangeID {
        self.exchanges += 1
        return ExchangeID(self.exchanges)
    }

    @discardableResult mutating func ask(
        _ method: String, _ path: String, query: String? = nil, device: String? = Bench.deviceID,
        authorization: String? = nil, accept: String? = nil, contentType: String? = nil,
        contentLength: Int? = nil, lastEventID: String? = nil, caller: Caller = Bench.caller(),
        address: String? = nil, faults: [ArmedFault] = []
    ) -> (exchange: ExchangeID, effects: [OriginEffect]) {
        let exchange = self.nextExchange()
        var request = OriginRequest(
            method: method, path: path, query: query, deviceID: device, authorization: authorization,
            accept: accept, contentType: contentType, contentLength: contentLength,
            lastEventID: lastEventID, authority: nil)
        request.address = address
        return (exchange, self.handle(.requested(exchange, request, caller, connection: 1, faults: faults)))
    }

    /// Asks for a job of v2, without an `X-Device-ID`.
    mutating func get(
        _ path: String, _ job: Job, query: String? = nil, hasHeader: Bool = true
    ) -> (exchange: ExchangeID, effects: [OriginEffect]) {
        self.ask(
            "GET", path, query: query, device: nil, authorization: hasHeader ? "Bearer \(job.token)" : nil)
    }

    /// Sends an upload; its parts follow when the backend wants them.
    mutating func upload(
        _ parts: [UploadPart] = [Bench.jpeg], device: String? = Bench.deviceID,
        contentType: String? = "multipart/form-data; boundary=x", contentLength: Int? = 250_300,
        caller: Caller = Bench.caller(), address: String? = nil, faults: [ArmedFault] = []
    ) -> [OriginEffect] {
        let (exchange, effects) = self.ask(
            "POST", "/v3/jobs/scans", device: device, contentType: contentType,
            contentLength: contentLength, caller: caller, address: address, faults: faults)
        guard effects.contains(.readUpload(exchange)) else { return effects }
        return effects + self.handle(.uploaded(exchange, parts))
    }

    /// An upload that is accepted.
    mutating func job(_ caller: Caller = Bench.caller(), device: String = Bench.deviceID) -> Job {
        let effects = self.upload(device: device, caller: caller)
        guard let reply = effects.reply, reply.status == 202,
            let body = JSON.decode(UploadAccepted.self, from: reply.body), let token = body.data.authToken
        else { return Job(id: "not accepted", token: "") }
        return Job(id: body.data.jobId, token: token)
    }

    @discardableResult mutating func stream(
        _ job: Job, after: String? = nil, attempt: UInt32 = 1, faults: [ArmedFault] = []
    ) -> (exchange: ExchangeID, effects: [OriginEffect]) {
        self.ask(
            "GET", "/v3/jobs/scans/\(job.id)/stream", authorization: "Bearer \(job.token)",
            accept: "text/event-stream", lastEventID: after, caller: Self.caller(attempt: attempt),
            faults: faults)
    }

    @discardableResult mutating func results(_ job: Job, query: String? = "format=lite") -> [OriginEffect] {
        self.ask(
            "GET", "/v3/jobs/scans/\(job.id)/results", query: query, authorization: "Bearer \(job.token)"
        ).effects
    }

    @discardableResult mutating func cleanup(_ job: Job) -> [OriginEffect] {
        self.ask("DELETE", "/v3/jobs/scans/\(job.id)/cleanup", authorization: "Bearer \(job.token)").effects
    }

    mutating func status(_ job: Job) -> [OriginEffect] {
        self.ask("GET", "/v3/jobs/scans/\(job.id)", authorization: "Bearer \(job.token)").effects
    }

    mutating func cancel(_ job: Job) -> [OriginEffect] {
        self.ask("DELETE", "/v3/jobs/scans/\(job.id)", authorization: "Bearer \(job.token)").effects
    }

    static func caller(device: UInt32 = 4, scan: UInt32 = 1, attempt: UInt32 = 1) -> Caller {
        Caller(device: DeviceNumber(device), scan: ScanNumber(scan), attempt: attempt)
    }

    /// Opens a stream and returns what it began with, see `positions`.
    mutating func opening(_ job: Job, after: String? = nil) -> [Int] {
        let (exchange, _) = self.stream(job, after: after)
        return self.positions(exchange)
    }

    // MARK: What came out

    /// What a standard reader makes of everything that was written on one stream.
    func read(_ exchange: ExchangeID) -> [SSEEvent] {
        var reader = SSEReader(limits: .standard)
        var items: [SSEItem] = []
        for effect in self.effects {
            if case .stream(exchange, let bytes, _) = effect { reader.receive(bytes, into: &items) }
        }
        return items.compactMap { item in
            if case .event(let event) = item { event } else { nil }
        }
    }

    func marks(_ exchange: ExchangeID) -> [StreamPieceKind] {
        self.effects.compactMap { effect in
            if case .stream(exchange, _, let mark) = effect { mark } else { nil }
        }
    }

    /// Positions of the job's events on one stream; replays are negative, counted from -1.
    func positions(_ exchange: ExchangeID) -> [Int] {
        self.marks(exchange).compactMap { mark in
            guard case .event(let position, _, let replayed, _) = mark else { return nil }
            return replayed ? -1 - position : position
        }
    }

    func hasEnded(_ exchange: ExchangeID) -> Bool { self.effects.contains(.endStream(exchange)) }
}

extension [OriginEffect] {
    var reply: OriginReply? {
        for effect in self {
            if case .reply(_, let reply) = effect { return reply }
        }
        return nil
    }

    var status: Int? { self.reply?.status }

    /// `401 TOKEN_EXPIRED`, or only the status if the body is not a problem document.
    var verdict: String {
        guard let reply = self.reply else {
            return self.contains { if case .openStream = $0 { true } else { false } } ? "stream" : "none"
        }
        guard let problem = JSON.decode(Problem.self, from: reply.body) else { return "\(reply.status)" }
        return "\(reply.status) \(problem.code)"
    }

    var bodyText: String { String(decoding: self.reply?.body ?? [], as: UTF8.self) }

    func header(_ name: String) -> String? { self.reply?.headers.first { $0.name == name }?.value }

    var payloads: [ObservationPayload] {
        self.compactMap { effect in
            if case .observe(let observation) = effect { observation.what } else { nil }
        }
    }

    var backendSightings: [BackendObservation] {
        self.payloads.compactMap { payload in
            if case .backend(let payload) = payload { payload } else { nil }
        }
    }

    var faultSightings: [FaultObservation] {
        self.payloads.compactMap { payload in
            if case .fault(let payload) = payload { payload } else { nil }
        }
    }
}

extension ArmedFault {
    static func armed(_ kind: FaultKind, _ trigger: ArmedTrigger = .atOnce, fault: Int = 2) -> ArmedFault {
        ArmedFault(fault: fault, kind: kind, trigger: trigger, draw: 0)
    }
}
