import CurlLoop
import HTTPClient
import SimBase
import SystemIO
import Testing
import Wire

/// The machine of one connection, with literal events.
@Suite struct ClientConnectionTests {
    private static let terms = ClientConnection.Terms(isHead: false, keepsConnection: true, isUpgrade: false)
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// A connection that has just sent a request.
    private static func awaiting(
        isKept: Bool, keeps: Bool = true, isUpgrade: Bool = false
    ) -> ClientConnection {
        let terms = ClientConnection.Terms(isHead: false, keepsConnection: keeps, isUpgrade: isUpgrade)
        if isKept {
            var connection = ClientConnection.idle
            _ = connection.begin(terms)
            connection.sent()
            return connection
        }
        var connection = ClientConnection.closed
        _ = connection.connect(addresses: 1, isSecure: false, within: .seconds(1), terms, at: .zero)
        _ = connection.connected()
        connection.sent()
        return connection
    }

    private static func receive(
        _ text: String, _ connection: inout ClientConnection
    ) -> (ClientConnection.Outcome, [ResponseEvent]) {
        var events: [ResponseEvent] = []
        let outcome = connection.received(Array(text.utf8)[...], into: &events)
        return (outcome, events)
    }

    /// The kind of the failure that ended the exchange, and whether a second sending was refused.
    private static func failure(
        _ outcome: ClientConnection.Outcome
    ) -> (kind: TransportFailure, isResendRefused: Bool)? {
        guard case .ended(let failure?, isKept: false) = outcome else { return nil }
        return (failure.kind, failure.isResendRefused)
    }

    @Test func `a request is sent once the connection stands, and the answer leaves it idle`() {
        var connection = ClientConnection.closed
        let began = connection.connect(
            addresses: 1, isSecure: false, within: .seconds(1), Self.terms, at: .zero)
        #expect(began == .connect(address: 0))
        #expect(connection.deadline == .zero + .seconds(1))
        let connected = connection.connected()
        #expect(connected == .send)
        #expect(connection.deadline == nil)
        connection.sent()
        let (outcome, events) = Self.receive(Self.answer, &connection)
        #expect(outcome == .ended(nil, isKept: true))
        #expect(events.last == .end)
        let again = connection.begin(Self.terms)
        #expect(again == .send)
    }

    @Test func `a handshake has what is left of the time of the connect`() {
        var connection = ClientConnection.closed
        _ = connection.connect(addresses: 2, isSecure: true, within: .seconds(8), Self.terms, at: .zero)
        #expect(connection.deadline == .zero + .seconds(4))
        let connected = connection.connected()
        #expect(connected == .secure && connection.isSecuring)
        #expect(connection.deadline == .zero + .seconds(8))
        var late = connection
        let early = late.timePassed(at: .zero + .seconds(7))
        #expect(early == .nothing)
        #expect(Self.failure(late.timePassed(at: .zero + .seconds(8)))?.kind == .connectTimedOut)
        let secured = connection.secured()
        #expect(secured == .send)
        #expect(connection.deadline == nil)
    }

    @Test func `a connection that ends in the handshake fails as TLS`() {
        var securing = ClientConnection.closed
        _ = securing.connect(addresses: 2, isSecure: true, within: .seconds(8), Self.terms, at: .zero)
        _ = securing.connected()
        var (closed, reset, refused) = (securing, securing, securing)
        var events: [ResponseEvent] = []
        #expect(Self.failure(closed.ended(into: &events))?.kind == .tls)
        #expect(Self.failure(reset.failed(SystemCode.connectionReset))?.kind == .tls)
        #expect(Self.failure(refused.broken("unknown CA"))?.kind == .tls)
    }

    @Test func `a failure of TLS ends no answer`() {
        var silent = Self.awaiting(isKept: false)
        #expect(Self.failure(silent.broken("bad record mac"))?.kind == .closedBeforeReply)
        var kept = Self.awaiting(isKept: true)
        #expect(Self.failure(kept.broken("bad record mac"))?.isResendRefused == true)
        var reading = Self.awaiting(isKept: false)
        _ = Self.receive("HTTP/1.1 200 OK\r\n\r\nall of it", &reading)
        #expect(Self.failure(reading.broken("bad record mac"))?.kind == .closedEarly)
        var idle = ClientConnection.idle
        #expect(idle.broken("bad record mac") == .close)
    }

