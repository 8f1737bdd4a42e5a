import Backend
import Faults
import Ledger
import Phone
package import Plan
package import RunJudge
import SimBase
import Talaria

extension Scenario {
    /// The goals that a run of it must reach: derived from its faults and its phones. Rare faults add no
    /// goals.
    package var sometimes: [CoverageGoal] {
        var expected: [CoverageGoal] = []
        func expect(_ moments: CoverageGoal...) {
            expected += moments.filter { !expected.contains($0) }
        }
        let resumes = self.groups.contains {
            $0.profile.stream.resumes && $0.profile.status.polling == .off
        }
        if self.groups.contains(where: { $0.profile.status.polling == .always }) { expect(.statusPolled) }
        let hasJobs = self.groups.contains { $0.profile.journey.hasJobs }
        for fault in self.faults where fault.chance >= .percent(5) && (hasJobs || !fault.needsJob) {
            switch (fault.kind, fault.target) {
            case (.rateLimit, _): expect(.limited, .uploadRepeated)
            case (.httpError, .upload), (.refuse, .upload): expect(.uploadRepeated)
            case (.reset, .upload), (.close, .upload), (.silence, .upload):
                expect(.uploadRepeated)
                if hasJobs { expect(.jobOrphaned) }
            case (.reset, .stream) where self.outlivesToken(fault.trigger),
                (.close, .stream) where self.outlivesToken(fault.trigger):
                expect(.tokenRefused, .restarted)
            case (.reset, .stream), (.close, .stream):
                if resumes { expect(.resumed) }
            case (.silence, .stream):
                expect(.silenceFound)
                if resumes { expect(.resumed) }
            case (.endCleanly, _):
                expect(.endWithoutTerminal)
                if resumes { expect(.resumed) }
            case (.endWithoutTerminal, _):
                expect(.endWithoutTerminal)
                if resumes { expect(.resumed, .replayed) }
            case (.reset, .cleanup), (.close, .cleanup), (.silence, .cleanup), (.httpError, .cleanup):
                if self.groups.contains(where: { $0.makes(.cleanup) }) { expect(.cleanupRepeated) }
            case (.stripBooks, _): expect(.resultsFetched)
            case (.expireToken, _): expect(.tokenRefused, .restarted)
            case (.jobGone, .stream)
            where self.groups.allSatisfy({ $0.profile.stream.statuses == .unchecked }):
                break  // It is asked for again, and no scan starts again.
            case (.jobGone, _): expect(.restarted)
            case (.phone(.kill), _): for moment in self.moments(ofKill: fault.trigger) { expect(moment) }
            case (.phone(.background), _): expect(.suspended)
            case (.httpError, _), (.refuse, _), (.reset, _), (.close, _), (.silence, _),
                (.truncateResults, _), (.reorderResults, _),
                (.retryableError, _), (.finalError, _), (.degraded, _), (.slowStage, _), (.unknownEvent, _),
                (.badJSON, _), (.eventShape, _), (.latePing, _), (.noPing, _), (.twoTerminals, _),
                (.ignoreLastEventID, _), (.forgetEvents, _), (.socketClose, _), (.socketFrames, _),
                (.slice, _), (.delay, _), (.bandwidth, _),
                (.loss, _), (.phone, _):
                break
            }
        }
        if self.server.backend.jobTime.lowerBound > self.server.backend.tokenLifetime {
            expect(.tokenRefused)
        }
        return expected
    }

    private func moments(ofKill trigger: FaultTrigger) -> [CoverageGoal] {
        switch trigger {
        case .afterStep(.accepted): [.relaunched, .uploadRepeated]
        case .afterStep(.book), .afterStep(.lastBook): [.relaunched, .bookRecognized]
        case .afterStep(.completed):
            // With nothing but that DELETE to do, an app has left no scan.
            self.groups.contains { $0.makes(.cleanup) } ? [.cleanupRepeated] : []
        case .atOnce, .afterTime, .afterEvents, .afterBytes, .afterRecords: [.relaunched]
        }
    }

    /// Returns whether a trigger waits longer than a token is valid.
    private func outlivesToken(_ trigger: FaultTrigger) -> Bool {
        guard case .afterTime(let times) = trigger else { return false }
        return times.lowerBound >= self.server.backend.tokenLifetime
    }
}

extension FaultSpec {
    /// Whether it acts on requests for a job only.
    fileprivate var needsJob: Bool {
        switch self.target {
        case .stream, .results, .cleanup, .status, .refresh, .token: true
        case .upload, .link, .app: false
        }
    }
}
