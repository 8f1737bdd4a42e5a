import Metrics
import Observations
import SimBase
import Talaria

// `sse.reconnect.time`: the time from the first loss of a stream to its next 200 head. The phone measures it from
// `LossEpisode.noticedAt` (`App.streamOpened` in `App+Stream.swift`). After a kill, it is the time from the launch of the next
// process, and is measured here. `RunJudge/ReconnectAccount.swift` measures both a second time.

extension ScanOperations {
    mutating func streamLost(
        _ cause: LossCause, at: Instant, into measured: inout Measurements, _ group: MetricGroup
    ) {
        self.stream.ended()
        guard !self.isLost else { return }  // Another attempt of the same episode.
        self.lostAt = at
        measured[group].disconnections.lost(cause)
    }

    mutating func reconnectSuperseded(
        _ cause: LossCause, into measured: inout Measurements, _ group: MetricGroup
    ) {
        self.lostAt = nil
        measured[group].disconnections.superseded(cause)
        measured.table.add(1, to: .sseRestarts, in: group)
    }

    mutating func opened(
        resumed: Bool, at: Instant, launchedAt: Instant, into measured: inout Measurements,
        _ group: MetricGroup
    ) {
        self.connect.end(failed: false, .sseConnectFailed, into: &measured, group)
        let wasKilled = self.stream == .killed
        self.stream = .open
        guard wasKilled else { return }
        // If the next process had noticed a loss of its own, `reconnected` says the rest.
        guard !self.isLost else {
            measured[group].disconnections.gaveUp(.killed)
            return
        }
        let (took, overflow) = at.nanoseconds.subtractingReportingOverflow(launchedAt.nanoseconds)
        self.reconnected(
            .killed, resumed: resumed, took: .nanoseconds(overflow ? 0 : took), into: &measured, group)
    }

    func reconnected(
        _ cause: LossCause, resumed: Bool, took: Interval, into measured: inout Measurements,
        _ group: MetricGroup
    ) {
        measured[group].disconnections.reconnected(cause, resumed: resumed, took: took)
        measured.table.add(1, to: resumed ? .sseResumes : .sseRestarts, in: group)
        measured.table.record(.sseReconnectTime, took, in: group)
        measured.table.record(.sseReconnectFailed, failed: false, in: group)
    }
}
