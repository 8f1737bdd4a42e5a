import CurlLoop
import EventLoop
import Foundation
import HTTPClient
import SimBase
import SimTestSupport
import TestServer
import Testing
import Wire

/// The codec of WebSocket, and what `HTTPClient` carries of it, held against the cases of the Autobahn Testsuite
/// (`Tests/SocketConformance/autobahn.py`).
@Suite struct AutobahnTests {
    /// Without those that `autobahn.py` leaves out.
    private static let cases = 247

    /// The runner of the cases.
    private final class Runner {
        private let process = Process()
        private let output: URL

        init(_ arguments: [String]) throws {
            let python = Checkout.root.appending(path: ".build/venv/bin/python")
            try #require(
                FileManager.default.isExecutableFile(atPath: python.path),
                "there is no suite of cases: run `.ci/packages test`, which installs it")
            self.output = FileManager.default.temporaryDirectory.appending(
                path: "autobahn-\(UUID().uuidString)")
            try Data().write(to: self.output)
            self.process.executableURL = python
            let script = Checkout.root.appending(path: "Tests/SocketConformance/autobahn.py").path
            self.process.arguments = ["-B", script] + arguments
            self.process.standardOutput = try FileHandle(forWritingTo: self.output)
            try self.process.run()
        }

        deinit {
            if self.process.isRunning { self.process.terminate() }
            try? FileManager.default.removeItem(at: self.output)
        }

        var isRunning: Bool { self.process.isRunning }

