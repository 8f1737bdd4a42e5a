import EventLoop
import SimBase

/// The page's server: one loop, its listener, and those who look on. Belongs to its loop's thread.
final class DashboardServer {
    let loop: Loop
    let desk: PageDesk
    private let listener: Descriptor
    private var watch: Watch?
    private var watchman: LoopTimer?
    private var burial: LoopTimer?
    private(set) var viewers: [Viewer] = []
    private var closedViewers: [Viewer] = []
    private var book: FrameBook
    /// Of the last question: most viewers are at the same version.
    private var answer: (after: Int, version: Int, events: [UInt8])?
    /// Asked for the present state when somebody follows who may not have it.
    private let renew: () -> LiveFrame?
    private var isOver = false

    init(
        _ listener: consuming Descriptor, desk: PageDesk, run: String, loop: Loop,
        renew: @escaping () -> LiveFrame?
    ) {
        self.loop = loop
        self.desk = desk
        self.listener = listener
        self.book = FrameBook(run: run)
        self.renew = renew
        self.watch = loop.watch(self.listener.number, .read) { [unowned self] _ in self.accept() }
        self.watchman = LoopTimer(loop: loop) { [unowned self] _ in
            self.check(at: self.now)
            self.watchman?.arm(after: DashboardLimits.watchEvery)
        }
        self.burial = LoopTimer(loop: loop) { [unowned self] _ in self.closedViewers.removeAll() }
        self.watchman?.arm(after: DashboardLimits.watchEvery)
    }

    var now: Instant { self.loop.now() }

    /// Whether anybody sees what is shown.
    var hasViewers: Bool { self.viewers.contains(where: \.isFollowing) }

    var hasRoom: Bool { self.viewers.count(where: \.isFollowing) < DashboardLimits.viewersMax }

    // MARK: Frames

    func show(_ frame: LiveFrame) {
        self.book.take(frame)
        self.answer = nil
        for viewer in self.viewers { viewer.bringUpToDate() }
    }

    /// Somebody has come: what was not drawn because nobody looked is drawn now.
    func someoneFollows() {
        guard !self.isOver, let frame = self.renew() else { return }
        self.show(frame)
    }

    func events(after version: Int) -> (events: [UInt8], version: Int) {
        if let answer, answer.after == version, answer.version == self.book.version {
            return (answer.events, answer.version)
        }
        let events = self.book.events(after: version)
        self.answer = (version, self.book.version, events)
        return (events, self.book.version)
    }

    func version(ofLast id: String?) -> Int { self.book.version(ofLast: id) }

    /// Says goodbye to everybody. What they do not take by the end of their time is thrown away.
    func finish(_ frame: LiveFrame?, _ last: [UInt8]) {
        self.isOver = true
        self.watch?.cancel()
        if let frame {
            self.book.take(frame)
            self.answer = nil
        }
        for viewer in self.viewers { viewer.finish(last) }
    }

    /// Whether everybody who is still there has taken all there was.
    var isSaid: Bool { !self.viewers.contains(where: \.isBehind) }

    func shutDown() {
        self.watch?.cancel()
        self.watchman?.disarm()
        for viewer in self.viewers { viewer.close() }
    }

    // MARK: Connections

    private static let acceptsPerTurnMax = 16

    private func accept() {
        for _ in 0..<Self.acceptsPerTurnMax {
            switch StreamSocket.accept(self.listener.number) {
            case .wouldBlock: return
            case .failed:
                // The listener stays ready: without a pause it would be asked again and again.
                self.watch?.interest = []
                return
            case .connection(let socket):
                guard self.viewers.count < DashboardLimits.connectionsMax else {
                    StreamSocket.close(socket)
                    continue
                }
                self.viewers.append(Viewer(socket: socket, server: self))
            }
        }
    }

    func closed(_ viewer: Viewer) {
        // Let go in a turn of its own: the viewer is still on the stack.
        self.closedViewers.append(viewer)
        self.viewers.removeAll { $0 === viewer }
        self.burial?.arm(at: self.now)
    }

    /// Drops whoever has had his time.
    func check(at now: Instant) {
        for viewer in self.viewers { viewer.check(at: now) }
        if !self.isOver, self.watch?.interest == [] { self.watch?.interest = .read }
    }
}
