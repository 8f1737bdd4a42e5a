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
        self.lostBy = cause
        measured[group].disconnections.lost(cause)
    }

    mutating func reconnectSuperseded(
        _ cause: LossCause, into measured: inout Measurements, _ group: MetricGroup
    ) {
        self.lostAt = nil
        self.superseded(cause, into: &measured, group)
    }

    /// The scan goes up again: what comes next is another stream.
    func superseded(_ cause: LossCause, into measured: inout Measurements, _ group: MetricGroup) {
        measured[group].disconnections.superseded(cause)
        measured.table.add(1, to: .sseRestarts, in: group)
    }

    mutating func opened(
        resumed: Bool, at: Instant, launchedAt: Instant, into measured: inout Measurements,
        _ group: MetricGroup
    ) {
        self.connect.end(failed: false, .sseConnectFailed, into: &measured, group)
        let cause = self.lossBeforeKill
        self.cutLoss = nil
        self.stream = .open
        guard let cause else { return }
        // If the next process had noticed a loss of its own, `reconnected` says the rest.
        guard !self.isLost else {
            measured[group].disconnections.gaveUp(cause)
            return
        }
        let (took, overflow) = at.nanoseconds.subtractingReportingOverflow(launchedAt.nanoseconds)
        self.reconnected(
            cause, resumed: resumed, took: .nanoseconds(overflow ? 0 : took), into: &measured, group)
    }

    /// The loss that a kill was, or that it cut short; nil if there is none, or if it has had its end.
    var lossBeforeKill: LossCause? { self.stream == .killed ? .killed : self.cutLoss }

    /// The process was killed. An open stream is lost by that; a loss that had no end yet goes on after the next launch.
    mutating func killed(into measured: inout Measurements, _ group: MetricGroup) {
        if self.stream == .open {
            self.stream = .killed
            measured[group].disconnections.lost(.killed)
        }
        if self.isLost, let cause = self.lostBy {
            // The one before it had its end when this one was noticed.
            if let before = self.lossBeforeKill { measured[group].disconnections.gaveUp(before) }
            if self.stream == .killed { self.stream = .closed }
            self.cutLoss = cause
        }
        self.lostAt = nil
    }

    func reconnected(
        _ cause: LossCause, resumed: Bool, took: Interval, into measured: inout Measurements,
        _ group: MetricGroup
    ) {
        measured[group].disconnections.reconnected(cause, resumed: resumed, took: took)
        measured.table.add(1, to: resumed ? .sseResumes : .sseRestarts, in: group)
        measured.record(.sseReconnectTime, took, in: group)
        measured.table.record(.sseReconnectFailed, failed: false, in: group)
    }
}
