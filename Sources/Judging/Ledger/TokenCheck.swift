import Observations
import SimBase
import Talaria

/// auth.one-exchange: the tokens of one phone's jobs. Only a client of WebSocket needs a new one, and it requests it in the last 30
/// minutes of the old one (Docs/contract.md section 2.5). That one exchange is under way at a time is judged by `RequestsCheck`.
struct TokenCheck: Sendable {
    private struct Job: Sendable {
        /// The digest of its id.
        let id: UInt64
        let scan: ScanNumber
        let acceptedAt: Instant
        var isSocket = false
        var token = TokenState()
        /// When the phone got a new one.
        var exchangedAt = Instant.zero
    }

    private static let jobsMax = 64

    /// Jobs that the backend has accepted of scans that are not decided.
    private var jobs: [Job] = []

    var remembered: Int { self.jobs.count }

    mutating func accepted(_ job: String, of scan: ScanNumber, at moment: Instant) {
        self.jobs.append(
            Job(id: Digest.inWords(of: job), scan: scan, acceptedAt: moment), max: Self.jobsMax)
    }

    /// The backend has replaced the token of a job.
    mutating func replaced(_ job: String, at moment: Instant) {
        self.update(job) { $0.token.replaced(at: moment) }
    }

    /// Returns what is wrong with a request for a new token; nil for anything else.
    mutating func record(
        _ payload: PhoneObservation, of scan: ScanNumber, at moment: Instant, lifetime: Interval
    ) -> String? {
        switch payload {
        case .completed, .refused, .canceled: self.jobs.removeAll { $0.scan == scan }
        case .jobFollowed(let job, let transport):
            self.update(job) { $0.isSocket = transport == .websocket }
        case .tokenExchanged(let job, _):
            self.update(job) { job in
                job.token.received(at: moment)
                job.exchangedAt = moment
            }
        case .requestSent(.refresh, _, let id?, _):
            let digest = Digest.inWords(of: id)
            guard let job = self.jobs.last(where: { $0.id == digest }) else { return nil }
            return Self.objection(to: job, at: moment, lifetime: lifetime)
        default: break
        }
        return nil
    }

    /// Whether an observation is a 401 to a request that was sent before the phone got its present token. The request is made
    /// again, as after an error of the server.
    func isAboutOldToken(_ payload: PhoneObservation, _ seen: Observation) -> Bool {
        guard case .replied(_, _, 401, let took) = payload,
            let job = self.jobs.last(where: { $0.scan == seen.scan })
        else { return false }
        return seen.at - took < job.exchangedAt
    }

    private static func objection(to job: Job, at moment: Instant, lifetime: Interval) -> String? {
        guard job.isSocket else { return "a new token for a job that is not followed by WebSocket" }
        let left = (job.token.since ?? job.acceptedAt) + lifetime - moment
        guard left > TokenRefresh.window else { return nil }
        return "a new token, requested \(left.wholeMilliseconds / 1_000) s before the end of the old one"
    }

    private mutating func update(_ job: String, _ change: (inout Job) -> Void) {
        let digest = Digest.inWords(of: job)
        guard let index = self.jobs.lastIndex(where: { $0.id == digest }) else { return }
        change(&self.jobs[index])
    }
}

extension PhoneObservation {
    /// An answer as if it had another status, which says nothing of the job.
    var asServerError: PhoneObservation {
        guard case .replied(let operation, let attempt, _, let took) = self else { return self }
        return .replied(operation, attempt: attempt, status: 503, took: took)
    }
}
