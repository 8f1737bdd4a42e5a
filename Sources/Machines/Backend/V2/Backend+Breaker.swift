internal import Observations
internal import OriginServer
internal import Talaria

extension Backend {
    /// A job of v2 has ended: what that says of the providers. Jobs of v3 say nothing, since an open circuit shows there as a
    /// book that is not looked up (Docs/contract.md sections 1.6 and 2.1), and neither does a job that was canceled or whose file
    /// is at fault.
    mutating func judgeProviders(
        by facts: Job.Facts, _ ending: JobEnding, into effects: inout [OriginEffect]
    ) {
        guard facts.journey.isV2 else { return }
        let outcome: CircuitBreaker.Outcome
        switch ending {
        case .completed: outcome = .succeeded
        case .failed(let code, _) where ProviderFailure.codes.contains(code): outcome = .failed
        case .failed, .canceled, .unreadable: return
        }
        switch self.breaker?.ended(outcome, at: self.now) {
        case .opened: effects.append(.observe(self.payload(facts.owner, .circuitOpened(job: facts.id))))
        case .closed: effects.append(.observe(self.payload(facts.owner, .circuitClosed(job: facts.id))))
        case nil: break
        }
    }
}
