internal import Observations
internal import OriginServer
internal import Talaria

extension Backend {
    /// A job has ended: what that says of the providers. One that was canceled or whose file is at fault says
    /// nothing.
    mutating func judgeProviders(
        by facts: Job.Facts, _ ending: JobEnding, into effects: inout [OriginEffect]
    ) {
        guard facts.journey.version.hasCircuit else { return }
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
