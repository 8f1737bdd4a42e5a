import CurlLoop
import EventLoop
import RunJudge
import SimBase
import Talaria

extension TargetURL {
    /// Sends one request before any load, for the stream of a job that does not exist, so that a dead target is found before
    /// phones run against it. Returns the version of HTTP that is used.
    func preflight(_ curl: CurlTarget, takesAnyError: Bool) throws -> SpokenHTTP {
        let loop = try Loop(clock: .startingNow())
        let unknown = "00000000-0000-4000-8000-000000000000"
        let headers = [HeaderField("Accept", "text/event-stream"), HeaderField(HeaderName.deviceID, unknown)]
        let answer = Preflight.ask(
            self.base + Endpoint.stream(jobId: unknown).path, headers: headers + self.headers,
            target: curl, loop: loop)
        try RunInterruption.check()
        switch answer {
        case .success(let answer):
            guard
                let contradiction = answer.contradiction(takesAnyError: takesAnyError)
                    ?? self.contradiction(answer)
            else {
                return self.http(agreed: answer)
            }
            throw CommandFailure(
                .unavailable, "the target \(self.base) cannot be used: \(contradiction.text)",
                hint: contradiction.hint ?? "only this one request was sent")
        case .failure(let failure):
            throw CommandFailure(
                .unavailable, "the target \(self.base) does not answer: \(failure.text)",
                hint: failure.hint ?? "check that the backend is running; only this one request was sent")
        }
    }
}
