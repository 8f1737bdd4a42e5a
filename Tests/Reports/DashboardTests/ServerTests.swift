import EventLoop
import Metrics
import Reports
import RunControl
import SimBase
import SystemIO
import Testing

@testable import Dashboard

/// The server and those who look on, on one loop: real sockets, no thread, no sleep.
@Suite struct ServerTests {
    @Test func `whoever comes late gets the whole page, and then what changes`() throws {
        let bench = try Bench()
        bench.show("1", "a")
        bench.show("2", "b")
        let reader = try bench.follow()
        bench.run { reader.text.contains("data: title 2\n") }
        #expect(reader.text.contains("\nretry: 1000\n"))
        #expect(
            reader.text.contains("event: part\ndata: head\ndata: 2\n\nevent: part\ndata: time\ndata: b\n\n"))
        bench.show("3", "b")
        bench.run { reader.text.contains("data: title 3\n") }
        #expect(reader.text.components(separated: "data: time\n") == 2, "the second part came once")
        #expect(reader.text.contains("id: run-3\n"))
    }

    @Test func `nothing is drawn before somebody looks, and then at once`() throws {
        let bench = try Bench()
        bench.undrawn = Bench.frame("9", "z")
        let isSeen = bench.server.hasFollowers
        #expect(!isSeen)
        let reader = try bench.follow()
        bench.run { reader.text.contains("data: title 9\n") }
    }

    @Test func `a reader that does not read misses frames and stops nobody`() throws {
        let bench = try Bench()
        let idler = try bench.follow()
        let reader = try bench.follow()
        idler.isReading = false
        bench.run { reader.text.contains("200 OK") && bench.server.viewersCount == 2 }
        // Far more than the kernel keeps for one who does not read.
        let frames = 40
        let weight = String(repeating: "x", count: 100_000)
        for number in 1...frames {
            bench.show("\(number)", weight + "\(number)")
            bench.run { reader.text.contains("data: title \(number)\n") }
            reader.forget()
        }
        let behind = bench.server.unsentMost
        #expect((1...150_000).contains(behind), "one frame at most is kept for it: \(behind)")
        // When it reads again it goes on with the newest.
        idler.isReading = true
        bench.run { idler.text.contains("data: title \(frames)\n") }
        let taken = idler.text.components(separated: "event: frame\n") - 1
        #expect(taken < frames / 2, "frames between were left out: \(taken)")
    }

    @Test func `the end comes to everybody who reads, and waits for nobody else`() throws {
        let bench = try Bench()
        let readers = try (0..<10).map { _ in try bench.follow() }
        let idler = try bench.follow()
        idler.isReading = false
        bench.run { bench.server.viewersCount == 11 }
        let weight = String(repeating: "x", count: 300_000)
        for number in 1...12 {
            bench.show("\(number)", weight + "\(number)")
            bench.run { readers.allSatisfy { $0.text.contains("data: title \(number)\n") } }
            for reader in readers { reader.forget() }
        }
        bench.server.finish(Bench.frame("end", "end"), Array("event: finished\ndata: PASSED\n\n".utf8))
        let left = bench.server.connectionsCount
        #expect(left == 10, "who does not read is not waited for")
        bench.run { bench.server.isFlushed && readers.allSatisfy(\.isEnded) }
        for reader in readers {
            #expect(reader.text.contains("data: title end\n"))
            #expect(reader.text.hasSuffix("event: finished\ndata: PASSED\n\n\r\n0\r\n\r\n"))
        }
    }

    @Test func `there is room for so many, and no more`() throws {
        let bench = try Bench()
        let readers = try (0..<DashboardLimits.followersMax).map { _ in try bench.follow() }
        bench.run { bench.server.viewersCount == readers.count }
        let late = try bench.follow()
        bench.run { late.isEnded }
        #expect(late.text.hasPrefix("HTTP/1.1 503 "))
        // A slot that becomes free is given out again.
        readers[0].close()
        bench.run { bench.server.hasRoom }
        let next = try bench.follow()
        bench.run { next.text.hasPrefix("HTTP/1.1 200 ") }
    }

    @Test func `connections that say nothing are closed in time, and so is who takes nothing`() throws {
        let bench = try Bench()
        let silent = try bench.connect(saying: "")
        let half = try bench.connect(saying: "GET /events HTTP/1.1\r\nHost: loc")
        let idler = try bench.follow()
        let reader = try bench.follow()
        idler.isReading = false
        bench.run { bench.server.viewersCount == 2 && bench.server.connectionsCount == 4 }
        bench.server.check(at: bench.loop.now() + .seconds(2))
        let early = bench.server.connectionsCount
        #expect(early == 4)
        for number in 1...12 {
            bench.show("\(number)", String(repeating: "x", count: 300_000) + "\(number)")
            bench.run { reader.text.contains("data: title \(number)\n") }
            reader.forget()
        }
        bench.server.check(at: bench.loop.now() + .seconds(6))
        bench.run { silent.isEnded && half.isEnded }
        let later = bench.server.connectionsCount
        #expect(later == 2)
        bench.server.check(at: bench.loop.now() + .seconds(11))
        let last = bench.server.connectionsCount
        #expect(last == 1, "the one that reads stays")
    }

    @Test func `what is no request is answered as such`() throws {
        let bench = try Bench()
        let client = try bench.connect(saying: "\u{1}\u{2}\u{3}\r\n\r\n")
        bench.run { client.isEnded }
        #expect(client.text.hasPrefix("HTTP/1.1 400 "))
        let large = try bench.connect(saying: "GET /" + String(repeating: "a", count: 9_000))
        bench.run { large.isEnded }
        #expect(large.text.hasPrefix("HTTP/1.1 414 "))
    }

    @Test func `the whole page comes in pieces of any size`() throws {
        let bench = try Bench()
        let client = try bench.connect(saying: "GET / HTTP/1.1\r\n")
        bench.run { bench.server.connectionsCount == 1 }
        client.say("Host: 127.0.0.1\r\n\r\n")
        bench.run { client.isEnded }
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n") && client.text.hasSuffix("\r\n\r\npage"))
    }

    // MARK: Metrics

    @Test func `however many scrape, each moment is written once in each format`() throws {
        let bench = try Bench()
        func scrape(_ accept: String = "*/*") throws -> String {
            let client = try bench.connect(
                saying: "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: \(accept)\r\n\r\n")
            bench.run { client.isEnded }
            return client.text
        }
        #expect(try scrape().hasSuffix("\r\n\r\n# EOF\n"), "nothing is known before the run has begun")
        var written: [MetricsText.Format] = []
        bench.server.writeMetrics = { format in
            written.append(format)
            return "written \(written.count)\n"
        }
        bench.server.momentChanged()
        for _ in 0..<5 { #expect(try scrape().hasSuffix("written 1\n")) }
        #expect(try scrape("text/plain").hasSuffix("written 2\n"))
        bench.server.momentChanged()
        #expect(try scrape().hasSuffix("written 3\n"))
        #expect(written == [.openMetrics, .prometheus, .openMetrics])
    }

    // MARK: Control

    @Test func `an order goes to the run, and its decision comes back`() throws {
        let bench = try Bench(token: "secret")
        var orders: [ControlOrder] = []
        bench.server.takeOrder = { number, order in
            orders.append(order)
            bench.server.answer(number, order == .pause ? .done("arrivals paused") : .refused("not \"now\""))
        }
        let client = try bench.order("pause")
        bench.run { client.isEnded }
        #expect(
            client.text.hasPrefix("HTTP/1.1 200 ")
                && client.text.hasSuffix("{\"done\":\"arrivals paused\"}\n"))
        let refused = try bench.order("resume")
        bench.run { refused.isEnded }
        #expect(
            refused.text.hasPrefix("HTTP/1.1 409 ")
                && refused.text.hasSuffix("{\"error\":\"not \\\"now\\\"\"}\n"))
        let stranger = try bench.order("stop", token: "guess")
        bench.run { stranger.isEnded }
        #expect(stranger.text.hasPrefix("HTTP/1.1 403 "))
        #expect(orders == [.pause, .resume])
    }

    @Test func `who leaves before the decision is not answered`() throws {
        let bench = try Bench(token: "secret")
        var numbers: [Int] = []
        bench.server.takeOrder = { number, _ in numbers.append(number) }
        let client = try bench.order("stop")
        bench.run { numbers.count == 1 }
        client.close()
        bench.run { bench.server.connectionsCount == 0 }
        bench.server.answer(1, .done("late"))
        // Nor is one whose run never decides kept for ever.
        let other = try bench.order("stop")
        bench.run { numbers.count == 2 }
        bench.server.check(at: bench.loop.now() + .seconds(6))
        bench.run { other.isEnded }
        #expect(other.text == "")
    }

    @Test func `a page that stays shows its end to whoever comes later`() throws {
        let bench = try Bench(token: "secret")
        let early = try bench.follow()
        bench.run { bench.server.viewersCount == 1 }
        bench.show("1", "a")
        let last = Array("event: finished\ndata: PASSED\n\n".utf8)
        bench.server.finish(Bench.frame("end", "end"), last, stays: true)
        bench.run { early.isEnded }
        #expect(early.text.contains("data: title end\n") && early.text.contains("event: finished\n"))
        let late = try bench.follow()
        bench.run { late.isEnded }
        #expect(late.text.contains("data: head\ndata: end\n") && late.text.contains("data: title end\n"))
        #expect(late.text.hasSuffix("event: finished\ndata: PASSED\n\n\r\n0\r\n\r\n"))
        let page = try bench.connect(saying: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        bench.run { page.isEnded }
        #expect(page.text.hasPrefix("HTTP/1.1 200 "))
        bench.server.end()
        let tooLate = try bench.connect(saying: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        bench.run { bench.server.isFlushed }
        #expect(tooLate.text == "")
    }
}

/// A server with those who look on.
final class Bench {
    let loop: Loop
    let port: UInt16
    var undrawn: LiveFrame?
    private(set) var server: DashboardServer
    private var clients: [Client] = []

    /// `token`: of its control; nil if it has none.
    init(token: String? = nil) throws {
        self.loop = try Loop(clock: .startingNow())
        let listener = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        self.port = try StreamSocket.localPort(of: listener.number)
        let box = Box()
        let gate = token.map { [port = self.port] in ControlGate(token: $0, port: port) }
        self.server = DashboardServer(
            listener, router: DashboardRouter(page: "page", policy: "default-src 'none'", gate: gate),
            run: "run",
            loop: self.loop
        ) { box.bench?.undrawn }
        box.bench = self
    }

    private final class Box { weak var bench: Bench? }

    deinit { self.server.shutDown() }

    static func frame(_ head: String, _ time: String) -> LiveFrame {
        LiveFrame(
            title: "title \(head)",
            parts: [
                .init(id: "head", html: HTML(head, bytesMax: .max)),
                .init(id: "time", html: HTML(time, bytesMax: .max)),
            ])
    }

    func show(_ head: String, _ time: String) { self.server.show(Self.frame(head, time)) }

    func follow() throws -> Client {
        try self.connect(saying: "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    func order(_ what: String, token: String = "secret") throws -> Client {
        try self.connect(
            saying: "POST /control/\(what) HTTP/1.1\r\nHost: localhost:\(self.port)\r\n"
                + "X-Control-Token: \(token)\r\nContent-Length: 0\r\n\r\n")
    }

    func connect(saying text: String) throws -> Client {
        let client = Client(try StreamSocket.connect(host: "127.0.0.1", port: self.port), loop: self.loop)
        self.clients.append(client)
        client.say(text)
        return client
    }

    /// Turns the loop until it holds, at most ten seconds.
    func run(sourceLocation: SourceLocation = #_sourceLocation, until holds: () -> Bool) {
        let timer = LoopTimer(loop: self.loop) { _ in }
        let end = self.loop.now() + .seconds(10)
        while !holds(), self.loop.now() < end {
            timer.arm(after: .milliseconds(5))
            self.loop.runOnce()
        }
        let isSo = holds()
        #expect(isSo, "it never came so far", sourceLocation: sourceLocation)
    }
}

/// Somebody who looks on, byte by byte.
final class Client {
    private(set) var text = ""
    private(set) var isEnded = false
    private let number: Int32
    private var watch: Watch?
    private var unsaid: [UInt8] = []

    init(_ socket: consuming Descriptor, loop: Loop) {
        self.number = socket.release()
        self.watch = loop.watch(self.number, .read) { [unowned self] readiness in
            if readiness.contains(.write) { self.speak() }
            if readiness.contains(.read) { self.listen() }
        }
    }

    deinit { self.close() }

    var isReading = true {
        didSet { self.renewInterest() }
    }

    func say(_ text: String) {
        self.unsaid += Array(text.utf8)
        self.renewInterest()
    }

    private func renewInterest() {
        var interest: Readiness = self.isReading && !self.isEnded ? .read : []
        if !self.unsaid.isEmpty { interest.insert(.write) }
        self.watch?.interest = interest
    }

    func forget() { self.text = "" }

    func close() {
        guard self.watch != nil else { return }
        self.watch?.cancel()
        self.watch = nil
        StreamSocket.close(self.number)
    }

    private func speak() {
        if case .bytes(let count) = StreamSocket.send(self.number, self.unsaid[...]) {
            self.unsaid.removeFirst(count)
        }
        self.renewInterest()
    }

    private func listen() {
        var bytes: [UInt8] = []
        switch StreamSocket.receive(self.number, appendingTo: &bytes, limit: 1 << 20) {
        case .bytes: self.text += String(decoding: bytes, as: UTF8.self)
        case .wouldBlock: return
        case .end, .failed:
            self.isEnded = true
            self.renewInterest()
        }
    }
}

extension String {
    /// Into how many pieces.
    fileprivate func components(separated by: String) -> Int {
        self.split(separator: by, omittingEmptySubsequences: false).count
    }
}

extension DashboardServer {
    fileprivate var viewersCount: Int { self.connections.count(where: \.isFollowing) }
    fileprivate var connectionsCount: Int { self.connections.count }
    fileprivate var unsentMost: Int { self.connections.map(\.unsentCount).max() ?? 0 }
}
