package import Observations
import SimBase
import Talaria

/// A situation that a run must reach; otherwise its faults tested nothing. The raw values are the ids in
/// scenarios (`sometimes`).
package enum CoverageGoal: String, CaseIterable, Hashable, Sendable {
    case resumed = "stream-resumed"
    case replayed = "event-replayed"
    case uploadRepeated = "upload-repeated"
    case jobOrphaned = "job-orphaned"
    case tokenRefused = "token-refused"
    case limited = "upload-limited"
    case streamLimited = "stream-limited"
    case resultsLimited = "results-limited"
    case cleanupLimited = "cleanup-limited"
    case silenceFound = "silence-found"
    case endWithoutTerminal = "end-without-terminal"
    case resultsFetched = "results-fetched"
    case resultsGone = "results-gone"
    case cleanupRepeated = "cleanup-repeated"
    case relaunched
    case slotsFull = "slots-full"
    case bookRecognized = "book-recognized"
    case suspended
    case restarted
    case connectRefused = "connect-refused"
    case pathLost = "path-lost"
    case scanRefused = "scan-refused"
    case storageFull = "storage-full"
    case reinstalled
    case eventIgnored = "event-ignored"
    case cleanupNotFound = "cleanup-not-found"
    case cleanupGone = "cleanup-gone"
    case cleanupUnauthorized = "cleanup-unauthorized"
    case suspendedInCleanup = "suspended-in-cleanup"
    case resultsUnauthorized = "results-unauthorized"
    case pathLostInLimit = "path-lost-in-limit"
    case killedInLimit = "killed-in-limit"
    case clockSetBack = "clock-set-back"
    case failedTwice = "job-failed-twice"
    case failedThrice = "job-failed-thrice"
    case tokenEndedFourTimes = "token-ended-four-times"
    case streamsEmpty = "streams-empty"
    case streamsOfPings = "streams-of-pings"
    case backoffCapped = "backoff-capped"
    case baseRaised = "base-raised"
    case uploadLong = "upload-long"
    case killedBeforeRecord = "killed-before-record"
    case killedInStream = "killed-in-stream"
    case killedBeforeBooks = "killed-before-books"
    case slotLingering = "slot-lingering"
    case streamUnharmed = "stream-unharmed"
    case endWhileRunning = "end-while-running"
    case startedOver = "started-over"
    case serverErrorFinal = "server-error-final"
    case capturedAnew = "captured-anew"
    case limitBelowSeconds = "limit-below-seconds"
    case requeuedBeforeYounger = "requeued-before-younger"
    case statusPolled = "status-polled"
    case statusLimited = "status-limited"
    case circuitClosed = "circuit-closed"

    /// The text for the user.
    package var text: String {
        switch self {
        case .resumed: "a stream that was resumed with Last-Event-ID"
        case .replayed: "an event that was replayed after a resume"
        case .uploadRepeated: "an upload that was repeated"
        case .jobOrphaned: "a job whose 202 was lost"
        case .tokenRefused: "a 401 for an expired token"
        case .limited: "a 429 that a phone waited for"
        case .streamLimited: "a 429 to a stream"
        case .resultsLimited: "a 429 to a request for results"
        case .cleanupLimited: "a 429 to a DELETE"
        case .silenceFound: "a half-open stream that was detected by its idle timeout"
        case .endWithoutTerminal: "a stream that ended without a terminal event"
        case .resultsFetched: "books fetched, because the stream brought none"
        case .resultsGone: "a 404 or 410 to a request for results"
        case .cleanupRepeated: "a DELETE that was repeated, or whose job no longer existed"
        case .relaunched: "an app that was restarted with unfinished scans"
        case .slotsFull: "all stream slots of a phone taken"
        case .bookRecognized: "a repeated book that was already in the library"
        case .suspended: "a job that was deleted because its app went to the background"
        case .restarted: "a scan that was uploaded again because its job no longer existed"
        case .connectRefused: "a connection that was refused"
        case .pathLost: "a phone that went offline"
        case .scanRefused: "a scan that was refused"
        case .storageFull: "a storage that was full"
        case .reinstalled: "an app that was reinstalled"
        case .eventIgnored: "an event that a phone ignored"
        case .cleanupNotFound: "a DELETE that was answered with 404"
        case .cleanupGone: "a DELETE that was answered with 410"
        case .cleanupUnauthorized: "a DELETE that was answered with 401"
        case .suspendedInCleanup: "an app that went to the background while a DELETE was open, and returned"
        case .resultsUnauthorized: "a 401 to a request for results"
        case .pathLostInLimit: "a path that was lost and returned while uploads waited for a 429"
        case .killedInLimit: "an app killed while scans waited for a 429, and started again with them"
        case .clockSetBack: "a capture after the clock was set back, with older scans waiting"
        case .failedTwice: "a scan whose jobs ended twice in a retryable error"
        case .failedThrice: "a scan whose jobs ended three times in a retryable error"
        case .tokenEndedFourTimes: "a scan whose tokens expired four times"
        case .streamsEmpty: "three streams of a scan in a row that opened and were lost before any event"
        case .streamsOfPings: "three streams of a scan in a row that brought pings only and were lost"
        case .backoffCapped: "a scan whose stream failed eight times in a row"
        case .baseRaised: "a loss of a stream whose server had raised the base of the backoff"
        case .uploadLong: "an upload that took more than 30 s and was accepted"
        case .killedBeforeRecord: "an app killed between a 202 and the record of its job"
        case .killedInStream: "an app killed while a stream had brought events for two seconds"
        case .killedBeforeBooks: "an app killed between the end of a job and its first book"
        case .slotLingering:
            "a slot that its stream held after the scan was complete, with all taken and scans waiting"
        case .streamUnharmed: "a stream that continued to its end after an ignored event"
        case .endWhileRunning: "a stream that ended without a terminal event while its job went on"
        case .startedOver: "a stream that reconnected and restarted with five or more events"
        case .serverErrorFinal: "a 5xx response to an upload that is marked as not retryable"
        case .capturedAnew: "an upload of a reinstalled app"
        case .limitBelowSeconds: "a 429 whose wait ends well before the full second, with scans waiting"
        case .statusPolled: "a job whose end a phone learned of by its status"
        case .statusLimited: "a 429 to a request for the status"
        case .circuitClosed: "a circuit that failures of a provider had opened, and that closed again"
        case .requeuedBeforeYounger: "a scan that was requeued while newer scans waited for a slot"
        }
    }
}

