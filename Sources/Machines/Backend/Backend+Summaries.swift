package import OriginServer
internal import SimBase
internal import Talaria

extension Backend {
    /// Returns the newest jobs first, at most `count`.
    package func summaries(max count: Int) -> [JobSummary] {
        self.jobs.values.suffix(count).reversed().map { job in
            let state =
                switch job.phase {
                case .running: job.status(first: job.facts.dialect.firstStatus).rawValue
                case .ending(let status, at: _), .finished(let status, at: _): status.rawValue
                case .settled(let status, at: _): "\(status.rawValue), settled"
                }
            return JobSummary(
                id: job.facts.id, owner: job.facts.owner, state: state, accepted: job.facts.accepted,
                tokenExpires: job.token.expires, isTokenRevoked: job.token.isRevoked, events: job.log.count,
                streams: job.streams.count)
        }
    }
}
