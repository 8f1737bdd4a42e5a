import Observations
import SimBase
import Talaria

// A client that goes to the background and leaves its streams as they are (Docs/apps.md section 4.8). What every client does there:
// `App+Background.swift`.

extension App {
    /// Leaves the open streams to their servers: they are no longer read or closed.
    mutating func leaveStreams(at now: Instant) {
        guard self.profile.background == .leavesStreams else { return }
        for index in self.exchanges.indices
        where self.exchanges[index].purpose == .stream && self.exchanges[index].head?.status == 200
            && self.exchanges[index].ending == nil
        {
            self.exchanges[index].purpose = .left
            self.exchanges[index].deadline = now + self.profile.stream.idleTimeout
        }
    }

    /// Whether a scan that is under way is removed when the app goes to the background.
    var abandonsInBackground: Bool {
        self.profile.background == .leavesStreams && self.profile.failedScans == .removed
    }

    /// Removes a scan with its job, which is deleted at once. The job of an upload that is under way stays unknown.
    mutating func abandonInBackground(_ index: Int, at now: Instant, into effects: inout [PhoneEffect]) {
        if self.active[index].scan.record.job != nil {
            let failures = self.active[index].stage.resultsFailures
            self.giveUpEpisodes(
                index, isSuperseded: false, resultsToo: failures > 0, at: now, into: &effects)
        }
        self.remove(index, overlay: .zero, at: now, into: &effects)
    }
}
