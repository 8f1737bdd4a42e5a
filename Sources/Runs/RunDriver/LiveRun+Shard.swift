import Dashboard
import EventLoop
import Reports
import RunArchive
import SimBase

/// What a shard says to the process that started it.
extension LiveRun {
    private static let progressEvery = Interval.milliseconds(250)
    private static let snapshotEvery = Interval.seconds(1)

    func sendProgress() {
        let now = self.loop.now()
        guard let link = self.link, now - self.progressSentAt >= Self.progressEvery else { return }
        self.progressSentAt = now
        link.send(.progress(self.standing))
    }

    /// Writes what a dashboard shows of this shard, once a second.
    func sendSnapshot() {
        let now = self.clock.now()
        guard let link = self.link, link.isShown, self.outcome == nil, now >= .zero,
            now - self.snapshotSentAt >= Self.snapshotEvery
        else { return }
        self.snapshotSentAt = now
        let moment = self.moment(at: now)
        // Without one, the page shows the one before.
        guard
            ShardSnapshot.write(
                moment.result, moment.timeline, summary: SummaryJSON.bytes(moment.result), of: self.head,
                to: self.directory.path)
        else { return }
        link.send(
            .snapshot(measured: moment.measured, lateness: moment.latenessMost ?? .zero))
    }
}
