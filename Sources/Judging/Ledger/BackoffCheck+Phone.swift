import SimBase
import Talaria

// What is known of one phone.

extension BackoffCheck {
    /// The end of an upload that has not returned to the queue yet.
    enum End: Sendable {
        case answered(Int)
        case failed
        /// The path was lost: not a failure.
        case withoutPath
    }

    struct Phone: Sendable {
        let device: DeviceNumber
        let slotsMax: Int
        let drawsWaits: Bool
        /// The server's `retry:` raises the base of streams.
        let retry: Interval?
        var chains: [BackoffChain] = []
        var restarts = RestartBudget()
        var uploads: [(scan: ScanNumber, attempt: UInt32, end: End)] = []
        /// DELETEs under way.
        var cleanups: [(scan: ScanNumber, attempt: UInt32, job: String)] = []
        /// The waits that responses in flight request.
        var told: [(operation: Operation, scan: ScanNumber, attempt: UInt32, wait: Interval, status: Int)] =
            []
        /// Waits that have begun at this moment: the server's word for them may be observed after the phone's.
        var begun: [(operation: Operation, scan: ScanNumber, attempt: UInt32, job: String?, at: Instant)] = []
        var slots = 0
        /// Only where a server says `retry:`.
        var retryFields = RetryFields()
        var isOnScreen = true
        var hasPath = true
        var isFull = false
        /// Uploads wait until then: for a 429, or for the moment at which the queue opens after an outage.
        var opensAt = Instant.zero
        /// The phone's word of a 429 whose wait is zero.
        var mayComeAtOnce: ScanNumber?

        init(_ device: DeviceNumber, slotsMax: Int, drawsWaits: Bool, retry: Interval?) {
            self.device = device
            self.retry = retry
            self.slotsMax = slotsMax
            self.drawsWaits = drawsWaits
        }
    }
}
