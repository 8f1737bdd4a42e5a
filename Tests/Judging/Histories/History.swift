package import Ledger
package import Observations
package import SimBase
package import Talaria

/// A scripted history: literal observations with a clock that moves a millisecond with each of them.
package struct History {
    /// When the captures were due.
    private var due: [ScanNumber: Instant] = [:]
    package static let shelf = Shelf(seed: 7, booksMin: 3, booksMax: 3)

    package private(set) var observations: [Observation] = []
    package private(set) var waiting: [WaitingRecord] = []
    package private(set) var now = Instant.zero
    package var device = DeviceNumber(0)
    package var scan = ScanNumber(1)
    package var job = "job-1"

    package init(_ script: (inout History) -> Void = { _ in }) {
        script(&self)
    }

    // MARK: Single steps

    package mutating func phone(_ payload: PhoneObservation) {
        self.see(.phone(payload))
    }

    package mutating func backend(_ payload: BackendObservation) {
        self.see(.backend(payload))
    }

    package mutating func network(_ payload: NetworkObservation) {
        self.see(.network(payload))
    }

    package mutating func fault(_ payload: FaultObservation) {
        self.see(.fault(payload))
    }

    private mutating func see(_ what: ObservationPayload) {
        self.observations.append(Observation(at: self.now, device: self.device, scan: self.scan, what: what))
        self.pass(.milliseconds(1))
    }

    package mutating func pass(_ time: Interval) {
        self.now = self.now + time
    }

    package mutating func onDisk(_ cause: WaitingCause) {
        self.waiting.append(WaitingRecord(device: self.device, scan: self.scan, cause: cause))
    }

    // MARK: Phrases

    package mutating func launch(restored: Int = 0) {
        self.phone(.launched(restored: restored))
    }

    package mutating func capture() {
        self.due[self.scan] = self.now
        self.phone(.captured(scheduled: self.now))
        self.phone(.photoPrepared(took: .milliseconds(5), bytes: 1_000))
        self.phone(.queued(.captured))
    }

    package mutating func upload(attempt: UInt32 = 1) {
        self.send(.upload, attempt: attempt, job: nil)
        self.backend(.accepted(job: self.job, books: 3))
        let took = self.now - (self.due[self.scan] ?? self.now - .milliseconds(9))
        self.phone(.uploadAccepted(job: self.job, took: took, service: .milliseconds(8)))
    }

    package mutating func send(
        _ operation: Talaria.Operation, attempt: UInt32 = 1, job: String?, after: String? = nil
    ) {
        self.phone(.requestSent(operation, attempt: attempt, job: job, lastEventID: after))
    }

    /// Opens the job's stream; `serverAfter` is where the server goes on.
    package mutating func open(attempt: UInt32 = 1, after: String? = nil, serverAfter: Int? = nil) {
        self.send(.stream, attempt: attempt, job: self.job, after: after)
        self.backend(.streamOpened(job: self.job, attempt: attempt, after: serverAfter))
        self.phone(
            .streamOpened(job: self.job, attempt: attempt, after: after, took: .milliseconds(3)))
    }

    package mutating func write(_ position: Int, _ kind: EventKind = .progress, replayed: Bool = false) {
        self.backend(
            .eventWritten(
                job: self.job, id: Self.id(position), position: position, kind: kind, replayed: replayed))
    }

    package mutating func apply(_ position: Int, _ kind: EventKind = .progress, replayed: Bool = false) {
        self.phone(
            .eventApplied(
                job: self.job, id: Self.id(position), kind: kind, latency: .milliseconds(1),
                replayed: replayed))
    }

    /// Written by the backend and applied by the phone.
    package mutating func event(_ position: Int, _ kind: EventKind = .progress, replayed: Bool = false) {
        self.write(position, kind, replayed: replayed)
        self.apply(position, kind, replayed: replayed)
    }

    /// The job's last event, with its books inline or not.
    package mutating func terminal(_ position: Int, inline: InlineBooksForm = .books) {
        self.backend(.finished(job: self.job, kind: .completed, books: 3))
        self.event(position, .completed)
        self.phone(.terminalApplied(job: self.job, kind: .completed, inline: inline))
    }

    package mutating func addBooks(_ ordinals: [Int] = [0, 1, 2]) {
        for ordinal in ordinals { self.phone(.bookAdded(ordinal: ordinal, book: self.book(ordinal))) }
    }

    /// The library has them, and they come again.
    package mutating func repeatBooks(_ ordinals: [Int]) {
        for ordinal in ordinals {
            self.phone(.bookRepeated(ordinal: ordinal, book: self.book(ordinal)))
        }
    }

    package func book(_ ordinal: Int) -> Book {
        Self.shelf.book(device: self.device, scan: self.scan, ordinal: ordinal)
    }

    package mutating func complete() {
        self.phone(.completed(took: self.due[self.scan].map { self.now - $0 } ?? .seconds(1)))
    }

    /// The job fails, and the phone applies the event that says so.
    package mutating func fail(_ position: Int, retryable: Bool) {
        self.backend(.failed(job: self.job, code: "NO_TEXT_DETECTED", retryable: retryable))
        self.backend(.finished(job: self.job, kind: .error, books: 0))
        self.event(position, .error)
        self.phone(.terminalApplied(job: self.job, kind: .error, inline: .absent))
    }

    /// For an error event, by what the phone read of it.
    package mutating func refuse(_ code: String = "NO_TEXT_DETECTED", retryable: Bool? = false) {
        self.phone(.refused(code: code, cause: .event(job: self.job, retryable: retryable)))
    }

    /// An upload is answered with a problem, as both sides see it.
    package mutating func uploadProblem(
        _ status: Int, attempt: UInt32 = 1, retryable: Bool = false, retryAfter: Interval? = nil
    ) {
        self.backend(.answered(.upload, attempt: attempt, status: status))
        self.backend(
            .problem(
                .upload, attempt: attempt, status: status, job: nil, retryable: retryable,
                retryAfter: retryAfter))
        self.phone(.replied(.upload, attempt: attempt, status: status, took: .milliseconds(1)))
    }

    /// For an answer to an upload, by what the phone read of it.
    package mutating func refuse(
        _ code: String, answer status: Int, attempt: UInt32 = 1, retryable: Bool? = false
    ) {
        self.phone(
            .refused(
                code: code, cause: .answer(.upload, attempt: attempt, status: status, retryable: retryable)))
    }

    /// The process is killed; the storage has a record of the scan.
    package mutating func kill(keeping job: String?, after lastEventID: String? = nil, decided: Bool = false)
    {
        self.phone(.killed)
        self.phone(.recordKept(job: job, lastEventID: lastEventID, decided: decided))
    }

    package mutating func clean() {
        self.send(.cleanup, job: self.job)
        self.backend(.cleaned(job: self.job, effective: true))
        self.phone(.replied(.cleanup, attempt: 1, status: 204, took: .milliseconds(2)))
        self.phone(.cleanupAnswered(job: self.job, status: 204, took: .milliseconds(2)))
    }

    /// The user cancels the scan, and the backend its job.
    package mutating func cancel() {
        self.phone(.canceled(job: self.job))
        self.send(.cancel, job: self.job)
        self.backend(.canceled(job: self.job))
        self.phone(.replied(.cancel, attempt: 1, status: 200, took: .milliseconds(2)))
        self.phone(.cleanupAnswered(job: self.job, status: 200, took: .milliseconds(2)))
    }

    /// A scan from the shutter to its DELETE, with nothing going wrong.
    package mutating func wholeScan() {
        self.capture()
        self.phone(.slotTaken)
        self.upload()
        self.open()
        self.event(0)
        self.event(1)
        self.terminal(2)
        self.addBooks()
        self.complete()
        self.clean()
        self.phone(.slotGiven)
    }

    /// Up to the time at which the job's stream is open and two events were applied.
    package mutating func streaming() {
        self.launch()
        self.capture()
        self.upload()
        self.open()
        self.event(0)
        self.event(1)
    }

    /// From the terminal event to the DELETE.
    package mutating func ending(_ position: Int) {
        self.terminal(position)
        self.addBooks()
        self.complete()
        self.clean()
    }

    package static func id(_ position: Int) -> String { "1738419600\(100 + position)-progress" }

    /// This history after an earlier one of the phone, whose app runs on. A whole number of seconds is
    /// between them.
    package func following(_ earlier: History) -> History {
        var whole = earlier
        let start = Interval.seconds(earlier.now.nanoseconds / 1_000_000_000 + 10)
        let launch = self.observations.firstIndex { $0.what == .phone(.launched(restored: 0)) }
        for (index, observation) in self.observations.enumerated() where index != launch {
            var later = observation
            later.at = observation.at + start
            whole.observations.append(later)
        }
        whole.waiting += self.waiting
        whole.now = self.now + start
        (whole.device, whole.scan, whole.job) = (self.device, self.scan, self.job)
        return whole
    }

    // MARK: Judgment

    package func ledger(_ change: (inout LedgerSettings) -> Void = { _ in }) -> Ledger {
        var settings = LedgerSettings.embedded
        change(&settings)
        var ledger = Ledger(shelf: Self.shelf, settings: settings)
        for observation in self.observations { ledger.record(observation) }
        ledger.finish(waitingOnDisk: self.waiting, at: self.now)
        return ledger
    }

    /// The ids of the invariants that are broken, in their order.
    package func broken(_ change: (inout LedgerSettings) -> Void = { _ in }) -> [Invariant] {
        self.ledger(change).verdicts.filter { $0.violations > 0 }.map(\.invariant)
    }

    /// What the first example of an invariant says.
    package func complaint(_ invariant: Invariant) -> String? {
        self.ledger().verdicts.first { $0.invariant == invariant }?.examples.first?.text
    }
}
