import Ledger
import Phone
import Plan

extension ProfileExpectation {
    /// Creates the expectation for a group. A shipping client is known to break what its own toggles break, as far as they
    /// are on. A toggle that the scenario adds excuses nothing, and neither does one over a client that is not shipping.
    init(_ group: FleetGroup) {
        let name = group.profile.name
        guard let profile = ProfileTable.named(name), profile.isShipping else {
            self.init(name: name, breaks: [])
            return
        }
        let own = profile.toggles(with: group.toggles).filter(profile.toggles.contains)
        let breaks = Set(own.flatMap(\.breaks) + Self.breaksByValue[name, default: []])
        self.init(name: name, breaks: Invariant.allCases.filter(breaks.contains))
    }

    /// The invariants that shipping clients break by values which belong to no toggle.
    private static let breaksByValue: [String: [Invariant]] = [
        // Docs/apps.md section 4.6: a later 429 ends the wait earlier. Section 4.5: without an address or a token there are
        // no results, and the scan is removed.
        NamedProfile.swiftwingHead.name: [
            .limitHonoured, .scanCustody, .bookNeverLost, .jobNotCleanedEarly, .scanSettles,
            // Section 4.10: the review is in memory, and the approval of everything at once looks for no duplicates.
            .reviewBookAccounted, .reviewEditKept, .reviewNoDuplicate,
        ],
        // Section 4.13: there is no DELETE, and results that could not be had five times wait until the app is opened again.
        NamedProfile.swiftwingPolling.name: [.jobCleaned, .scanSettles],
        // Section 6.2: three attempts of each request, and no limit for silence.
        NamedProfile.books.name: [
            .retryBudget, .herdBounded, .scanSettles, .streamDeadDetected, .scanOrder, .deviceNotStuck,
            .othersUnharmed,
        ],
        // The end of a body is the end of its job, and three attempts at a DELETE are all there are.
        NamedProfile.booksOld.name: [.retryBudget, .herdBounded, .scanSettles, .scanOrder, .jobCleaned],
        // Results that cannot be had once are lost with their job.
        NamedProfile.booksMigrating.name: [
            .retryBudget, .herdBounded, .scanSettles, .scanOrder, .jobCleaned, .scanCustody, .bookNeverLost,
            .jobNotCleanedEarly, .authNoStaleUse,
        ],
        NamedProfile.booksHandler.name: [.retryBudget, .herdBounded, .scanSettles, .scanOrder],
        // Section 6.1: the part `image`, streams without a device id and without Last-Event-ID, a backoff that no event
        // resets, no DELETE after a failure, any status of a stream tried again alike, no limit for silence in the middle of
        // one, books from the events alone, and no queue that keeps its order.
        NamedProfile.wingtip.name: [
            .requestWellFormed, .jobCleaned, .streamIDMonotone, .streamNoGap, .retryBudget, .herdBounded,
            .scanSettles, .authNoStaleUse, .limitHonoured, .streamParseRobust, .deviceNotStuck,
            .othersUnharmed,
            .bookNeverLost,
            .bookFaithful, .scanOrder,
        ],
    ]
}

extension ProfileToggle {
    /// The invariants that a client with this toggle may break. A scenario of Scenarios/gaps or Scenarios/quirks expects those that
    /// break in it.
    fileprivate var breaks: [Invariant] {
        Self.breaks.filter { $0.toggles.contains(self) }.flatMap(\.invariants)
    }

    /// Without the toggles that break none, or that no shipping client is known to have.
    private static let breaks: [(toggles: [ProfileToggle], invariants: [Invariant])] = [
        ([.problemDetails], [.scanRefusedForCause, .limitHonoured, .retryBudget]),
        ([.resultsEnvelope], [.streamParseRobust]),
        // A job whose results are not there yet when the app is left is followed once more, to its end.
        ([.inlineBooks], [.streamTerminalOnce]),
        ([.errorFields], [.scanRefusedForCause]),
        ([.lastEventID, .headLastEventID, .booksLastEventID], [.streamIDMonotone, .streamNoGap]),
        ([.enrichmentDegraded], [.scanRefusedForCause, .streamParseRobust]),
        ([.ping], [.scanRefusedForCause, .streamParseRobust, .streamDeadDetected]),
        ([.resultsFormat, .resultsDeviceID], [.requestWellFormed]),
        ([.scanDeviceIDs, .deviceIDs], [.requestWellFormed, .jobCleaned]),
        ([.tokenLifetime], [.streamParseRobust, .authNoStaleUse, .scanSettles]),
        ([.enrichmentStatus], [.bookFaithful]),
        ([.endOfStream], [.scanCustody, .bookNeverLost, .jobCleaned, .scanSettles]),
        (
            [.unknownEvents, .progressWithoutMessage, .nestedBooks, .otherVersions],
            [.jobNotCleanedEarly, .jobCleanedOnce, .jobSilentAfterCleanup, .serverAgrees, .streamParseRobust]
        ),
        ([.lostStream, .relativeURL], [.scanCustody, .bookNeverLost, .jobNotCleanedEarly, .scanSettles]),
        (
            [.streamStatuses],
            [.scanCustody, .bookNeverLost, .jobNotCleanedEarly, .authNoStaleUse, .retryBudget, .scanSettles]
        ),
        // Section 4.5: a new item that is uploaded as often as the server says so, before older ones.
        ([.retryableErrors], [.retryBudget, .scanOrder]),
        ([.overlays, .cleanupOnce], [.jobCleaned]),
        ([.resultsOnce], [.scanCustody, .bookNeverLost, .scanSettles]),
        // Section 4.7: what is stored names no job.
        (
            [.offlineQueue],
            [.scanCustody, .bookNeverLost, .scanOrder, .jobNotCleanedEarly, .jobOrphansBounded]
        ),
        // Section 4.8: a stream that is left stays open until its idle timeout, when nothing else is left to do.
        ([.background], [.scanCustody, .bookNeverLost, .jobNotCleanedEarly, .timersClean]),
        ([.jitter, .booksBackoff], [.herdBounded, .retryBudget]),
        ([.thrownErrors], [.scanCustody, .bookNeverLost, .jobCleaned]),
        ([.retryAfter], [.limitHonoured]),
        // Neither a new upload nor an end: the same request again, with a token that is worth nothing.
        ([.booksStreamStatuses], [.authNoStaleUse, .retryBudget, .scanSettles, .limitHonoured]),
        // The terminal event of the job is read, without any effect.
        ([.transportErrors], [.scanSettles, .jobCleaned]),
        ([.remainder], [.streamNoGap, .streamParseRobust]),
        ([.dottedNames], [.scanSettles, .streamParseRobust]),
    ]
}
