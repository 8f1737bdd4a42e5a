internal import SimBase

/// The failure rates of a run: failed operations of all operations, and failed attempts of all attempts
/// (Docs/design.md sections 7 and 11.8). A lower rate is always the better one.
package enum RateMetric: String, CaseIterable, Sendable {
    case preprocessFailed = "preprocess.failed"
    case uploadFailed = "upload.failed"
    case sseConnectFailed = "sse.connect.failed"
    /// A loss episode that never got a 200.
    case sseReconnectFailed = "sse.reconnect.failed"
    case resultsFailed = "results.failed"
    case cleanupFailed = "cleanup.failed"
    /// An attempt fails by itself, also where the operation succeeds with the next one.
    case uploadAttemptsFailed = "upload.attempts.failed"
    /// Requests for a stream: the first ones and those of a reconnect.
    case sseConnectAttemptsFailed = "sse.connect.attempts.failed"
    case resultsAttemptsFailed = "results.attempts.failed"
    case cleanupAttemptsFailed = "cleanup.attempts.failed"
    case statusFailed = "status.failed"
    case statusAttemptsFailed = "status.attempts.failed"
    /// Of the final titles and authors of books that phones have read by themselves.
    case reconcileWrong = "reconcile.wrong"
    /// Exchanges of a token for a new one.
    case refreshAttemptsFailed = "refresh.attempts.failed"
}

extension RateMetric: MetricCase {
    /// The index, from 0, in the order of `allCases`.
    package var ordinal: Int {
        switch self {
        case .preprocessFailed: 0
        case .uploadFailed: 1
        case .sseConnectFailed: 2
        case .sseReconnectFailed: 3
        case .resultsFailed: 4
        case .cleanupFailed: 5
        case .uploadAttemptsFailed: 6
        case .sseConnectAttemptsFailed: 7
        case .resultsAttemptsFailed: 8
        case .cleanupAttemptsFailed: 9
        case .statusFailed: 10
        case .statusAttemptsFailed: 11
        case .reconcileWrong: 12
        case .refreshAttemptsFailed: 13
        }
    }

    package var better: Better { .lower }

    /// The phone sees for itself whether an operation of its own failed. Only the ledger knows what is true.
    package var needsBackend: Bool { self == .reconcileWrong }
}

/// The number of operations and the number of failed ones.
package struct FailureRate: Hashable, Sendable {
    package private(set) var failed: Int64 = 0
    package private(set) var total: Int64 = 0

    package init() {}

    package init(failed: Int64, total: Int64) {
        precondition(failed >= 0 && failed <= total, "only operations can fail")
        self.failed = failed
        self.total = total
    }

    package mutating func record(failed: Bool) {
        self.total += 1
        if failed { self.failed += 1 }
    }

    package mutating func add(_ other: FailureRate) {
        self.failed = self.failed.addingSaturating(other.failed)
        self.total = self.total.addingSaturating(other.total)
    }

    /// Takes off what was added before.
    mutating func subtract(_ other: FailureRate) {
        self.total = max(0, self.total - other.total)
        self.failed = min(max(0, self.failed - other.failed), self.total)
    }
}
