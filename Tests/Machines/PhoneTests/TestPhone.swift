import JSON
import Observations
import Phone
import SimBase
import SimTestSupport
import Talaria
import Testing

/// A phone with a scripted world around it: the test sends every event, and the effects of the phone are kept
/// for it.
struct TestPhone {
    var app: App
    var now = Instant.zero
    /// Everything the phone wanted since the last `take`.
    var effects: [AppEffect] = []
    /// Requests in the driver's hands.
    var open: [AppRequest] = []
    /// All writes in their order.
    var written: [StoreChange] = []
    /// Without the findings.
    var payloads: [PhoneObservation] = []
    var findings: [ContractFinding] = []
    /// The findings as texts.
    var found: [String] {
        self.findings.map {
            "\($0.operation.name) \($0.part) \($0.path): \($0.seen)" + ($0.isDecisive ? "!" : "")
        }
    }
    /// What a driver does at once, unless a test wants to do it.
    var storesByItself = true
    var preparesByItself = true
    var lastWriteID = WriteID(0)
    var preparing: [ScanNumber] = []
    /// Requests whose answer has begun.
    var begun: Set<RequestID> = []

    static let run: UInt64 = 0xABCD
    static let wall: Int64 = 1_700_000_000_000
    static let photoBytes = 200_000

    init(
        profile: ClientProfile = .contract, seed: UInt64 = 1, clockZero: Int64 = 0,
        restored: [DurableScan] = [], pathAvailable: Bool = true
    ) {
        self.init(asleep: Self.app(profile: profile, seed: seed, clockZero: clockZero))
        self.handle(.launched(restored: restored, pathAvailable: pathAvailable))
    }

    init(asleep app: App) {
        self.app = app
    }

    static func app(profile: ClientProfile = .contract, seed: UInt64 = 1, clockZero: Int64 = 0) -> App {
        let random = KeyedRandom(seed: seed)
        return App(
            number: DeviceNumber(7), identity: DeviceIdentity.draw(random, DeviceNumber(7)), profile: profile,
            random: random, run: Self.run, clockZero: clockZero, wallClockAtZero: Self.wall)
    }

    // MARK: Telling

    mutating func handle(_ event: AppEvent) {
        if case .replyHead(let id, _) = event { self.begun.insert(id) }
        let fresh = self.app.handle(event, at: self.now)
        self.effects += fresh
        var unstored = false
        var toPrepare: [ScanNumber] = []
        for effect in fresh {
            switch effect {
            case .preparePhoto(let scan, _): toPrepare.append(scan)
            case .readSpine: break
            case .transmit: break
            case .releasePhoto: break
            case .send(let request): self.open.append(request)
            case .abort(let id):
                let count = self.open.count
                self.open.removeAll { $0.id == id }
                #expect(self.open.count == count - 1, "a request was aborted that is not under way")
            case .store(let change, let writeID):
                #expect(writeID.raw == self.lastWriteID.raw + 1)
                self.lastWriteID = writeID
                self.written.append(change)
                unstored = true
            case .observe(let observation):
                #expect(observation.device == DeviceNumber(7) && observation.at == self.now)
                switch observation.what {
                case .phone(.found(let finding)): self.findings.append(finding)
                case .phone(let payload): self.payloads.append(payload)
                case .backend, .fault, .network, .control: break
                }
            }
        }
        if self.preparesByItself {
            for scan in toPrepare {
                self.handle(.photoPrepared(scan: scan, bytes: Self.photoBytes, took: .milliseconds(5)))
            }
        } else {
            self.preparing += toPrepare
        }
        if self.storesByItself, unstored { self.handle(.stored(self.lastWriteID)) }
    }

    /// Lets time pass, waking the phone whenever it asked to be.
    mutating func pass(_ time: Interval) {
        let end = self.now + time
        while let wake = self.app.nextWake, wake <= end {
            #expect(wake >= self.now, "a wake-up in the past")
            self.now = max(self.now, wake)
            let before = self.app.nextWake
            self.handle(.woke)
            if self.app.nextWake == before {
                Issue.record("a wake-up that changes nothing: the phone would spin")
                return
            }
        }
        self.now = end
    }

    mutating func capture(_ scan: UInt32, photo: Int = 3) {
        self.handle(.captured(scan: ScanNumber(scan), photo: PhotoReference(photo), scheduled: self.now))
    }

    // MARK: Answering

    /// The open request of this kind, of this scan if there are several.
    func request(_ operation: Operation, _ scan: UInt32 = 1) -> AppRequest? {
        self.open.first { $0.operation == operation && $0.scan.raw == scan }
    }

    /// The content type that the contract has for a status.
    private static func contentType(_ status: Int) -> String {
        status < 400 ? Contract.jsonType : Problem.contentType
    }

    mutating func head(
        _ operation: Operation, _ status: Int, scan: UInt32 = 1, type: String? = nil,
        retryAfter: String? = nil
    ) {
        guard let request = self.request(operation, scan) else {
            Issue.record("no \(operation.name) request of scan \(scan) is open")
            return
        }
        self.handle(
            .replyHead(
                request.id,
                ReplyHead(
                    status: status, contentType: type ?? Self.contentType(status), retryAfter: retryAfter)))
    }

    mutating func answer(
        _ operation: Operation, _ status: Int, _ body: [UInt8] = [], scan: UInt32 = 1,
        type: String? = nil, retryAfter: String? = nil
    ) {
        guard let request = self.request(operation, scan) else {
            Issue.record("no \(operation.name) request of scan \(scan) is open")
            return
        }
        self.handle(
            .replyHead(
                request.id,
                ReplyHead(
                    status: status, contentType: type ?? Self.contentType(status), retryAfter: retryAfter)))
        if !body.isEmpty { self.handle(.replyBytes(request.id, body[...])) }
        self.open.removeAll { $0.id == request.id }
        self.handle(.replyEnded(request.id))
    }

