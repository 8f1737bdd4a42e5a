package import Observations
package import SimBase
import Talaria
package import VirtualWorld

/// Where a simulated run of a plan departs from the live run, for one scan or one phone.
package struct LiveDifference: Sendable {
    /// The way in which the scan, or the phone's last scan, ended.
    package enum End: Hashable, Sendable {
        case completed(Instant)
        case refused(Instant)
        case canceled(Instant)
        case unfinished
    }

    /// Steps that both runs have in common from the start.
    package let same: Int
    /// The last of these in the live run, and what follows in each run; nil where a run has ended.
    package let lastSame: Observation?
    package let live: Observation?
    package let simulated: Observation?
    package let liveEnd: End
    package let simulatedEnd: End

    /// - Parameter live: The observations of the live run, in the order of time.
    /// - Parameter scan: `ScanNumber.none` for all scans of the phone.
    package init(live: [Observation], plan: WorldPlan, device: DeviceNumber, scan: ScanNumber) {
        var simulated: [Observation] = []
        _ = Trial.outcome(
            of: plan, observe: { if $0.device == device { simulated.append($0) } })
        self.init(
            live: live.filter { $0.device == device && $0.isStep(of: scan) },
            simulated: simulated.filter { $0.isStep(of: scan) })
    }

    private init(live: [Observation], simulated: [Observation]) {
        let same = zip(live, simulated).prefix { $0.0.step == $0.1.step }.count
        self.same = same
        self.lastSame = same > 0 ? live[same - 1] : nil
        self.live = same < live.count ? live[same] : nil
        self.simulated = same < simulated.count ? simulated[same] : nil
        self.liveEnd = Self.end(live)
        self.simulatedEnd = Self.end(simulated)
    }

    private static func end(_ observations: [Observation]) -> End {
        for observation in observations.reversed() {
            if case .phone(.completed) = observation.what { return .completed(observation.at) }
            if case .phone(.refused) = observation.what { return .refused(observation.at) }
            if case .phone(.canceled) = observation.what { return .canceled(observation.at) }
        }
        return .unfinished
    }
}

/// Something that a phone did or saw, without what two runs never have in common: times, ids, sizes.
private enum LiveStep: Hashable {
    case named(String, ScanNumber)
    case exchange(String, Operation, attempt: UInt32, status: Int?, ScanNumber)
}

extension Observation {
    /// Whether it is compared, for a scan or for all of them.
    fileprivate func isStep(of scan: ScanNumber) -> Bool {
        guard self.step != nil else { return false }
        return scan == .none || self.scan == .none || self.scan == scan
    }

    fileprivate var step: LiveStep? {
        guard case .phone(let payload) = self.what else { return nil }
        func named(_ text: String) -> LiveStep { .named(text, self.scan) }
        switch payload {
        case .killed: return named("killed")
        case .reinstalled: return named("reinstalled")
        case .suspended: return named("suspended")
        case .resumed: return named("resumed")
        case .pathLost: return named("path-lost")
        case .pathReturned: return named("path-returned")
        case .pathChanged: return named("path-changed")
        case .storageFilled: return named("storage-filled")
        case .storageFreed: return named("storage-freed")
        case .captured: return named("captured")
        case .queued(let cause): return named("queued \(cause.rawValue)")
        case .completed: return named("completed")
        case .refused(let code, _): return named("refused \(code)")
        case .cancelRequested: return named("cancel requested")
        case .canceled: return named("canceled")
        case .requestSent(let operation, let attempt, _, _):
            return .exchange("sent", operation, attempt: attempt, status: nil, self.scan)
        case .replied(let operation, let attempt, let status, _):
            return .exchange("replied", operation, attempt: attempt, status: status, self.scan)
        case .requestFailed(let operation, let attempt, let failure, _):
            return .exchange(failure.rawValue, operation, attempt: attempt, status: nil, self.scan)
        case .badAnswer(let operation, let attempt, let problem):
            return .exchange(problem.rawValue, operation, attempt: attempt, status: nil, self.scan)
        case .streamLost(_, let attempt, let cause, _):
            return .exchange(cause.rawValue, .stream, attempt: attempt, status: nil, self.scan)
        case .terminalApplied(_, let kind, let inline):
            return named("terminal \(kind.rawValue) \(inline.rawValue)")
        case .bookShown(_, let book): return named("shown \(book.title)")
        case .bookAdded(let ordinal, _): return named("book \(ordinal)")
        case .bookRepeated(let ordinal, _): return named("book again \(ordinal)")
        case .photoInstead(let reason): return named("photo instead \(reason.rawValue)")
        case .readingKept(let cause): return named("reading kept \(cause.rawValue)")
        case .bookPending(let ordinal, _, _): return named("book pending \(ordinal)")
        case .bookEdited(let entry, _, _): return named("book edited \(entry)")
        case .bookApproved(let entry, _): return named("book approved \(entry)")
        case .bookRejected(let entry): return named("book rejected \(entry)")
        case .bookMerged(let entry, let scan, let into):
            return named("book merged \(entry) \(scan).\(into)")
        case .rowsRead(_, let rows):
            return named("rows \(rows.created) \(rows.updated) \(rows.skipped) \(rows.failed)")
        case .jobAbandoned(_, let cause): return named("abandoned \(cause.name)")
        case .jobFollowed(_, let transport): return named("followed by \(transport.rawValue)")
        case .armTaken(let arm, _): return named("arm \(arm.rawValue)")
        case .lostFromStorage: return named("lost-from-storage")
        case .launched, .recordKept, .bookKept, .reviewRestored, .clockSet, .regionTaken, .photosTaken,
            .photoPrepared, .bookRead, .filePrepared, .photoRejected, .enriched,
            .slotTaken, .slotGiven, .found, .uploadAccepted, .keySent, .lookupAnswered, .rateLimited,
            .tokenExchanged, .resultsDecoded, .booksListed, .booksNotFound, .booksPromised, .resultsGivenUp,
            .statusDecoded, .statusGivenUp, .cleanupAnswered, .cancelAnswered, .streamOpened, .firstEvent,
            .eventApplied,
            .eventIgnored, .ping, .reconnected, .reconnectGivenUp, .reconnectSuperseded:
            return nil
        }
    }
}
