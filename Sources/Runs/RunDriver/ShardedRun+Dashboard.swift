import Dashboard
import EventLoop
import Faults
import Plan
import RunArchive
import RunControl
import RunJudge
import SimBase

/// The one dashboard of several processes. `RunControl` decides here on all phones, and each process carries it out on its own.
extension ShardedRun {
    func openDashboard(_ listener: DashboardListener?) throws {
        guard let listener else { return }
        self.page = try RunPage(
            listener, asked: self.request.dashboard, stays: self.request.dashboardStays,
            of: self.plan.scenario, started: WallClock.now() / 1_000_000, clock: .startingNow(),
            loop: self.loop, console: self.console
        ) { [unowned self] in self.follow($0) }
    }

    func updateDashboard() {
        guard let page = self.page else { return }
        let now = self.now
        page.show(at: now) {
            if !self.standing.hasBegun, let folders = self.standing.begin(self.shards) {
                page.begin(folders: folders, objectives: self.standing.objectives)
            }
            guard let moment = self.standing.moment(at: now, self.shards) else { return nil }
            // Each of them has its phones.
            self.control.began()
            return self.shown(moment)
        }
    }

    private func shown(_ moment: LiveMoment) -> LiveMoment {
        var moment = moment
        moment.phonesOffline = self.progress.offline
        moment.heldBack = self.progress.heldBack
        moment.result.directory = self.folder.path
        if !moment.result.controls.isEmpty { moment.result.add([.load(.controlled)]) }
        moment.control = self.control
        return moment
    }

    /// Serves the page of the finished run until it is closed or a signal comes.
    func keepDashboard() {
        guard let page = self.page, page.staysOpen else { return }
        self.control.ended(isServed: true)
        page.keep()
    }

    func closeDashboard() {
        self.page?.close()
        self.page = nil
    }

    // MARK: Control

    private func follow(_ order: ControlOrder) -> ControlReply {
        if self.isInterrupted || self.shards.allSatisfy({ $0.isJudging || $0.isOver }) {
            self.control.ends()
        }
        let now = max(.zero, self.now)
        do throws(ControlRefusal) {
            let decision = try self.control.handle(order, at: now)
            self.carryOut(decision.effect)
            guard let action = decision.observation else { return .done("closed") }
            let record = ControlRecord(
                at: now, action: action, faults: self.plan.scenario.faults.map(\.id))
            if !self.request.isQuiet {
                self.console.error("\(ProgressLine.clock(now))  dashboard: \(record.text)")
            }
            self.page?.hurry()
            return .done(record.text)
        } catch {
            return .refused(error.text)
        }
    }

    private func carryOut(_ effect: ControlEffect) {
        switch effect {
        case .close: self.page?.viewerClosed()
        case .stop:
            self.isInterrupted = true
            self.sendToAll(effect)
            // One that has not begun hears no orders, and ends with its pipe.
            for shard in self.shards { shard.interrupt() }
        case .holdArrivals, .releaseArrivals, .rest, .wake, .fault, .offline: self.sendToAll(effect)
        }
    }

    private func sendToAll(_ effect: ControlEffect) {
        for shard in self.shards { shard.send(.control(effect)) }
    }
}
