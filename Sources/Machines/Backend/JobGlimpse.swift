package import SimBase
internal import Talaria

/// What somebody who looks on is told of a job.
package struct JobGlimpse: Hashable, Sendable {
    package var id: String
    package var owner: Caller
    package var state: String
    package var accepted: Instant
    /// Nil where only a foreign backend knows.
    package var tokenExpires: Instant?
    package var isTokenRevoked: Bool
    /// Events so far; nil where they are not counted.
    package var events: Int?
    package var streams: Int
}

extension Backend {
    /// The newest jobs first, at most so many.
    package func glimpses(max count: Int) -> [JobGlimpse] {
        self.jobs.values.suffix(count).reversed().map { job in
            let state =
                switch job.phase {
                case .running: job.status.rawValue
                case .finished(let status, at: _): status.rawValue
                case .settled(let status, at: _): "\(status.rawValue), settled"
                }
            return JobGlimpse(
                id: job.facts.id, owner: job.facts.owner, state: state, accepted: job.facts.accepted,
                tokenExpires: job.token.expires, isTokenRevoked: job.token.isRevoked, events: job.log.count,
                streams: job.streams.count)
        }
    }
}

extension Gateway {
    /// Jobs that were seen and not cleaned up.
    package var jobsAlive: Int { self.jobs.all.count { $0.state != .cleaned } }

    /// The newest jobs first, at most so many.
    package func glimpses(max count: Int) -> [JobGlimpse] {
        self.jobs.all.filter { $0.state != .cleaned }.suffix(count).reversed().map { job in
            let state =
                switch job.state {
                case .open: "open"
                case .finished: "finished"
                case .cleaned: "cleaned up"
                case .revoked: "its token expired by a fault"
                case .gone(let status): "gone by a fault (\(status))"
                case .failed: "failed by a fault"
                }
            return JobGlimpse(
                id: job.id, owner: job.owner, state: state, accepted: job.accepted, tokenExpires: nil,
                isTokenRevoked: job.state == .revoked, events: nil, streams: job.streams.count)
        }
    }
}

extension TapePlayer {
    package var jobsAlive: Int { self.jobs.count }

    /// The newest jobs first, at most so many.
    package func glimpses(max count: Int) -> [JobGlimpse] {
        self.jobs.entries.suffix(count).reversed().map { id, job in
            JobGlimpse(
                id: id, owner: job.owner, state: "played", accepted: job.accepted, tokenExpires: nil,
                isTokenRevoked: false, events: nil, streams: 0)
        }
    }
}
