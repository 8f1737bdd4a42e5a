import CSV
import Histories
import Metrics
import Observations
import SimBase
import Talaria

@testable import Ledger

/// What both sides of a run saw, instant by instant: the harness does nothing wrong in it unless a test makes
/// it report wrong things.
struct HarnessStory {
    static let server = SimulatedServer(
        quota: nil, tokenLifetime: .minutes(10), resultsLifetime: .minutes(5), jobsMax: 100)

    private(set) var observations: [Observation] = []
    private(set) var now = Instant.zero
    var device = DeviceNumber(0)
    var scan = ScanNumber(1)
    var job = "job-1"
    var books = 3

    init(_ script: (inout HarnessStory) -> Void = { _ in }) { script(&self) }

    /// What is seen next is seen later.
    mutating func pass(_ time: Interval = .milliseconds(1)) { self.now = self.now + time }

    mutating func phone(_ payloads: PhoneObservation...) { self.see(payloads.map { .phone($0) }) }

    mutating func backend(_ payloads: BackendObservation...) { self.see(payloads.map { .backend($0) }) }

    mutating func fault(_ payloads: FaultObservation...) { self.see(payloads.map { .fault($0) }) }

    mutating func control(_ payload: ControlObservation) { self.see([.control(payload)]) }

    /// At this instant, in this order.
    private mutating func see(_ payloads: [ObservationPayload]) {
        for what in payloads {
            self.observations.append(
                Observation(at: self.now, device: self.device, scan: self.scan, what: what))
        }
    }

    // MARK: Phrases

    /// A request and its head at the backend.
    mutating func ask(_ operation: Talaria.Operation, attempt: UInt32 = 1, after: String? = nil) {
        let job = operation == .upload ? nil : self.job
        self.pass()
        self.phone(.requestSent(operation, attempt: attempt, job: job, lastEventID: after))
        self.pass()
        self.backend(.requested(operation, attempt: attempt, connection: 1))
    }

    /// The phone gets the head of an answer.
    mutating func get(
        _ operation: Talaria.Operation, attempt: UInt32 = 1, _ status: Int, took: Interval = .milliseconds(2)
    ) {
        self.pass()
        self.phone(.replied(operation, attempt: attempt, status: status, took: took))
    }

    /// A request with its answer.
    mutating func exchange(
        _ operation: Talaria.Operation, attempt: UInt32 = 1, _ status: Int,
        seen: BackendObservation..., by fault: Int? = nil
    ) {
        self.ask(operation, attempt: attempt)
        self.see(seen.map { .backend($0) })
        self.backend(.answered(operation, attempt: attempt, status: status))
        if let fault { self.fault(.fired(fault: fault, operation, attempt: attempt)) }
        self.get(operation, attempt: attempt, status)
    }

    mutating func upload(attempt: UInt32 = 1) {
        self.exchange(.upload, attempt: attempt, 202, seen: .accepted(job: self.job, books: self.books))
        self.phone(.uploadAccepted(job: self.job, took: .milliseconds(9), service: .milliseconds(8)))
    }

    mutating func open(attempt: UInt32 = 1, after: Int? = nil) {
        self.ask(.stream, attempt: attempt, after: after.map { "\($0)-progress" })
        self.backend(
            .answered(.stream, attempt: attempt, status: 200),
            .streamOpened(job: self.job, attempt: attempt, after: after))
        self.get(.stream, attempt: attempt, 200)
    }

    mutating func write(
        _ position: Int, id: Int? = nil, _ kind: EventKind = .progress, replayed: Bool = false
    ) {
        self.backend(
            .eventWritten(
                job: self.job, id: "\(id ?? 100 + position)-\(kind.rawValue)", position: position, kind: kind,
                replayed: replayed))
    }

    /// The job's last event, and the end of its stream.
    mutating func end(_ position: Int, attempt: UInt32 = 1, books: Int? = nil) {
        self.pass()
        self.write(position, .completed)
        self.backend(
            .finished(job: self.job, kind: .completed, books: books ?? self.books),
            .streamEnded(job: self.job, attempt: attempt, byPeer: false))
    }

    mutating func apply(_ kind: EventKind = .completed, inline: InlineBooksForm = .absent) {
        self.pass()
        self.phone(.terminalApplied(job: self.job, kind: kind, inline: inline))
    }

    mutating func results(served: Int? = nil, decoded: Int? = nil) {
        let served = served ?? self.books
        self.exchange(.results, 200, seen: .resultsServed(job: self.job, books: served))
        self.phone(.resultsDecoded(job: self.job, books: decoded ?? served, took: .milliseconds(3)))
    }

    mutating func clean() {
        self.phone(.completed(took: .seconds(1)))
        self.ask(.cleanup)
        self.backend(
            .answered(.cleanup, attempt: 1, status: 204), .cleaned(job: self.job, effective: true))
        self.get(.cleanup, 204)
        self.phone(.cleanupAnswered(job: self.job, status: 204, took: .milliseconds(2)))
    }

    /// Up to a stream with two events.
    mutating func begin() {
        self.upload()
        self.open()
        self.pass()
        self.write(0)
        self.pass()
        self.write(1)
    }

    /// All of a scan.
    mutating func journey() {
        self.begin()
        self.end(2)
        self.apply()
        self.results()
        self.clean()
    }

    // MARK: Judging

    /// What the harness is found to do wrong, without where and when.
    func errors(
        _ faults: [FaultEffect] = [], rules: [FaultRule] = [],
        server: HarnessSettings.Server = .simulated(HarnessStory.server), groups: [UInt16]? = nil,
        lostAfter: Instant? = nil, hasTunnels: Bool = false, phones: Int = 2,
        libraries: [LibrarySpec?] = [], rolloutIsSticky: Bool? = nil
    ) -> [String] {
        let fleet = PhoneGroups(
            groups: ["all", "others"], groupOfDevice: groups ?? Array(repeating: 0, count: phones))
        var settings = LedgerSettings.embedded
        settings.fleet = fleet
        var harness = HarnessSettings(
            server: server, faults: faults, rules: rules, fleet: fleet, hasTunnels: hasTunnels)
        harness.libraries = libraries
        harness.rolloutIsSticky = rolloutIsSticky
        var ledger = Ledger(shelf: History.shelf, settings: settings, harness: harness)
        var isLost = false
        for observation in self.observations {
            if let lostAfter, observation.at > lostAfter, !isLost {
                ledger.lostBackend(after: lostAfter)
                isLost = true
            }
            ledger.record(observation)
        }
        ledger.finish(waitingOnDisk: [], at: self.now)
        return ledger.harnessErrors.texts.map { text in
            text.hasSuffix(" ns)")
                ? text.lastIndex(of: "(").map { String(text[..<$0].dropLast()) } ?? text : text
        }
    }
}
