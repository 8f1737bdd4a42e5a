import Faults
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing
import Wire

@testable import HTTPServer

/// The transitions of a connection and of the request on it: `Docs/machines/connection.md` is made from them.
@Suite struct ConnectionTransitionTests {
    @Test(arguments: ConnectionState.allCases)
    func `a state of a connection is reached`(state: ConnectionState) {
        #expect(ConnectionState.of(state.reached()) == state)
    }

    @Test(arguments: RequestState.allCases)
    func `a state of a request is reached`(state: RequestState) {
        #expect(RequestState.of(state.reached()) == state)
    }

    @Test func `the page of a connection is what the code does`() throws {
        let page = """
            # Connection

            The states of a connection of the HTTP server: `ServedConnection.State`. What is not listed changes nothing. A cut
            and an answer that ends its connection are in the table with the moment at which they have passed the link.

            \(Transition.table(Transition.all(of: ConnectionState.self, by: ConnectionInput.self)))

            ## Requests

            The states of the request on a connection: `ServedExchange.Answer`. In `none` the connection waits for a request, or
            is over.

            \(Transition.table(Transition.all(of: RequestState.self, by: RequestInput.self)))

            """
        #expect(try MachinePage("connection", page).difference() == nil)
    }
}

/// One connection, whose answers are under way for half a second.
struct ConnectionBench {
    var bench: Bench
    var id: ConnectionID

    init() {
        self.bench = Bench(
            faults: [
                .cut(.reset(.afterBytes(17), .reply), on: .cleanup),
                .cut(.silence(.afterBytes(17), .reply), on: .results),
            ],
            link: LinkProfile(
                up: LinkDirection(delay: .milliseconds(10), bitsPerSecond: nil),
                down: LinkDirection(delay: .milliseconds(500), bitsPerSecond: nil)),
            jobTime: .seconds(20))
        self.bench.cutsAtOnce = false
        self.id = self.bench.connect()
    }

    /// A connection of a gateway, with a request that waits for its answer.
    init(pathOfUpstream path: String) {
        self.bench = Bench(gatewayFor: nil)
        self.bench.cutsAtOnce = false
        self.id = self.bench.connect()
        self.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
    }

    var connection: ServedConnection? { self.bench.server.connections.first { $0.id == self.id } }

    mutating func send(_ text: String) { self.bench.send(Array(text.utf8), on: self.id) }

    mutating func sendRequest(
        _ operation: Talaria.Operation, _ path: String, _ method: String, headers: String = "",
        body: String = ""
    ) {
        self.send(
            "\(method) \(path) HTTP/1.1\r\nHost: x\r\n"
                + "traceparent: \(Script.trace(scan: 1, operation, attempt: 1))\r\n\(headers)\r\n\(body)")
    }

    /// Sends the head of an upload, without its body.
    mutating func sendUpload(device: Bool, bytes: Int = 1_000, body: String = "") {
        self.sendRequest(
            .upload, "/v3/jobs/scans", "POST",
            headers: (device ? "X-Device-ID: \(Script.device)\r\n" : "")
                + "Content-Type: multipart/form-data; boundary=B\r\nContent-Length: \(bytes)\r\n", body: body)
    }

    /// Opens the stream of a job that another connection has made.
    mutating func openStream() throws {
        let other = self.bench.connect()
        self.bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: other)
        self.pass()
        let answer = self.bench[other].text
        let job = try Script.member("jobId", of: answer)
        let token = try Script.member("authToken", of: answer)
        self.bench.send(
            Script.get("/v3/jobs/scans/\(job)/stream", token: token, .stream), on: self.id)
    }

    mutating func reply(_ event: (ExchangeID) -> UpstreamEvent) {
        guard let id = self.connection?.exchange?.id else { return }
        self.bench.handle(.upstream(event(id)))
    }

    /// Lets what was sent arrive, and nothing that answers it.
    mutating func arrive() {
        let ready = self.bench.server.linkReady(of: self.id) ?? self.bench.now
        self.bench.run(until: max(self.bench.now, ready) + .milliseconds(20))
    }

    /// Lets everything pass that is under way.
    mutating func pass() { self.bench.run(for: .seconds(2)) }
}

// MARK: The connection

enum ConnectionState: String, MachineState {
    case open, closing, cutPending, cutting, silent, over

    static func of(_ machine: ConnectionBench) -> Self {
        switch machine.connection?.state {
        case .open: .open
        case .closing: .closing
        case .cutPending: .cutPending
        case .cutting: .cutting
        case .silent: .silent
        case .over, nil: .over
        }
    }

    func reached() -> ConnectionBench {
        var machine = ConnectionBench()
        let inputs: [ConnectionInput] =
            switch self {
            case .open: []
            case .closing: [.endedBehindRequest]
            case .cutPending: [.cutBehindBytes]
            case .cutting: [.reset]
            case .silent: [.silence, .silenceMade]
            case .over: [.gone]
            }
        for input in inputs { _ = input.apply(to: &machine) }
        return machine
    }
}

enum ConnectionInput: String, MachineInput {
    case answered = "an answer that keeps the connection"
    case lastAnswered = "an answer that ends the connection"
    case malformed = "a malformed request"
    case ended = "FIN, and nothing is under way to the peer"
    case endedBehindRequest = "FIN, and an answer is under way to the peer"
    case passed = "what is under way has passed, or `shutdownTime` is over"
    case idle = "no request for `keepAliveTime`"
    case cutBehindBytes = "a cut of an answer, some of which is under way to the peer"
    case reset = "a `reset` or `close` cuts an answer"
    case silence = "a `silence` cuts an answer"
    case cutMade = "the `reset` or `close` is made"
    case silenceMade = "the `silence` is made"
    case gone = "the peer is gone"

