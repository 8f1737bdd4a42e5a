import Metrics
import Observations
import Talaria

/// The open requests of one scan, and their outcomes: an attempt fails by itself, however its operation ends
/// (Docs/design.md section 11.8).
///
/// It fails if it ends in a transport failure, a 5xx, an unreadable response, or a 4xx other than 429. An
/// attempt that the phone, a kill or the end of the run cuts short has neither failed nor succeeded.
struct AttemptAccount: Sendable {
    private struct Attempt: Equatable, Sendable {
        var operation: Operation
        var number: UInt32
    }

    struct End: Equatable, Sendable {
        var metric: RateMetric
        var failed: Bool
    }

    private var open: [Attempt] = []
    /// Whether the scan is a look-up: a 404 may say that no provider has the book, which is not a failure.
    var isLookup = false
    /// A request of a look-up that was answered with 404, as long as it is not known what that means.
    private var undecided: Attempt?

    /// The app is not running: what was under way has no end.
    mutating func stopped() { (self.open, self.undecided) = ([], nil) }

    /// Takes a observation of the scan; answers when it ends an attempt.
    mutating func record(_ payload: PhoneObservation) -> End? {
        switch payload {
        case .requestSent(let operation, let number, _, _):
            // Several jobs of one scan may be deleted at once; of everything else there is one at a time.
            if !operation.isDelete { self.open.removeAll { $0.operation == operation } }
            self.open.append(Attempt(operation: operation, number: number))
            return nil
        case .replied(let operation, let number, let status, _):
            if status == 404, operation == .upload, self.isLookup {
                self.undecided = Attempt(operation: operation, number: number)
                return nil
            }
            guard let failed = Self.failed(operation, status: status) else { return nil }
            return self.end(Attempt(operation: operation, number: number), failed: failed)
        case .requestFailed(let operation, let number, _, _), .badAnswer(let operation, let number, _):
            return self.end(Attempt(operation: operation, number: number), failed: true)
        case .uploadAccepted, .lookupAnswered: return self.ended(.upload, failed: false)
        case .queued, .refused:
            defer { self.undecided = nil }
            return self.undecided.flatMap { self.end($0, failed: true) }
        case .streamOpened: return self.ended(.stream, failed: false)
        case .resultsDecoded: return self.ended(.results, failed: false)
        case .statusDecoded: return self.ended(.status, failed: false)
        case .tokenExchanged: return self.ended(.refresh, failed: false)
        default: return nil
        }
    }

    /// Whether a status alone says that an attempt failed, or that it did not; nil if that hangs on the body.
    private static func failed(_ operation: Operation, status: Int) -> Bool? {
        switch status {
        case 429: false
        case 404 where operation.isDelete, 410 where operation.isDelete, 409 where operation == .cancel: false
        // A 101 opens a WebSocket.
        case 101, 200..<300: operation.isDelete ? false : nil
        default: true
        }
    }

    private mutating func ended(_ operation: Operation, failed: Bool) -> End? {
        guard let attempt = self.open.last(where: { $0.operation == operation }) else { return nil }
        return self.end(attempt, failed: failed)
    }

    /// Nil for what ended before: a refusal may be unreadable as well.
    private mutating func end(_ attempt: Attempt, failed: Bool) -> End? {
        guard let index = self.open.firstIndex(of: attempt) else { return nil }
        self.open.remove(at: index)
        return End(metric: RateMetric(attemptsOf: attempt.operation), failed: failed)
    }
}

extension RateMetric {
    init(attemptsOf operation: Operation) {
        switch operation {
        case .upload: self = .uploadAttemptsFailed
        case .stream: self = .sseConnectAttemptsFailed
        case .results: self = .resultsAttemptsFailed
        case .cleanup, .cancel: self = .cleanupAttemptsFailed
        case .status: self = .statusAttemptsFailed
        case .refresh: self = .refreshAttemptsFailed
        }
    }
}