    @Test func `addresses are tried in order, and have the time together`() {
        var connection = ClientConnection.closed
        _ = connection.connect(addresses: 3, isSecure: false, within: .seconds(8), Self.terms, at: .zero)
        #expect(connection.deadline == .zero + .seconds(4))
        let second = connection.connectFailed(SystemCode.connectionRefused, at: .zero + .seconds(2))
        #expect(second == .connect(address: 1))
        #expect(connection.deadline == .zero + .seconds(5))
        let early = connection.timePassed(at: .zero + .seconds(4))
        #expect(early == .nothing)
        let third = connection.timePassed(at: .zero + .seconds(5))
        #expect(third == .connect(address: 2))
        #expect(connection.deadline == .zero + .seconds(8))
        let last = Self.failure(connection.timePassed(at: .zero + .seconds(8)))
        #expect(last?.kind == .connectTimedOut)
    }

    @Test(arguments: [
        (SystemCode.connectionRefused, TransportFailure.connectRefused),
        (SystemCode.timedOut, .connectFailed),
        (SystemCode.descriptorsExhaustedInProcess, .descriptorsExhausted),
    ])
    func `a failure to connect has a name`(code: Int32, kind: TransportFailure) {
        var connection = ClientConnection.closed
        _ = connection.connect(addresses: 1, isSecure: false, within: .seconds(1), Self.terms, at: .zero)
        let outcome = connection.connectFailed(code, at: .zero)
        #expect(Self.failure(outcome)?.kind == kind)
    }

    @Test func `no other address is tried without a descriptor`() {
        var connection = ClientConnection.closed
        _ = connection.connect(addresses: 2, isSecure: false, within: .seconds(1), Self.terms, at: .zero)
        let outcome = connection.connectFailed(SystemCode.descriptorsExhaustedInProcess, at: .zero)
        #expect(Self.failure(outcome)?.kind == .descriptorsExhausted)
    }

    @Test(arguments: [false, true])
    func `an end before the first byte is a failure of its own on a kept connection`(isKept: Bool) {
        var events: [ResponseEvent] = []
        var closed = Self.awaiting(isKept: isKept)
        let fin = Self.failure(closed.ended(into: &events))
        #expect(fin?.kind == .closedBeforeReply)
        #expect(fin?.isResendRefused == isKept)
        var dead = Self.awaiting(isKept: isKept)
        let reset = Self.failure(dead.failed(SystemCode.connectionReset))
        #expect(reset?.kind == (isKept ? .closedBeforeReply : .reset))
        #expect(reset?.isResendRefused == isKept)
    }

