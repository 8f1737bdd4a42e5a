import Dashboard
import EventLoop
import Ledger
import LivePhones
import Metrics
import Phone
import Plan
import RunArchive
import RunControl
import RunJudge
import RunMetrics
import SimBase

/// The page that shows the run as it goes.
extension LiveRun {
    func openDashboard() throws {
        guard let listener = self.preparation.dashboard else { return }
        self.page = try RunPage(
            listener, asked: self.request.dashboard, stays: self.request.dashboardStays,
            of: self.plan.scenario, started: self.startedWall, clock: self.clock, loop: self.loop,
            console: self.console
        ) { [unowned self] in self.follow($0) }
    }

    func updateDashboard() {
        guard self.outcome == nil else { return }
        let now = self.clock.now()
        self.page?.show(at: now) {
            var moment = self.moment(at: now)
            if !moment.result.controls.isEmpty { moment.result.add([.load(.controlled)]) }
            moment.control = self.control
            return moment
        }
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

    /// Returns the time from data that is already known: measurements are read from the files by the page.
    func moment(at now: Instant) -> LiveMoment {
        let dueByNow = self.due.count(upTo: now)
        let judge = self.feed.judge
        var metrics = MetricTable(groups: self.plan.groups.map(\.spec.name))
        judge.ledger.record(into: &metrics)
        metrics.add(Int64(self.gauges.captured), to: .arrivalsAchieved, in: .none)
        // What phones of closed groups will capture hangs on the backend.
        if self.plan.scenario.closedGroups.isEmpty {
            metrics.add(Int64(dueByNow), to: .arrivalsPlanned, in: .none)
        } else {
            metrics.cannotKnow(.count(.arrivalsPlanned))
        }
        metrics.add(Int64(self.gauges.arrivalsLate), to: .arrivalsLate, in: .none)
        var result = judge.result(of: self.head, length: now - .zero, metrics: metrics)
        result.failure = self.failure?.text
        result.resources = self.resources
        result.heldBack = self.gauges.heldBack
        result.remarks = self.remarks
        result.directory = self.directory.path
        var moment = LiveMoment(
            at: now, measured: judge.measuredUntil, result: result, timeline: judge.timeline.withoutPhones,
            scansPlanned: self.plan.scenario.closedGroups.isEmpty
                ? self.preparation.expectedArrivals.scans : nil,
            lastArrival: self.preparation.expectedArrivals.lastArrival,
            phonesOffline: self.gauges.phonesOffline,
            latenessMost: self.gauges.latenessMost)
        moment.heldBack = self.gauges.heldBack
        return moment
    }
}

/// The number of due captures by a moment: compared with actual ones, it shows a generator that falls behind.
struct DueArrivals {
    private var schedule: ArrivalSchedule
    private var next: Arrival?
    private var count = 0

    init(_ schedule: ArrivalSchedule) {
        self.schedule = schedule
        self.next = self.schedule.next()
    }

    /// Adds a stage to a load in steps.
    mutating func extend(_ stage: ArrivalStage?) {
        self.schedule.extend(stage)
        if self.next == nil { self.next = self.schedule.next() }
    }

    /// Moments may only continue.
    mutating func count(upTo moment: Instant) -> Int {
        while let arrival = self.next, arrival.scheduled <= moment {
            self.count += 1
            self.next = self.schedule.next()
        }
        return self.count
    }
}
