package import EventLoop
package import Ledger
package import Metrics
package import RunArchive
import SimBase
import Wire

/// The page of a run, held open before the run begins, so that a port that is taken is told in time.
package final class DashboardListener {
    private var descriptor: Descriptor?
    package let url: String

    package init(_ address: DashboardAddress) throws(SystemError) {
        let descriptor = try StreamSocket.listen(host: address.host, port: address.port)
        self.url = address.url(port: try StreamSocket.localPort(of: descriptor.number))
        self.descriptor = consume descriptor
    }

    /// The socket, once.
    fileprivate func release() -> Int32 {
        guard let descriptor = self.descriptor.take() else {
            preconditionFailure("a listener is one page's")
        }
        return descriptor.release()
    }
}

/// Shows a run to whoever looks on, on a thread of its own that goes after all others. The run tells it how things stand
/// and goes on: nothing that a viewer does or leaves undone is waited for, but for a moment at the very end.
package final class Dashboard {
    private enum Message: Sendable {
        case begin(folder: String, RunHead, SLOParts)
        case moment(LiveMoment)
        case judged(RunResult, Chronicle)
        case finish(RunResult)
        case fail(String)
    }

    private let messages: Mailbox<Message>
    private let over: Mailbox<Bool>
    private var thread: LoopThread<Void>?
    private var isToldTheEnd = false
    package let url: String

    /// `run`: tells this run from others; letters and digits.
    package init(
        _ listener: DashboardListener, scenario: String, description: String, run: String,
        clock: LoopClock
    ) throws(SystemError) {
        self.url = listener.url
        // A moment a second, and they are taken at once: what is more is a thread that does not run.
        let messages = try Mailbox<Message>(messagesMax: 64)
        let over = try Mailbox<Bool>(messagesMax: 1)
        self.messages = messages
        self.over = over
        let socket = listener.release()
        let desk = PageDesk(
            page: LivePage.document(scenario: scenario, description: description), policy: LivePage.policy)
        self.thread = try LoopThread.start(name: "dashboard") {
            CurrentThread.standBack()
            if let loop = try? Loop(clock: clock) {
                let office = Office(Descriptor(owning: socket), desk: desk, run: run, loop: loop)
                let reader = messages.read(on: loop) { office.heard($0) }
                withExtendedLifetime(reader) { loop.run() }
                office.close()
            } else {
                StreamSocket.close(socket)
            }
            over.post(true)
        }
    }

    // MARK: What the run tells

    /// The run's folder is there. `objectives`: before anything was measured.
    package func begin(folder: String, head: RunHead, objectives: SLOParts) {
        self.messages.post(.begin(folder: folder, head, objectives))
    }

    package func show(_ moment: LiveMoment) { self.messages.post(.moment(moment)) }

    /// It has run and is judged: time to draw all of it, while its reports are written.
    package func judged(_ result: RunResult, _ chronicle: Chronicle) {
        self.messages.post(.judged(result, chronicle))
    }

    /// How it ended. To be followed by `close`.
    package func finish(_ result: RunResult) {
        self.isToldTheEnd = true
        self.messages.post(.finish(result))
    }

    /// It came to no verdict. To be followed by `close`.
    package func fail(_ text: String) {
        self.isToldTheEnd = true
        self.messages.post(.fail(text))
    }

    /// Waits until those who are reading have got the last word, and never longer than `closingMax`.
    package func close(on loop: Loop) {
        if !self.isToldTheEnd { self.fail("the run ended before it began") }
        var isOver = false
        let reader = self.over.read(on: loop) { _ in isOver = true }
        let deadline = LoopTimer(loop: loop) { _ in isOver = true }
        deadline.arm(after: DashboardLimits.closingMax)
        while !isOver, loop.runOnce() {}
        withExtendedLifetime(reader) { deadline.disarm() }
        // Not joined: a thread that is kept from running ends with the process.
        self.thread = nil
    }

    // MARK: Its thread

    /// What the thread does with what it is told.
    private final class Office {
        private let loop: Loop
        private var server: DashboardServer?
        private var page: LivePage?
        /// Not drawn yet, for want of somebody who looks.
        private var undrawn: LiveMoment?
        private var farewell: LoopTimer?
        private var farewellEnd: Instant?

        init(_ listener: consuming Descriptor, desk: PageDesk, run: String, loop: Loop) {
            self.loop = loop
            self.server = DashboardServer(listener, desk: desk, run: run, loop: loop) { [unowned self] in
                self.draw()
            }
            self.farewell = LoopTimer(loop: loop) { [unowned self] _ in self.endIfSaid() }
        }

        func close() {
            self.server?.shutDown()
            self.server = nil
        }

        func heard(_ messages: [Message]) {
            for (place, message) in messages.enumerated() {
                switch message {
                case .begin(let folder, let head, let objectives):
                    self.page = LivePage(folder: folder, head: head, objectives: objectives)
                case .moment(let moment):
                    // Only the newest is worth drawing.
                    let isNewest = !messages[(place + 1)...].contains {
                        if case .moment = $0 { true } else { false }
                    }
                    if isNewest { self.take(moment) }
                case .judged(let result, let chronicle):
                    self.undrawn = nil
                    // Nobody looks: then nothing is drawn either.
                    guard self.server?.hasViewers == true,
                        let frame = self.page?.lastFrame(result, chronicle)
                    else { continue }
                    self.server?.show(frame)
                case .finish(let result):
                    self.say(LivePage.lastHead(result), LivePage.lastWord(result))
                case .fail(let text):
                    self.undrawn = nil
                    self.say(LivePage.frame(failure: text), "no verdict")
                }
            }
        }

        private func take(_ moment: LiveMoment) {
            self.page?.read(moment)
            self.undrawn = moment
            guard self.server?.hasViewers == true, let frame = self.draw() else { return }
            self.server?.show(frame)
        }

        private func draw() -> LiveFrame? {
            guard let moment = self.undrawn else { return nil }
            self.undrawn = nil
            return self.page?.frame(moment)
        }

        private func say(_ frame: LiveFrame?, _ word: String) {
            var last: [UInt8] = []
            SSEWriter.event(id: nil, type: "finished", data: word, into: &last)
            self.server?.finish(frame, last)
            self.endIfSaid()
        }

        /// Looked at again and again: it is a matter of milliseconds.
        private func endIfSaid() {
            let end = self.farewellEnd ?? self.loop.now() + DashboardLimits.farewellMax
            self.farewellEnd = end
            guard self.server?.isSaid == false, self.loop.now() < end else { return self.loop.stop() }
            self.farewell?.arm(after: .milliseconds(2))
        }
    }
}
