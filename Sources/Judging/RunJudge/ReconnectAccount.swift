import Observations
import SimBase

/// The second source of `sse.reconnect.time`: the streams of one phone that are open or lost. It does not use the
/// observation `reconnected`, from which `ScanOperations` in RunMetrics makes the metric (after a kill: from the launch and
/// `streamOpened`). The phone measures the time in `App+Stream.swift`.
struct ReconnectAccount: Sendable {
    private struct Stream: Sendable {
        let scan: ScanNumber
        var isOpen = false
        /// The time at which the loss was noticed.
        var lostAt: Instant?
        /// The last launch after a kill that took the open stream, or the search for a lost one.
        var launchedAt: Instant?
    }

    private var streams: [Stream] = []

    /// Returns the time of the reconnect that this observation completes.
    mutating func record(_ payload: PhoneObservation, _ scan: ScanNumber, at now: Instant) -> Interval? {
        switch payload {
        case .streamOpened:
            let stream = self.remove(scan)
            self.streams.append(Stream(scan: scan, isOpen: true))
            return (stream?.lostAt ?? stream?.launchedAt).map { now - $0 }
        case .streamLost:
            let stream = self.remove(scan)
            self.streams.append(
                Stream(scan: scan, lostAt: stream?.lostAt ?? now, launchedAt: stream?.launchedAt))
        case .reconnectGivenUp, .reconnectSuperseded:
            if let at = self.remove(scan)?.launchedAt {
                self.streams.append(Stream(scan: scan, launchedAt: at))
            }
        case .terminalApplied, .uploadAccepted, .completed, .refused, .canceled: _ = self.remove(scan)
        case .killed:
            self.streams = self.streams.map {
                Stream(scan: $0.scan, launchedAt: $0.isOpen || $0.lostAt != nil ? now : $0.launchedAt)
            }
        case .launched:
            for index in self.streams.indices where self.streams[index].launchedAt != nil {
                self.streams[index].launchedAt = now
            }
        case .suspended: for index in self.streams.indices { self.streams[index].isOpen = false }
        case .reinstalled: self.streams = []
        default: break
        }
        return nil
    }

    private mutating func remove(_ scan: ScanNumber) -> Stream? {
        self.streams.firstIndex { $0.scan == scan }.map { self.streams.remove(at: $0) }
    }
}