    func apply(to machine: inout ConnectionBench) -> Bool {
        let state = ConnectionState.of(machine)
        switch self {
        case .answered, .lastAnswered, .malformed, .ended, .endedBehindRequest, .idle, .cutBehindBytes,
            .reset,
            .silence:
            // The peer has sent its last byte, or nothing that it sends has an effect.
            guard state != .closing, state != .cutPending else { return false }
        case .passed, .cutMade, .silenceMade, .gone: break
        }
        switch self {
        case .answered:
            machine.sendRequest(.status, "/", "GET")
            machine.pass()
        case .lastAnswered:
            machine.sendRequest(.status, "/", "GET", headers: "Connection: close\r\n")
            machine.pass()
        case .malformed:
            machine.send("GET\r\n\r\n")
            machine.pass()
        case .ended:
            machine.bench.handle(.ended(machine.id))
            machine.arrive()
        case .endedBehindRequest:
            machine.sendRequest(.status, "/", "GET")
            machine.bench.handle(.ended(machine.id))
            machine.arrive()
        case .passed:
            guard state == .closing || state == .cutPending else { return false }
            machine.pass()
        case .idle: machine.bench.run(for: HTTPServerLimits.keepAliveTime)
        case .cutBehindBytes:
            machine.sendRequest(.cleanup, "/v3/jobs/scans/a/cleanup", "DELETE")
            machine.arrive()
        case .reset:
            machine.sendRequest(.cleanup, "/v3/jobs/scans/a/cleanup", "DELETE")
            machine.pass()
        case .silence:
            machine.sendRequest(.results, "/v3/jobs/scans/a/results", "GET")
            machine.pass()
        case .cutMade, .silenceMade:
            guard state == .cutting else { return false }
            machine = ConnectionBench()
            _ = (self == .cutMade ? Self.reset : .silence).apply(to: &machine)
            machine.bench.handle(.cutDone(machine.id))
        case .gone: machine.bench.handle(.gone(machine.id))
        }
        return true
    }
}

// MARK: The request

enum RequestState: String, MachineState {
    case none, pending, held, passing, streaming, answered

    static func of(_ machine: ConnectionBench) -> Self {
        switch machine.connection?.exchange?.answer {
        case .pending: .pending
        case .held: .held
        case .passing: .passing
        case .streaming: .streaming
        case .answered: .answered
        case nil: .none
        }
    }

    func reached() -> ConnectionBench {
        var machine = ConnectionBench()
        let inputs: [RequestInput] =
            switch self {
            case .none: []
            case .pending: [.began]
            case .held: [.refused]
            case .passing: [.began, .upstreamReplied]
            case .streaming: [.streamOpened]
            case .answered: [.refusedTooLong]
            }
        for input in inputs { _ = input.apply(to: &machine) }
        return machine
    }
}

enum RequestInput: String, MachineInput {
    case began = "the head of an upload"
    case refused = "the head of an upload that is refused"
    case refusedTooLong = "the head of an upload that is refused and too long to be read"
    case streamOpened = "a request for a stream, and a 200"
    case completed = "the rest of the body"
    case tooSlow = "the body does not come in `bodyTime`"
    case upstreamReplied = "the head of the upstream's answer"
    case upstreamCompleted = "the end of the upstream's answer"
    case upstreamFailed = "the upstream fails"
    case streamEnded = "the end of the stream"
    case passed = "what is under way has passed"
    case ended = "FIN"
    case gone = "the peer is gone"

    func apply(to machine: inout ConnectionBench) -> Bool {
        let state = RequestState.of(machine)
        let isNew = self == .began || self == .refused || self == .refusedTooLong || self == .streamOpened
        guard isNew == (state == .none) else { return false }
        if state == .pending, self == .upstreamReplied || self == .upstreamFailed {
            machine = ConnectionBench(pathOfUpstream: "/a")
        }
        switch self {
        case .began:
            machine.sendUpload(device: true)
            machine.arrive()
        case .refused:
            machine.sendUpload(device: false)
            machine.arrive()
        case .refusedTooLong:
            machine.sendUpload(device: false, bytes: HTTPServerLimits.drainBytesMax + 1)
            machine.arrive()
        case .streamOpened:
            do { try machine.openStream() } catch { return false }
            machine.arrive()
        case .completed:
            guard state == .pending || state == .held else { return false }
            machine.send(String(repeating: "x", count: 1_000))
            machine.arrive()
        case .tooSlow:
            guard state == .pending || state == .held else { return false }
            machine.bench.run(for: HTTPServerLimits.bodyTime)
        case .upstreamReplied:
            machine.reply { .replied($0, UpstreamHead(status: 200, headers: [], length: 3)) }
        case .upstreamCompleted: machine.reply { .ended($0, nil) }
        case .upstreamFailed: machine.reply { .ended($0, .transport(.reset)) }
        case .streamEnded:
            guard state == .streaming else { return false }
            while RequestState.of(machine) == .streaming { machine.bench.run(for: .milliseconds(100)) }
        case .passed: machine.pass()
        case .ended:
            machine.bench.handle(.ended(machine.id))
            machine.arrive()
        case .gone: machine.bench.handle(.gone(machine.id))
        }
        return true
    }
}
