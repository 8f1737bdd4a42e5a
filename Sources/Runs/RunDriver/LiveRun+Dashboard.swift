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

/// The page that shows the run as it goes: told once a second, and never waited for but at the very end.
extension LiveRun {
    func openDashboard() throws {
        guard let listener = self.preparation.dashboard else { return }
        let scenario = self.plan.scenario
        let dashboard = try Dashboard(
            listener, scenario: scenario.name, description: scenario.description,
            run: Hexadecimal.text(UInt64(bitPattern: self.startedWall), digits: 16),
            token: Self.drawToken(), stays: self.request.dashboardStays, clock: self.clock)
        self.dashboard = dashboard
        dashboard.onOrder(on: self.loop) { [unowned self] in self.follow($0) }
        if let asked = self.request.dashboard, asked.mayMove, asked.port != listener.port {
            self.console.error("port \(asked.port) is in use, so the dashboard is on a free port")
        }
        self.console.error("dashboard: \(dashboard.controlURL)")
    }

    /// 128 bits that nobody can guess: the right to control this run.
    private static func drawToken() -> String {
        (0..<2).map { _ in Hexadecimal.text(UInt64.random(in: .min ... .max), digits: 16) }.joined()
    }

    func updateDashboard() {
        let now = self.clock.now()
        guard let dashboard = self.dashboard, self.outcome == nil, now >= .zero,
            self.toldAt.map({ now - $0 >= .seconds(1) }) ?? true
        else { return }
        self.toldAt = now
        dashboard.show(self.moment(at: now))
    }

    /// Serves the page of the finished run until it is closed or a signal comes. A run that a signal has ended is not kept.
    func keepDashboard() {
        guard let dashboard = self.dashboard, self.staysOpen else { return }
        self.control.ended(isServed: true)
        RunInterruption.followsReport()
        self.console.error("the dashboard stays at \(dashboard.url) until you close it there or press Ctrl-C")
        _ = self.loop.turn(
            until: { self.isDashboardClosed || Interruption.isRequested }, atMost: .hours(24 * 365))
        dashboard.end()
    }

    var staysOpen: Bool { self.request.dashboardStays && !Interruption.isRequested }

    func closeDashboard() {
        self.dashboard?.close(on: self.loop)
        self.dashboard = nil
    }

    /// Returns the moment from data that is already known: measurements are read from the files by the page.
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
        result.warnings = self.warnings
        result.directory = self.directory.path
        if let note = result.controlNote { result.warnings.insert(note, at: 0) }
        var moment = LiveMoment(
            at: now, measured: judge.measuredUntil, result: result, timeline: judge.timeline.withoutPhones,
            scansPlanned: self.plan.scenario.closedGroups.isEmpty
                ? self.preparation.expectedArrivals.scans : nil,
            lastArrival: self.preparation.expectedArrivals.lastArrival,
            phonesOffline: self.gauges.phonesOffline,
            latenessMost: self.gauges.latenessMost)
        moment.control = self.control
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

    /// Moments may only continue.
    mutating func count(upTo moment: Instant) -> Int {
        while let arrival = self.next, arrival.scheduled <= moment {
            self.count += 1
            self.next = self.schedule.next()
        }
        return self.count
    }
}
