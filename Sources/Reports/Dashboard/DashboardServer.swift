import EventLoop
import Metrics
import RunControl
import SimBase
import SystemIO

/// The dashboard's server: a listener and its connections on one loop. Confined to the loop's thread.
final class DashboardServer {
    let loop: Loop
    let router: DashboardRouter
    private let listener: Descriptor
    private var watch: Watch?
    private var pollTimer: LoopTimer?
    private var releaseTimer: LoopTimer?
    private(set) var connections: [DashboardConnection] = []
    private var closedConnections: [DashboardConnection] = []
    private var cache: FrameCache
    /// The last result of `events(after:)`. Most connections are at the same version.
    private var answer: (after: Int, version: Int, events: [UInt8])?
    /// Returns the newest frame that was not rendered yet.
    private let renew: () -> LiveFrame?
    /// Writes the numbers of the newest moment. Nil before there is one.
    var writeMetrics: ((MetricsText.Format) -> String)?
    /// The numbers as they were last asked for: each moment is written once at most in each format.
    private var metrics: [(format: MetricsText.Format, text: String)] = []
    /// Sends an order to the run, which answers with its number. Nil if orders are not accepted.
    var takeOrder: ((Int, ControlOrder) -> Void)?
    private var orders = 0
    /// Connections that wait for the run to decide, by the numbers of their orders.
    private var deciding: [(number: Int, connection: DashboardConnection)] = []
    /// The last bytes of each stream, once the run is over.
    private(set) var last: [UInt8]?
    /// Whether the server has stopped.
    private var isOver = false

    init(
        _ listener: consuming Descriptor, router: DashboardRouter, run: String, loop: Loop,
        renew: @escaping () -> LiveFrame?
    ) {
        self.loop = loop
        self.router = router
        self.listener = listener
        self.cache = FrameCache(run: run)
        self.renew = renew
        self.watch = loop.watch(self.listener.number, .read) { [unowned self] _ in self.accept() }
        self.pollTimer = LoopTimer(loop: loop) { [unowned self] _ in
            self.check(at: self.now)
            self.pollTimer?.arm(after: DashboardLimits.pollEvery)
        }
        self.releaseTimer = LoopTimer(loop: loop) { [unowned self] _ in self.closedConnections.removeAll() }
        self.pollTimer?.arm(after: DashboardLimits.pollEvery)
    }

    var now: Instant { self.loop.now() }

    /// Whether any connection follows the run.
    var hasFollowers: Bool { self.connections.contains(where: \.isFollowing) }

    var hasRoom: Bool { self.connections.count(where: \.isFollowing) < DashboardLimits.followersMax }

    // MARK: Frames

    func show(_ frame: LiveFrame) {
        self.cache.take(frame)
        self.answer = nil
        for connection in self.connections { connection.sendNewest() }
    }

    /// Renders the newest moment, which was not rendered while no browser followed.
    func followerJoined() {
        guard self.last == nil, let frame = self.renew() else { return }
        self.show(frame)
    }

    func events(after version: Int) -> (events: [UInt8], version: Int) {
        if let answer, answer.after == version, answer.version == self.cache.version {
            return (answer.events, answer.version)
        }
        let events = self.cache.events(after: version)
        self.answer = (version, self.cache.version, events)
        return (events, self.cache.version)
    }

    func version(ofLast id: String?) -> Int { self.cache.version(ofLast: id) }

    /// Sends the last frame to all followers and ends their streams. If the page `stays`, whoever comes later gets the same.
    func finish(_ frame: LiveFrame?, _ last: [UInt8], stays: Bool = false) {
        self.last = last
        if !stays { self.end() }
        if let frame {
            self.cache.take(frame)
            self.answer = nil
        }
        for connection in self.connections { connection.finish(last, stays: stays) }
    }

    /// Takes no more connections.
    func end() {
        self.isOver = true
        self.watch?.cancel()
    }

    // MARK: Metrics

    /// There is a newer moment.
    func momentChanged() { self.metrics = [] }

    func metrics(as format: MetricsText.Format, isHead: Bool) -> [UInt8] {
        if let known = self.metrics.first(where: { $0.format == format }) {
            return self.router.reply(metrics: known.text, as: format, isHead: isHead)
        }
        let text = self.writeMetrics?(format) ?? MetricSamples().text(as: format)
        self.metrics.append((format, text))
        return self.router.reply(metrics: text, as: format, isHead: isHead)
    }

    // MARK: Orders

    func ask(_ order: ControlOrder, for connection: DashboardConnection) {
        guard let takeOrder = self.takeOrder else {
            return connection.end(with: self.router.response(to: .refused("this run takes no orders")))
        }
        self.orders += 1
        self.deciding.append((self.orders, connection))
        takeOrder(self.orders, order)
    }

    /// The run has decided on an order.
    func answer(_ number: Int, _ reply: ControlReply) {
        guard let index = self.deciding.firstIndex(where: { $0.number == number }) else { return }
        self.deciding.remove(at: index).connection.end(with: self.router.response(to: reply))
    }

    /// Whether all connections have sent everything.
    var isFlushed: Bool { !self.connections.contains(where: \.isBehind) }

    func shutDown() {
        self.watch?.cancel()
        self.pollTimer?.disarm()
        for connection in self.connections { connection.close() }
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
                guard self.connections.count < DashboardLimits.connectionsMax else {
                    StreamSocket.close(socket)
                    continue
                }
                self.connections.append(DashboardConnection(socket: socket, server: self))
            }
        }
    }

    func closed(_ connection: DashboardConnection) {
        // Released in a later turn of the loop, because the connection is still on the stack.
        self.closedConnections.append(connection)
        self.connections.removeAll { $0 === connection }
        self.deciding.removeAll { $0.connection === connection }
        self.releaseTimer?.arm(at: self.now)
    }

    /// Closes connections that exceeded a time limit.
    func check(at now: Instant) {
        for connection in self.connections { connection.check(at: now) }
        if !self.isOver, self.watch?.interest == [] { self.watch?.interest = .read }
    }
}
