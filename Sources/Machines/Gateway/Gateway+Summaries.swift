package import OriginServer
internal import SimBase

extension Gateway {
    /// Jobs that were seen and not cleaned up.
    package var jobsAlive: Int { self.jobs.all.count { $0.state != .cleaned } }

    /// Returns the newest jobs first, at most `count`.
    package func summaries(max count: Int) -> [JobSummary] {
        self.jobs.all.filter { $0.state != .cleaned }.suffix(count).reversed().map { job in
            let state =
                switch job.state {
                case .open: "open"
                case .finished: "finished"
                case .cleaned: "cleaned up"
                case .revoked: "token expired by a fault"
                case .gone(let status): "removed by a fault (\(status))"
                case .failed: "failed by a fault"
                }
            return JobSummary(
                id: job.id, owner: job.owner, state: state, accepted: job.accepted, tokenExpires: nil,
                isTokenRevoked: job.state == .revoked, events: nil, streams: job.streams.count)
        }
    }
}

extension RecordingPlayer {
    package var jobsAlive: Int { self.jobs.count }

    /// Returns the newest jobs first, at most `count`.
    package func summaries(max count: Int) -> [JobSummary] {
        self.jobs.entries.suffix(count).reversed().map { id, job in
            JobSummary(
                id: id, owner: job.owner, state: "played", accepted: job.accepted, tokenExpires: nil,
                isTokenRevoked: false, events: nil, streams: 0)
        }
    }
}
