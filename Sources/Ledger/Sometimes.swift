import SimBase
package import Talaria

/// What must happen now and then, or nothing was tried: the rare moments that a run's faults are there for. The raw values are the
/// ids in scenarios (`sometimes`).
package enum Sometimes: String, CaseIterable, Hashable, Sendable {
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

    /// For people.
    package var text: String {
        switch self {
        case .resumed: "a stream resumed with a Last-Event-ID"
        case .replayed: "an event came again after a resume"
        case .uploadRepeated: "an upload was sent again"
        case .jobOrphaned: "a job whose 202 was lost"
        case .tokenRefused: "a 401 for a token that was over"
        case .limited: "a 429 that a phone waited for"
        case .streamLimited: "a 429 to a stream"
        case .resultsLimited: "a 429 to a request for results"
        case .cleanupLimited: "a 429 to a DELETE"
        case .silenceFound: "a half-open stream found by its idle limit"
        case .endWithoutTerminal: "a stream that ended without a terminal event"
        case .resultsFetched: "books fetched, because the stream brought none"
        case .resultsGone: "a 404 or 410 to a request for results"
        case .cleanupRepeated: "a DELETE that was sent again or met a job that was gone"
        case .relaunched: "an app started again with scans that it had left"
        case .slotsFull: "all stream slots of a phone taken"
        case .bookRecognized: "a book that came again and was in the library already"
        case .suspended: "a job cleaned up because its app left the screen"
        case .restarted: "a scan uploaded again because its job was gone"
        case .connectRefused: "a connection that was refused"
        case .pathLost: "a phone that lost its path"
        case .scanRefused: "a scan that was refused"
        case .storageFull: "a storage without room"
        case .reinstalled: "an app that was installed anew"
        case .eventIgnored: "an event that a phone passed over"
        }
    }
}

/// Which of them a run has seen.
package struct SometimesTable: Sendable {
    private let expected: [Sometimes]
    private let named: [Sometimes]
    private var counts: [Int]
    private var slots: [DeviceNumber: Int] = [:]
    private let slotsMax: Int

    /// `expected`: those that the scenario's faults and profiles lead to. `named`: those that the scenario says a run must come to.
    package init(expected: [Sometimes], named: [Sometimes] = [], slotsMax: Int) {
        self.expected = expected + named.filter { !expected.contains($0) }
        self.named = named
        self.slotsMax = slotsMax
        self.counts = Array(repeating: 0, count: Sometimes.allCases.count)
    }

    package mutating func saw(_ observation: Observation) {
        guard !observation.isRoutine else { return }
        switch observation.what {
        case .phone(let sighting): self.phone(sighting, observation.device)
        case .backend(.cleaned(_, effective: false)): self.count(.cleanupRepeated)
        case .backend, .fault, .network: break
        }
    }

    private mutating func phone(_ sighting: PhoneSighting, _ device: DeviceNumber) {
        switch sighting {
        case .streamOpened(_, _, after: .some, _): self.count(.resumed)
        case .eventApplied(_, _, _, _, replayed: true): self.count(.replayed)
        case .requestSent(.upload, let attempt, _, _) where attempt > 1: self.count(.uploadRepeated)
        case .requestFailed(let operation, _, let failure, _):
            if failure == .connectRefused {
                self.count(.connectRefused)
            } else if operation == .upload {
                self.count(.jobOrphaned)
            }
        case .replied(.stream, _, status: 401, _), .replied(.results, _, status: 401, _),
            .replied(.cleanup, _, status: 401, _):
            self.count(.tokenRefused)
        case .rateLimited(let operation, _): self.limited(operation)
        case .replied(.results, _, status: 404, _), .replied(.results, _, status: 410, _):
            self.count(.resultsGone)
        case .pathLost: self.count(.pathLost)
        case .refused: self.count(.scanRefused)
        case .storageFilled: self.count(.storageFull)
        case .eventIgnored: self.count(.eventIgnored)
        case .streamLost(_, _, .silence, _): self.count(.silenceFound)
        case .streamLost(_, _, .endWithoutTerminal, _): self.count(.endWithoutTerminal)
        case .resultsDecoded: self.count(.resultsFetched)
        case .bookRepeated: self.count(.bookRecognized)
        case .requestSent(.cleanup, let attempt, _, _) where attempt > 1: self.count(.cleanupRepeated)
        case .cleanupAnswered(_, status: 404, _), .cleanupAnswered(_, status: 410, _):
            self.count(.cleanupRepeated)
        case .launched(let restored) where restored > 0: self.count(.relaunched)
        case .slotTaken:
            let taken = self.slots[device, default: 0] + 1
            self.slots[device] = taken
            if taken == self.slotsMax { self.count(.slotsFull) }
        case .slotGiven: self.slots[device, default: 1] -= 1
        case .killed: self.slots[device] = nil
        case .reinstalled:
            self.slots[device] = nil
            self.count(.reinstalled)
        case .queued(.suspended): self.count(.suspended)
        case .queued(.jobGone), .queued(.tokenExpired): self.count(.restarted)
        default: break
        }
    }

    private mutating func limited(_ operation: Operation) {
        switch operation {
        case .upload: self.count(.limited)
        case .stream: self.count(.streamLimited)
        case .results: self.count(.resultsLimited)
        case .cleanup: self.count(.cleanupLimited)
        case .status, .cancel: break
        }
    }

    private mutating func count(_ what: Sometimes) {
        guard let place = Sometimes.allCases.firstIndex(of: what) else { return }
        self.counts[place] += 1
    }

    package func count(of what: Sometimes) -> Int {
        Sometimes.allCases.firstIndex(of: what).map { self.counts[$0] } ?? 0
    }

    /// What the run should have come to, and did not.
    package var unmet: [Sometimes] { self.expected.filter { self.count(of: $0) == 0 } }

    /// What the scenario says that it must come to, and it did not.
    package var unreached: [Sometimes] { self.named.filter { self.count(of: $0) == 0 } }

    package var met: [Sometimes] { self.expected.filter { self.count(of: $0) > 0 } }
}
