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

    /// The app is not running: what was under way has no end.
    mutating func stopped() { self.open = [] }

    /// Takes a observation of the scan; answers when it ends an attempt.
    mutating func record(_ payload: PhoneObservation) -> End? {
        switch payload {
        case .requestSent(let operation, let number, _, _):
            // Several jobs of one scan may be deleted at once; of everything else there is one at a time.
            if !operation.isDelete { self.open.removeAll { $0.operation == operation } }
            self.open.append(Attempt(operation: operation, number: number))
            return nil
        case .replied(let operation, let number, let status, _):
            guard let failed = Self.failed(operation, status: status) else { return nil }
            return self.end(Attempt(operation: operation, number: number), failed: failed)
        case .requestFailed(let operation, let number, _, _), .badAnswer(let operation, let number, _):
            return self.end(Attempt(operation: operation, number: number), failed: true)
        case .uploadAccepted: return self.succeeded(.upload)
        case .streamOpened: return self.succeeded(.stream)
        case .resultsDecoded: return self.succeeded(.results)
        case .statusDecoded: return self.succeeded(.status)
        default: return nil
        }
    }

    /// Whether a status alone says that an attempt failed, or that it did not; nil if that hangs on the body.
    private static func failed(_ operation: Operation, status: Int) -> Bool? {
        switch status {
        case 429: false
        case 404 where operation.isDelete, 410 where operation.isDelete, 409 where operation == .cancel: false
        case 200..<300: operation.isDelete ? false : nil
        default: true
        }
    }

    private mutating func succeeded(_ operation: Operation) -> End? {
        guard let attempt = self.open.last(where: { $0.operation == operation }) else { return nil }
        return self.end(attempt, failed: false)
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
        }
    }
}
