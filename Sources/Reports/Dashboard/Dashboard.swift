package import EventLoop
import Ledger
package import Metrics
import Reports
import RunArchive
package import RunControl
package import RunJudge
package import RunMetrics
import SimBase
package import SystemIO
import Wire

/// The listening socket of the dashboard. It is opened before the run begins, so that a port in use is reported in time.
package final class DashboardListener {
    private var descriptor: Descriptor?
    package let url: String
    package let port: UInt16

    package init(_ address: DashboardAddress) throws(SystemError) {
        let descriptor = try StreamSocket.listen(host: address.host, port: address.port)
        self.port = try StreamSocket.localPort(of: descriptor.number)
        self.url = address.url(port: self.port)
        self.descriptor = consume descriptor
    }

    /// The socket, once.
    fileprivate func release() -> Int32 {
        guard let descriptor = self.descriptor.take() else {
            preconditionFailure("a listener serves one page")
        }
        return descriptor.release()
    }
}

/// Shows a run in progress to browsers. It has a thread of its own with the lowest priority. The run posts its state and goes
/// on; it never waits for a client, except briefly at its end.
package final class Dashboard {
    private enum Message: Sendable {
        case begin(folders: [(path: String, head: RunHead)], SLOParts)
        case moment(LiveMoment)
        case judged(RunResult, RunTimeline)
        case finish(RunResult, stays: Bool)
        case fail(String)
        /// The page of a finished run was closed.
        case end
        case reply(Int, ControlReply)
    }

    private typealias Order = (number: Int, order: ControlOrder)

    /// Orders that may wait for the run.
    private static let ordersMax = 64

    private let messages: Mailbox<Message>
    private let orders: Mailbox<Order>
    private var orderReader: MailboxReader<Order>?
    private let over: Mailbox<Bool>
    private var thread: LoopThread<Void>?
    private var hasEnd = false
    package let url: String
    /// The address of the page with the token that its controls need.
    package let controlURL: String

    /// `run`: identifies this run; letters and digits. `token`: for orders; hard to guess. `stays`: whether
    /// the page is served after the run, until `end`.
    package init(
        _ listener: DashboardListener, scenario: String, description: String, run: String, token: String,
        stays: Bool, clock: LoopClock
    ) throws(SystemError) {
        self.url = listener.url
        self.controlURL = "\(listener.url)?control=\(token)"
        // A moment a second, and they are taken at once: a longer queue means a thread that does not run.
        let messages = try Mailbox<Message>(messagesMax: 64)
        let over = try Mailbox<Bool>(messagesMax: 1)
        self.messages = messages
        self.over = over
        let orders = try Mailbox<Order>(messagesMax: Self.ordersMax)
        self.orders = orders
        let gate = ControlGate(token: token, port: listener.port)
        let socket = listener.release()
        let router = DashboardRouter(
            page: LivePage.document(scenario: scenario, description: description).text,
            policy: LivePage.policy, gate: gate)
        self.thread = try LoopThread.start(name: "dashboard") {
            CurrentThread.lowerPriority()
            if let loop = try? Loop(clock: clock) {
                let handler = DashboardLoop(
                    Descriptor(owning: socket), router: router, run: run, stays: stays, loop: loop
                ) { orders.post(($0, $1)) }
                let reader = messages.read(on: loop) { handler.handle($0) }
                withExtendedLifetime(reader) { loop.run() }
                handler.close()
            } else {
                StreamSocket.close(socket)
            }
            over.post(true)
        }
    }

    // MARK: Calls of the run

    /// Begins with the folder of the run, or those of its shards, with their heads. `objectives` have no measurements yet.
    package func begin(folders: [(path: String, head: RunHead)], objectives: SLOParts) {
        self.messages.post(.begin(folders: folders, objectives))
    }

    package func show(_ moment: LiveMoment) { self.messages.post(.moment(moment)) }

    /// Renders the whole run after its verdict, while its reports are written.
    package func judged(_ result: RunResult, _ timeline: RunTimeline) {
        self.messages.post(.judged(result, timeline))
    }

    /// Shows the end of the run. `close` follows; if the page `stays`, after `end`.
    package func finish(_ result: RunResult, stays: Bool) {
        self.hasEnd = true
        self.messages.post(.finish(result, stays: stays))
    }

    /// Ends the page of a finished run. `close` follows.
    package func end() { self.messages.post(.end) }

    /// `decide` is called on this loop for each order, and answers it.
    package func onOrder(on loop: Loop, _ decide: @escaping (ControlOrder) -> ControlReply) {
        let messages = self.messages
        self.orderReader = self.orders.read(on: loop) { orders in
            for order in orders { messages.post(.reply(order.number, decide(order.order))) }
        }
    }

    /// Shows that the run has no verdict. `close` follows.
    package func fail(_ text: String) {
        self.hasEnd = true
        self.messages.post(.fail(text))
    }

    /// Waits until the clients have received the last event, at most `closingMax`.
    package func close(on loop: Loop) {
        if !self.hasEnd { self.fail("the run ended before it began") }
        var isOver = false
        let reader = self.over.read(on: loop) { _ in isOver = true }
        let deadline = LoopTimer(loop: loop) { _ in isOver = true }
        deadline.arm(after: DashboardLimits.closingMax)
        while !isOver, loop.runOnce() {}
        withExtendedLifetime(reader) { deadline.disarm() }
        self.orderReader = nil
        // Not joined: a thread that is kept from running ends with the process.
        self.thread = nil
    }

    // MARK: Its thread

    /// The state of the thread: it handles the messages of the run.
    private final class DashboardLoop {
        private let loop: Loop
        private var server: DashboardServer?
        private var page: LivePage?
        /// The newest moment if it was not rendered, because no browser follows.
        private var undrawn: LiveMoment?
        /// What `/metrics` tells: the newest moment, and the verdict after it.
        private var newest: LiveMoment?
        private var verdict: RunResult?
        private var flushTimer: LoopTimer?
        private var flushDeadline: Instant?
        /// Whether the page may have to be shown when the run is over.
        private let stays: Bool

        init(
            _ listener: consuming Descriptor, router: DashboardRouter, run: String, stays: Bool, loop: Loop,
            takeOrder: @escaping (Int, ControlOrder) -> Bool
        ) {
            self.loop = loop
            self.stays = stays
            self.server = DashboardServer(listener, router: router, run: run, loop: loop) { [unowned self] in
                self.draw()
            }
            self.server?.takeOrder = { [unowned self] number, order in
                if !takeOrder(number, order) {
                    self.server?.answer(number, .refused("too many orders are waiting"))
                }
            }
            self.server?.writeMetrics = { [unowned self] in self.metrics(as: $0) }
            self.flushTimer = LoopTimer(loop: loop) { [unowned self] _ in self.stopIfFlushed() }
        }

        func close() {
            self.server?.shutDown()
            self.server = nil
        }

        func handle(_ messages: [Message]) {
            for (index, message) in messages.enumerated() {
                switch message {
                case .begin(let folders, let objectives):
                    self.page = LivePage(folders: folders, objectives: objectives)
                case .moment(let moment):
                    // Only the newest moment is rendered.
                    let isNewest = !messages[(index + 1)...].contains {
                        if case .moment = $0 { true } else { false }
                    }
                    if isNewest { self.take(moment) }
                case .judged(let result, let timeline):
                    self.undrawn = nil
                    self.verdict = result
                    self.server?.momentChanged()
                    // Nothing is rendered while no browser follows.
                    guard self.stays || self.server?.hasFollowers == true,
                        let frame = self.page?.lastFrame(result, timeline)
                    else { continue }
                    self.server?.show(frame)
                case .finish(let result, let stays):
                    self.verdict = result
                    self.finish(
                        LivePage.lastHead(result, stays: stays), LivePage.lastLine(result), stays: stays)
                case .fail(let text):
                    self.undrawn = nil
                    self.finish(LivePage.frame(failure: text), "no verdict", stays: false)
                case .end:
                    self.server?.end()
                    self.stopIfFlushed()
                case .reply(let number, let reply): self.server?.answer(number, reply)
                }
            }
        }

        private func take(_ moment: LiveMoment) {
            self.page?.read(moment)
            self.undrawn = moment
            self.newest = moment
            self.server?.momentChanged()
            guard self.server?.hasFollowers == true, let frame = self.draw() else { return }
            self.server?.show(frame)
        }

        private func metrics(as format: MetricsText.Format) -> String {
            if let verdict { return OpenMetrics.text(verdict, as: format) }
            guard let moment = self.newest, let page = self.page else {
                return MetricSamples().text(as: format)
            }
            return page.metrics(moment, as: format)
        }

        private func draw() -> LiveFrame? {
            guard let moment = self.undrawn else { return nil }
            self.undrawn = nil
            return self.page?.frame(moment)
        }

        private func finish(_ frame: LiveFrame?, _ line: String, stays: Bool) {
            var last: [UInt8] = []
            SSEWriter.event(id: nil, type: "finished", data: line, into: &last)
            self.server?.finish(frame, last, stays: stays)
            if !stays { self.stopIfFlushed() }
        }

        /// Polls every 2 ms until all is sent or the time is over.
        private func stopIfFlushed() {
            let end = self.flushDeadline ?? self.loop.now() + DashboardLimits.flushMax
            self.flushDeadline = end
            guard self.server?.isFlushed == false, self.loop.now() < end else { return self.loop.stop() }
            self.flushTimer?.arm(after: .milliseconds(2))
        }
    }
}