    @Test func `an interim head is no answer, and what follows it is`() {
        var connection = Self.awaiting(isKept: true)
        let (outcome, events) = Self.receive("HTTP/1.1 100 Continue\r\n\r\n", &connection)
        #expect(outcome == .nothing)
        #expect(events.isEmpty)
        var last: [ResponseEvent] = []
        var other = connection
        let end = Self.failure(connection.ended(into: &last))
        #expect(end?.kind == .closedBeforeReply)
        #expect(end?.isResendRefused == false)
        let (answered, _) = Self.receive(Self.answer, &other)
        #expect(answered == .ended(nil, isKept: true))
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", true),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200", true),
        (Self.answer, false),
    ])
    func `a connection that cannot be used again is closed after the answer`(text: String, keeps: Bool) {
        var connection = Self.awaiting(isKept: false, keeps: keeps)
        let (outcome, events) = Self.receive(text, &connection)
        #expect(outcome == .ended(nil, isKept: false))
        #expect(events.last == .end)
    }

    @Test func `an answer to a request that is not sent to its end leaves no idle connection`() {
        var connection = ClientConnection.idle
        _ = connection.begin(Self.terms)
        let (outcome, _) = Self.receive(Self.answer, &connection)
        #expect(outcome == .ended(nil, isKept: false))
    }

    @Test func `what was answered before a write failed is read`() {
        var connection = Self.awaiting(isKept: false)
        connection.sendFailed(SystemCode.brokenPipe)
        let (outcome, _) = Self.receive(Self.answer, &connection)
        #expect(outcome == .ended(nil, isKept: true))
        var silent = Self.awaiting(isKept: false)
        silent.sendFailed(SystemCode.brokenPipe)
        var events: [ResponseEvent] = []
        let end = Self.failure(silent.ended(into: &events))
        #expect(end?.kind == .reset)
    }

    @Test func `an idle connection that says anything is closed`() {
        var connection = ClientConnection.idle
        let (outcome, events) = Self.receive("HTTP/1.1 408 Request Timeout\r\n\r\n", &connection)
        #expect(outcome == .close)
        #expect(events.isEmpty)
        var events2: [ResponseEvent] = []
        var ended = ClientConnection.idle
        let end = ended.ended(into: &events2)
        #expect(end == .close)
        var failed = ClientConnection.idle
        let failure = failed.failed(SystemCode.connectionReset)
        #expect(failure == .close)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n\r\nall of it", nil as TransportFailure?),
        ("HTTP/1.0 200 OK\r\n\r\nall of it", nil),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", .closedEarly),
        ("HTTP/1.1 200 OK\r\nContent-", .closedEarly),
    ])
    func `the end of a connection completes a body without a length, and no other`(
        text: String, failure: TransportFailure?
    ) {
        var connection = Self.awaiting(isKept: false)
        let (outcome, _) = Self.receive(text, &connection)
        #expect(outcome == .nothing)
        var events: [ResponseEvent] = []
        let end = connection.ended(into: &events)
        guard case .ended(let its, isKept: false) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(its?.kind == failure)
        #expect(events == (failure == nil ? [.end] : []))
    }

    private static let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

    @Test func `behind 101 everything is its body, to the end of the connection`() {
        var connection = Self.awaiting(isKept: true, isUpgrade: true)
        let (outcome, events) = Self.receive(Self.switching + "one", &connection)
        #expect(outcome == .nothing && connection.isSwitched && !connection.isIdle)
        #expect(
            events == [
                .head(status: 101, ["Upgrade": "websocket"]), .body(Array("one".utf8)[...]),
            ])
        let (_, more) = Self.receive(Self.answer, &connection)
        #expect(more == [.body(Array(Self.answer.utf8)[...])])
        var (reset, broken, last) = (connection, connection, [ResponseEvent]())
        #expect(Self.failure(reset.failed(SystemCode.connectionReset))?.kind == .reset)
        #expect(Self.failure(broken.broken("bad record mac"))?.kind == .closedEarly)
        let end = connection.ended(into: &last)
        #expect(end == .ended(nil, isKept: false) && last == [.end] && !connection.isSwitched)
    }

    @Test func `what a peer does not take is kept up to a limit`() {
        var connection = Self.awaiting(isKept: false, isUpgrade: true)
        _ = Self.receive(Self.switching, &connection)
        #expect(Self.failure(connection.overflowed(limit: 9))?.kind == .other)
        #expect(connection.isClosed)
    }

    @Test func `101 answers the request that asks for it, and not the next on its connection`() {
        var connection = Self.awaiting(isKept: false, isUpgrade: true)
        let (refused, _) = Self.receive(
            "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n", &connection)
        #expect(refused == .ended(nil, isKept: true) && connection.isIdle)
        _ = connection.begin(Self.terms)
        connection.sent()
        let (outcome, events) = Self.receive(Self.switching, &connection)
        #expect(Self.failure(outcome)?.kind == .malformed && events.isEmpty)
    }

    @Test func `late events mean nothing to a connection that is over`() {
        var connection = Self.awaiting(isKept: false)
        connection.close()
        var events: [ResponseEvent] = []
        let outcomes = [
            Self.receive(Self.answer, &connection).0, connection.ended(into: &events),
            connection.failed(SystemCode.connectionReset), connection.connected(),
            connection.connectFailed(1, at: .zero), connection.timePassed(at: .distantFuture),
        ]
        #expect(outcomes == Array(repeating: .nothing, count: 6))
    }
}