    mutating func fail(_ operation: Operation, _ failure: TransportFailure, scan: UInt32 = 1) {
        guard let request = self.request(operation, scan) else {
            Issue.record("no \(operation.name) request of scan \(scan) is open")
            return
        }
        self.open.removeAll { $0.id == request.id }
        self.handle(.replyFailed(request.id, failure))
    }

    mutating func accept(_ scan: UInt32 = 1, job: String = "job-1") {
        self.answer(.upload, 202, Wording.accepted(job: job), scan: scan)
    }

    mutating func openStream(_ scan: UInt32 = 1) {
        self.head(.stream, 200, scan: scan, type: "text/event-stream")
    }

    mutating func stream(_ text: String, _ scan: UInt32 = 1) {
        guard let request = self.request(.stream, scan) else {
            Issue.record("no stream of scan \(scan) is open")
            return
        }
        self.handle(.replyBytes(request.id, Array(text.utf8)[...]))
    }

    /// From the shutter to an open stream.
    mutating func captureToStream(_ scan: UInt32 = 1, job: String = "job-1") {
        self.capture(scan)
        self.accept(scan, job: job)
        self.openStream(scan)
    }

    // MARK: Looking

    /// What the phone wanted since the last look.
    mutating func take() -> [AppEffect] {
        defer { self.effects = [] }
        return self.effects
    }

    mutating func takeSightings() -> [PhoneObservation] {
        defer { self.payloads = [] }
        return self.payloads
    }

    var store: DurableState {
        var state = DurableState()
        for change in self.written { state.apply(change) }
        return state
    }

    var record: DurableScan? { self.store.scans.first }

    var waiting: [String] { self.app.waiting.map { "\($0.0.raw) \($0.1.rawValue)" } }
}

/// Bodies and events as a backend writes them.
enum Wording {
    static func accepted(job: String, sseUrl: String? = nil, token: String? = "t0ken") -> [UInt8] {
        let data = UploadAccepted.Job(
            jobId: job, authToken: token, sseUrl: sseUrl ?? "/v3/jobs/scans/\(job)/stream",
            statusUrl: "/v3/jobs/scans/\(job)")
        let link = UploadAccepted.Link(href: "/v3/jobs/scans/\(job)", rel: nil, method: nil)
        return JSON.encode(
            UploadAccepted(
                job: data, links: .init(own: link, stream: link, cancel: link),
                metadata: Metadata(timestamp: "2026-01-01T00:00:00.000Z", requestId: "r")))
    }

    static func problem(_ code: ProblemCode, retryAfterMs: Int64? = nil) -> [UInt8] {
        JSON.encode(
            Problem(code, detail: "", instance: nil, retryAfterMs: retryAfterMs, metadata: nil))
    }

    static func book(_ ordinal: Int) -> Book {
        Book(
            title: "Title \(ordinal)", author: "Author", isbn: nil, confidence: nil, enrichmentStatus: nil,
            coverUrl: nil)
    }

    static func results(job: String = "job-1", books: Int) -> [UInt8] {
        JSON.encode(ResultsBody(jobId: job, results: (0..<books).map(Self.book)))
    }

    static func status(_ status: JobStatus, job: String = "job-1") -> [UInt8] {
        JSON.encode(
            StatusBody(
                StatusBody.Status(
                    jobId: job, status: status, progress: status == .completed ? 1 : 0.5, processedCount: 1,
                    totalCount: 1)))
    }

    static func event(_ name: String, id: String?, _ data: String) -> String {
        (id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: \(data)\n\n"
    }

    static func progress(_ id: String?, job: String = "job-1") -> String {
        Self.event(
            "progress", id: id,
            #"{"type":"progress","jobId":"\#(job)","progress":0.5,"message":"Looking..."}"#)
    }

    static func completed(_ id: String = "9-completed", job: String = "job-1", books: Int) -> String {
        let data = CompletedData(
            jobId: job, resultsUrl: "/v3/jobs/scans/\(job)/results", summary: nil,
            books: (0..<books).map(Self.book))
        return Self.event("completed", id: id, String(decoding: JSON.encode(data), as: UTF8.self))
    }

    /// `books` is the JSON value of that key, nil to leave it out.
    static func completed(rawBooks: String?, resultsUrl: String? = nil, job: String = "job-1") -> String {
        var fields = [#""type":"completed""#, #""jobId":"\#(job)""#]
        if let resultsUrl { fields.append(#""resultsUrl":"\#(resultsUrl)""#) }
        if let rawBooks { fields.append(#""books":\#(rawBooks)"#) }
        return Self.event("completed", id: "9-completed", "{\(fields.joined(separator: ","))}")
    }

    static func error(retryable: Bool?, code: String = "NO_TEXT_DETECTED", job: String? = nil) -> String {
        let flag = retryable.map { #","retryable":\#($0)"# } ?? ""
        let named = job.map { #","jobId":"\#($0)""# } ?? ""
        return Self.event("error", id: "9-error", #"{"type":"error","code":"\#(code)"\#(named)\#(flag)}"#)
    }
}

extension App {
    /// What the app wants of the phone around it.
    mutating func handle(_ event: AppEvent, at now: Instant) -> [AppEffect] {
        var effects: [PhoneEffect] = []
        self.handle(event, at: now, into: &effects)
        return effects.compactMap { if case .app(let effect) = $0 { effect } else { nil } }
    }
}
