import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

@Suite struct UploadRetryTests {
    @Test(arguments: TransportFailure.allCases)
    func `a failed request leads to a backoff and a cause that names the failure`(_ failure: TransportFailure)
    {
        let causes: [TransportFailure: WaitingCause] = [
            .noPath: .offline, .timedOut: .noAnswer, .foreignURL: .foreignURL,
        ]
        #expect(UploadRetry.failed(failure) == .backoff(causes[failure] ?? .transport))
    }

    @Test
    func
        `a limit without a wait adds a backoff`()
    {
        #expect(UploadRetry.limited(for: .seconds(1)).wait == .none)
        #expect(UploadRetry.limited(for: .zero).wait == .backoff)
    }

    @Test func `a job that ended leads to a new upload, up to the limit of the profile`() {
        let retries = (0...3).map { UploadRetry.jobEnded(.tokenExpired, before: $0, max: 3) }
        #expect(retries.map(\.wait) == [.none, .none, .none, .nextLaunch])
        #expect(retries.map(\.isAutomatic) == [true, true, true, false])
        #expect(retries.allSatisfy { $0.cause == .tokenExpired })
    }

    @Test func `a retryable error leads to one upload by itself, after the delay`() {
        let (first, second) = (
            UploadRetry.retryableError(errors: 1, max: 1, delay: .seconds(2)),
            UploadRetry.retryableError(errors: 2, max: 1, delay: .seconds(2))
        )
        #expect(first == UploadRetry(cause: .retryableError, wait: .none, atLeast: .seconds(2)))
        #expect(second == UploadRetry(cause: .retryableError, wait: .nextPath, atLeast: .zero))
    }

    @Test(arguments: [(true, WaitingCause.transport), (false, .offline)])
    func `an upload that lost its path starts again with the next`(hasAnother: Bool, cause: WaitingCause) {
        #expect(
            UploadRetry.pathLost(hasAnother: hasAnother)
                == UploadRetry(cause: cause, wait: .none, atLeast: .zero))
    }
}
