import Faults
import Observations
import Phone
import Plan
import SimBase
import Talaria

/// A phone without a network: what it wants, as it wants it.
struct Bench {
    static let zero: Int64 = 1_700_000_000_000

    var phone: Phone
    var now = Instant.zero
    private(set) var effects: [PhoneEffect] = []
    /// All requests so far.
    private(set) var sent: [AppRequest] = []

    init(
        remembers: Bool = true, seed: UInt64 = 7, profile change: (inout ClientProfile) -> Void = { _ in }
    ) {
        var profile = ClientProfile.contract
        change(&profile)
        self.phone = Phone(
            number: DeviceNumber(3), profile: profile,
            identity: .draw(KeyedRandom(seed: seed), DeviceNumber(3)), installation: 0, lastScan: .none,
            remembers: remembers,
            context: RunContext(
                random: KeyedRandom(seed: seed), run: 9, clockZero: 0, wallClockAtZero: Self.zero))
        self.handle(.switchedOn(restored: []))
    }

    /// What something led to that the present process asked for.
    mutating func handle(app event: AppEvent) { self.handle(.app(event, process: self.phone.process)) }

    mutating func handle(_ event: PhoneEvent) {
        let told = self.effects.count
        self.phone.handle(event, at: self.now, into: &self.effects)
        for case .app(.send(let request)) in self.effects[told...] { self.sent.append(request) }
    }

    mutating func act(_ disturbance: PhoneDisturbance) { self.handle(.disturbed(disturbance)) }

    mutating func capture() {
        self.handle(
            .captureDue(
                Arrival(scheduled: self.now, device: DeviceNumber(3), ordinal: 1, photoDraw: 0),
                PhotoReference(0)))
    }

    /// What was written becomes durable.
    mutating func flush() {
        self.handle(.flushing)
        self.handle(.flushed)
    }

    // MARK: Answers

    /// The last request of this kind.
    func request(_ operation: Talaria.Operation) -> RequestID? {
        self.sent.last { $0.operation == operation }?.id
    }

    /// The photo is ready, it is uploaded, and the answer is a 202.
    mutating func accept() {
        self.handle(app: .photoPrepared(scan: self.phone.lastScan, bytes: 9, took: nil))
        guard let id = self.request(.upload) else { return }
        let job = #"{"jobId":"job-1","authToken":"t0ken","sseUrl":"/s","statusUrl":"/j"}"#
        let link = #"{"href":"/j"}"#
        let body =
            #"{"success":true,"data":\#(job),"_links":{"self":\#(link),"stream":\#(link),"cancel":\#(link)},"metadata":{"timestamp":"2026-01-01T00:00:00.000Z","requestId":"r"}}"#
        self.handle(
            app: .replyHead(id, ReplyHead(status: 202, contentType: "application/json", retryAfter: nil)))
        self.handle(app: .replyBytes(id, Array(body.utf8)[...]))
        self.handle(app: .replyEnded(id))
    }

    /// The stream opens and brings the end of the job with so many books.
    mutating func complete(books: Int) {
        guard let id = self.request(.stream) else { return }
        self.handle(
            app: .replyHead(id, ReplyHead(status: 200, contentType: "text/event-stream", retryAfter: nil)))
        let list = (0..<books).map { #"{"title":"T\#($0)","author":"A"}"# }.joined(separator: ",")
        let data =
            #"{"type":"completed","jobId":"job-1","resultsUrl":"/r","summary":{"totalDetected":\#(books)},"books":[\#(list)]}"#
        self.handle(
            app: .replyBytes(id, Array("id: 9-completed\nevent: completed\ndata: \(data)\n\n".utf8)[...]))
    }

    mutating func take() -> [PhoneEffect] {
        defer { self.effects = [] }
        return self.effects
    }

    /// What was seen since the last `take`.
    var seen: [PhoneObservation] {
        self.effects.compactMap {
            switch $0 {
            case .observe(let observation), .app(.observe(let observation)):
                if case .phone(let payload) = observation.what { payload } else { nil }
            default: nil
            }
        }
    }

    /// The effects requested of the driver other than observations, in a word each.
    var wanted: [String] {
        self.effects.compactMap { effect in
            switch effect {
            case .observe, .app(.observe): nil
            case .app(.send(let request)): "send \(request.operation.name)"
            case .app(.transmit): "transmit"
            case .app(.abort): "abort"
            case .app(.preparePhoto), .app(.readSpine): "prepare"
            case .app(.releasePhoto): "release"
            case .app(.store): "write"
            case .use(let scan, _): "use \(scan.raw)"
            case .flush: "flush"
            case .flushNow: "flush now"
            case .wiped: "wiped"
            case .park: "park"
            case .hangUp: "hang up"
            case .forgetProcess: "forget process"
            case .schedule(_, let moment): "schedule \((moment - .zero).wholeMilliseconds)"
            case .awaitedSettled: "awaited settled"
            }
        }
    }

    func window(
        _ kind: PhoneFault, from: Int64, to: Int64? = nil, after trigger: PhoneTrigger? = nil
    ) -> PhoneWindow {
        PhoneWindow(
            fault: 0, kind: kind, from: .zero + .seconds(from),
            to: to.map { .zero + .seconds($0) } ?? .distantFuture, trigger: trigger)
    }
}