/// Which of them a run has seen.
package struct CoverageTable: Sendable {
    private let expected: [CoverageGoal]
    private let named: [CoverageGoal]
    private var counts: [Int]
    private var slots: [Int] = []
    private var indexes = DeviceIndex()
    private let slotsMax: Int
    /// The detector of goals that need several observations; nil if none of them is required.
    private var watch: CoverageDetector?

    /// `expected`: those that the scenario's faults and profiles lead to. `named`: those that the scenario says a run must come to.
    /// `raisesBase`: the server's streams carry a `retry:` above the phones' own base.
    package init(
        expected: [CoverageGoal], named: [CoverageGoal] = [], slotsMax: Int, raisesBase: Bool = false
    ) {
        self.expected = expected + named.filter { !expected.contains($0) }
        self.watch =
            self.expected.contains(where: \.isWatched)
            ? CoverageDetector(
                slotsMax: slotsMax, raisesBase: raisesBase,
                countsPings: self.expected.contains(.streamsOfPings))
            : nil
        self.named = named
        self.slotsMax = slotsMax
        self.counts = Array(repeating: 0, count: CoverageGoal.allCases.count)
    }

    package mutating func record(_ observation: Observation) {
        if self.watch != nil { self.history(observation) }
        guard !observation.isRoutine else { return }
        self.record(observation.what, of: observation.device)
    }

    /// A function of the payload: a `switch` over a member of an observation copies the observation.
    private mutating func record(_ what: ObservationPayload, of device: DeviceNumber) {
        switch what {
        case .phone(let payload): self.phone(payload, device)
        case .backend(.cleaned(_, effective: false)): self.count(.cleanupRepeated)
        case .backend(.circuitClosed): self.count(.circuitClosed)
        case .backend(.problem(.upload, _, status: 500..., _, retryable: false, _)):
            self.count(.serverErrorFinal)
        case .backend, .fault, .network, .control: break
        }
    }

    private mutating func phone(_ payload: PhoneObservation, _ device: DeviceNumber) {
        switch payload {
        case .requestSent(.upload, let attempt, _, _) where attempt > 1: self.count(.uploadRepeated)
        case .requestSent(.cleanup, let attempt, _, _) where attempt > 1: self.count(.cleanupRepeated)
        case .requestFailed(let operation, _, let failure, _):
            if failure == .connectRefused {
                self.count(.connectRefused)
            } else if operation == .upload {
                self.count(.jobOrphaned)
            }
        case .replied(.stream, _, status: 401, _): self.count(.tokenRefused)
        case .replied(.results, _, status: 401, _):
            self.count(.tokenRefused)
            self.count(.resultsUnauthorized)
        case .replied(.cleanup, _, status: 401, _):
            self.count(.tokenRefused)
            self.count(.cleanupUnauthorized)
        case .replied(.status, _, status: 401, _): self.count(.tokenRefused)
        case .replied(.results, _, status: 404, _), .replied(.results, _, status: 410, _):
            self.count(.resultsGone)
        case .rateLimited(let operation, _): self.limited(operation)
        case .uploadAccepted(_, _, let service) where service > .seconds(30): self.count(.uploadLong)
        case .resultsDecoded: self.count(.resultsFetched)
        case .statusDecoded(_, let status, _): if status.isTerminal { self.count(.statusPolled) }
        case .cleanupAnswered(_, status: 404, _):
            self.count(.cleanupRepeated)
            self.count(.cleanupNotFound)
        case .cleanupAnswered(_, status: 410, _):
            self.count(.cleanupRepeated)
            self.count(.cleanupGone)
        default: self.scanOrStream(payload, device)
        }
    }

    /// Scans and their streams, and the app.
    private mutating func scanOrStream(_ payload: PhoneObservation, _ device: DeviceNumber) {
        switch payload {
        case .streamOpened(_, _, after: .some, _): self.count(.resumed)
        case .eventApplied(_, _, _, _, replayed: true): self.count(.replayed)
        case .eventIgnored: self.count(.eventIgnored)
        case .streamLost(_, _, .silence, _): self.count(.silenceFound)
        case .streamLost(_, _, .endWithoutTerminal, _): self.count(.endWithoutTerminal)
        case .pathLost: self.count(.pathLost)
        case .refused: self.count(.scanRefused)
        case .storageFilled: self.count(.storageFull)
        case .bookRepeated: self.count(.bookRecognized)
        case .launched(let restored) where restored > 0: self.count(.relaunched)
        case .slotTaken:
            let index = self.index(of: device)
            self.slots[index] += 1
            if self.slots[index] == self.slotsMax { self.count(.slotsFull) }
        case .slotGiven:
            let index = self.index(of: device)
            self.slots[index] = max(0, self.slots[index] - 1)
        case .killed: self.slots[self.index(of: device)] = 0
        case .reinstalled:
            self.slots[self.index(of: device)] = 0
            self.count(.reinstalled)
        case .queued(.suspended): self.count(.suspended)
        case .queued(.jobGone), .queued(.tokenExpired), .queued(.tokenRefused): self.count(.restarted)
        default: break
        }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.slots.append(0)
        self.indexes[device] = self.slots.count - 1
        return self.slots.count - 1
    }

    private mutating func history(_ observation: Observation) {
        guard let moments = self.watch?.record(observation) else { return }
        for moment in moments { self.count(moment) }
    }

    private mutating func limited(_ operation: Operation) {
        switch operation {
        case .upload: self.count(.limited)
        case .stream: self.count(.streamLimited)
        case .results: self.count(.resultsLimited)
        case .cleanup, .cancel: self.count(.cleanupLimited)
        case .status: self.count(.statusLimited)
        case .refresh: break
        }
    }

    private mutating func count(_ what: CoverageGoal) {
        guard let index = CoverageGoal.allCases.firstIndex(of: what) else { return }
        self.counts[index] += 1
    }

    package func count(of what: CoverageGoal) -> Int {
        CoverageGoal.allCases.firstIndex(of: what).map { self.counts[$0] } ?? 0
    }

    /// How often each goal was reached, in the order of all goals: what a shard hands over.
    package var numbers: [Int] { self.counts }

    /// Adds what a shard has reached.
    package mutating func add(numbers: [Int]) {
        for index in self.counts.indices where index < numbers.count { self.counts[index] += numbers[index] }
    }

    /// The expected goals that were not reached.
    package var unmet: [CoverageGoal] { self.expected.filter { self.count(of: $0) == 0 } }

    /// The goals named in the scenario that were not reached.
    package var unreached: [CoverageGoal] { self.named.filter { self.count(of: $0) == 0 } }

    package var met: [CoverageGoal] { self.expected.filter { self.count(of: $0) > 0 } }

    /// Nil if nothing is expected.
    package var remark: Remark? {
        let (met, unmet) = (self.met.count, self.unmet)
        guard met > 0 || !unmet.isEmpty else { return nil }
        return .end(.coverage(met: met, of: met + unmet.count, missed: unmet.map(\.text)))
    }
}