        var lines: [String] {
            let text = (try? String(contentsOf: self.output, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map(String.init)
        }
    }

    /// One end of a connection, which returns each message.
    private struct Echo {
        private var connection: WebSocketConnection
        private let role: WebSocketRole

        init(_ role: WebSocketRole) {
            self.role = role
            self.connection = WebSocketConnection(
                role: role,
                limits: WebSocketReader.Limits(frameBytesMax: 1 << 20, messageBytesMax: 1 << 20),
                acceptsBinary: true, patience: .seconds(1))
        }

        /// What is to be sent, and whether the socket is to be closed after it.
        mutating func received(_ bytes: ArraySlice<UInt8>, at now: Instant) -> (sent: [UInt8], isOver: Bool) {
            var effects: [WebSocketConnection.Effect] = []
            self.connection.received(bytes, at: now, into: &effects)
            return self.follow(effects)
        }

        mutating func timePassed(at now: Instant) -> (sent: [UInt8], isOver: Bool) {
            var effects: [WebSocketConnection.Effect] = []
            self.connection.timePassed(at: now, into: &effects)
            return self.follow(effects)
        }

        private func follow(_ effects: [WebSocketConnection.Effect]) -> (sent: [UInt8], isOver: Bool) {
            var isOver = false
            let sent = ByteBuilder.bytes { bytes in
                for effect in effects {
                    switch effect {
                    case .received(.text(let text)): self.write(WebSocketFrame(text: text), into: &bytes)
                    case .received(.binary(let data)):
                        self.write(WebSocketFrame(.binary, data), into: &bytes)
                    case .send(let frame): self.write(frame, into: &bytes)
                    case .closeSocket: isOver = true
                    case .received, .failed, .ended: break
                    }
                }
            }
            return (sent, isOver)
        }

        private func write(_ frame: WebSocketFrame, into bytes: inout ByteBuilder) {
            var frame = frame
            if self.role == .client { frame.maskingKey = 0x37FA_213D }
            WebSocketWriter.frame(frame, into: &bytes)
        }
    }

    private static func expectPassed(_ lines: [String]) {
        let verdicts = lines.filter { !$0.hasPrefix("listening") }
        #expect(verdicts.count == Self.cases)
        let passed: Set = ["OK", "NON-STRICT", "INFORMATIONAL"]
        let failed = verdicts.filter {
            !$0.split(separator: " ").dropFirst().allSatisfy { passed.contains(String($0)) }
        }
        #expect(failed == [])
        // Cases for which RFC 6455 has no answer are few.
        #expect(verdicts.count { $0.contains(" OK ") } >= 230, "\(verdicts.filter { !$0.contains(" OK ") })")
    }

    // MARK: As a server

    private static func answer(_ request: ServerRequest) throws -> HeaderFields {
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        try reader.receive(
            Array((request.lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)[...], into: &events)
        guard case .head(let head)? = events.first else { return [:] }
        return try WebSocketRequest(head).answer(choosing: nil)
    }

    @Test func `a server passes`() throws {
        let bench = try Bench(.own, phones: 1)
        var echoes: [Echo] = []
        bench.server.answer = { connection, request in
            guard let fields = try? Self.answer(request) else { return connection.close() }
            var head: [UInt8] = []
            ResponseWriter.head(status: 101, headers: fields, framing: .none, into: &head)
            connection.isSwitched = true
            connection.send(head)
        }
        let runner = try Runner(["server", "ws://127.0.0.1:\(bench.server.port)"])
        var over: Set<Int> = []
        while bench.run(until: {
            for connection in bench.server.connections where !over.contains(connection.number) {
                while echoes.count <= connection.number { echoes.append(Echo(.server)) }
                guard connection.isSwitched else { continue }
                let now = bench.loop.now()
                let bytes = connection.takeUnread()
                for step in [
                    echoes[connection.number].received(bytes[...], at: now),
                    echoes[connection.number].timePassed(at: now),
                ] {
                    if !step.sent.isEmpty { connection.send(step.sent) }
                    if step.isOver { connection.close() }
                    if step.isOver || connection.end != nil { over.insert(connection.number) }
                }
            }
            return !runner.isRunning
        }) == false, runner.isRunning {}
        Self.expectPassed(runner.lines)
    }

    // MARK: As a client

    /// Opens one connection after the other, and echoes on each.
    private final class Client: TransferDelegate {
        let loop: Loop
        let pool: ClientPool
        private let base: String
        private var echo = Echo(.client)
        private(set) var transfer: TransferID?
        private(set) var received: [UInt8] = []

        init(loop: Loop, port: UInt16) {
            self.loop = loop
            self.base = "http://127.0.0.1:\(port)"
            self.pool = ClientPool(
                loop: loop,
                target: CurlTarget(
                    port: port, addresses: ["127.0.0.1"], certificateAuthorities: nil, version: .http1,
                    connectTimeout: .seconds(5), sourceAddresses: []),
                phones: 1, client: .own)
            self.pool.delegate = self
        }

        func open(_ path: String) {
            let fields = WebSocketRequest(nonce: Array("the sample nonce".utf8), subprotocols: []).fields
                .fields
            self.echo = Echo(.client)
            self.received = []
            self.transfer = self.pool.start(
                TransferRequest(
                    phone: 0, method: .get, url: self.base + path, headers: fields, body: .none,
                    receiveBuffer: .stream))
        }

        private func follow(_ step: (sent: [UInt8], isOver: Bool)) {
            guard let transfer = self.transfer else { return }
            if !step.sent.isEmpty { self.pool.transmit(step.sent, on: transfer) }
            guard step.isOver else { return }
            self.pool.cancel(transfer)
            self.transfer = nil
        }

        func look() {
            let now = self.loop.now()
            self.follow(self.echo.timePassed(at: now))
        }

        func transfer(
            _ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant
        ) {
            if head.status != 101 { Issue.record("\(head)") }
        }

        func transfer(_ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant) {
            self.received += bytes
            self.follow(self.echo.received(bytes[...], at: moment))
        }

        func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
            self.transfer = nil
        }
    }

    @Test func `a client passes`() throws {
        let bench = try Bench(.own, phones: 1)
        let runner = try Runner(["client"])
        func port() -> UInt16? { runner.lines.first.flatMap { UInt16($0.dropFirst(10)) } }
        #expect(bench.run(until: { port() != nil }))
        let client = Client(loop: bench.loop, port: try #require(port()))
        for path in (1...Self.cases).map({ "/runCase?case=\($0)&agent=own" }) + ["/updateReports?agent=own"] {
            client.open(path)
            #expect(
                bench.run(until: {
                    client.look()
                    return client.transfer == nil
                }), "\(path)")
        }
        #expect(bench.run(until: { !runner.isRunning }))
        Self.expectPassed(runner.lines)
    }
}
