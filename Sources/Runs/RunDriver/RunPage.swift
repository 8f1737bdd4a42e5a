import Dashboard
import EventLoop
import Metrics
import Plan
import RunControl
import RunJudge
import RunMetrics
import SimBase
import SystemIO

/// The dashboard of a run, on the run's loop: it shows the state of the run once a second, and the run waits
/// for it only at the very end.
final class RunPage {
    private static let shownEvery = Interval.seconds(1)

    private let dashboard: Dashboard
    private let stays: Bool
    private let loop: Loop
    private let console: Console
    private var shownAt: Instant?
    private var isClosed = false

    /// `started`: when the run was prepared, in milliseconds since 1970. `decide` is called for each order.
    init(
        _ listener: DashboardListener, asked: DashboardAddress?, stays: Bool, of scenario: Scenario,
        started: Int64, clock: LoopClock, loop: Loop, console: Console,
        decide: @escaping (ControlOrder) -> ControlReply
    ) throws {
        self.stays = stays
        self.loop = loop
        self.console = console
        self.dashboard = try Dashboard(
            listener, scenario: scenario.name, description: scenario.description,
            run: Hexadecimal.text(UInt64(bitPattern: started), digits: 16),
            token: Self.drawToken(), stays: stays, clock: clock)
        self.dashboard.onOrder(on: loop, decide)
        if let asked, asked.mayMove, asked.port != listener.port {
            console.error("port \(asked.port) is in use, so the dashboard is on a free port")
        }
        console.error("dashboard: \(self.dashboard.controlURL)")
    }

    /// 128 bits that cannot be guessed: the right to control this run.
    private static func drawToken() -> String {
        (0..<2).map { _ in Hexadecimal.text(UInt64.random(in: .min ... .max), digits: 16) }.joined()
    }

    /// The listening socket for a page. It is opened before a run begins, so that a port in use is reported in time.
    static func listen(_ address: DashboardAddress) throws -> DashboardListener {
        do throws(SystemError) {
            return try DashboardListener(address)
        } catch {
            if address.mayMove, let listener = try? DashboardListener(.anyPort) { return listener }
            throw CommandFailure(
                .unavailable,
                "the dashboard cannot listen on \(address.host) port \(address.port): \(error)",
                hint: "choose another port with --dashboard=PORT, or a free port with --dashboard=0")
        }
    }

    // MARK: While it runs

    /// `folders`: of the run, or of its shards, with their heads.
    func begin(folders: [(path: String, head: RunHead)], objectives: SLOParts) {
        self.dashboard.begin(folders: folders, objectives: objectives)
    }

    /// Shows a moment, if it is time for one. It is taken from data that is already known.
    func show(at now: Instant, _ moment: () -> LiveMoment?) {
        guard now >= .zero, self.shownAt.map({ now - $0 >= Self.shownEvery }) ?? true else { return }
        self.shownAt = now
        if let moment = moment() { self.dashboard.show(moment) }
    }

    /// The next moment is shown at once.
    func hurry() { self.shownAt = nil }

    // MARK: The end

    func judged(_ result: RunResult, _ timeline: RunTimeline) { self.dashboard.judged(result, timeline) }

    func finish(_ result: RunResult) { self.dashboard.finish(result, stays: self.staysOpen) }

    func fail(_ error: any Error) {
        self.dashboard.fail((error as? CommandFailure)?.message ?? "\(error)")
    }

    /// Whether it is served after the run. That of a run that a signal has ended is not.
    var staysOpen: Bool { self.stays && !Interruption.isRequested }

    /// Its viewer has closed it.
    func viewerClosed() { self.isClosed = true }

    /// Serves the page of the finished run until it is closed or a signal comes.
    func keep() {
        RunInterruption.followsReport()
        self.console.error(
            "the dashboard stays at \(self.dashboard.url) until you close it there or press Ctrl-C")
        _ = self.loop.turn(
            until: { self.isClosed || Interruption.isRequested }, atMost: .hours(24 * 365))
        self.dashboard.end()
    }

    func close() { self.dashboard.close(on: self.loop) }
}
