import Faults
import Observations
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Gateway

/// WebSockets that pass the gateway (Docs/contract.md section 3.4).
@Suite struct GatewaySocketTests {
    private static let job = "scan_3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    private static let fields = [
        HeaderField("Sec-WebSocket-Accept", "a"), HeaderField("Sec-WebSocket-Protocol", "p"),
    ]

    /// A gateway whose upstream is the test.
    private struct Bench {
        var gateway = Gateway(
            configuration: GatewayConfiguration(basePath: "", replyTime: .seconds(60), wallClockAtZero: 0),
            random: KeyedRandom(seed: 7))
        var last: UInt64 = 0
        var id: ExchangeID { ExchangeID(self.last) }

        mutating func handle(_ event: OriginEvent) -> [OriginEffect] {
            var effects: [OriginEffect] = []
            self.gateway.handle(event, at: .zero, into: &effects)
            return effects.filter { if case .observe = $0 { false } else { true } }
        }

        mutating func ask(_ path: String, _ query: String?, _ faults: [FaultKind] = []) -> [OriginEffect] {
            self.last += 1
            let request = OriginRequest(
                method: "GET", path: path, query: query, deviceID: nil, authorization: nil, accept: nil,
                contentType: nil, contentLength: nil, lastEventID: nil, authority: "phone.example:1")
            let armed = faults.map { ArmedFault(fault: 0, kind: $0, trigger: .atOnce, draw: 0) }
            let caller = Caller(device: DeviceNumber(4), scan: ScanNumber(1), attempt: 1)
            return self.handle(.requested(self.id, request, caller, connection: 1, faults: armed))
        }

        mutating func open(_ path: String, _ query: String?, _ faults: [FaultKind] = []) -> [OriginEffect] {
            self.ask(path, query, faults)
                + self.handle(
                    .upstreamReplied(
                        self.id,
                        UpstreamHead(status: 101, headers: GatewaySocketTests.fields, length: nil)))
        }

        mutating func receive(_ bytes: [UInt8]) -> [OriginEffect] {
            self.handle(.upstreamReceived(self.id, bytes))
        }

        /// A socket of the job that is open.
        static func following(_ faults: [FaultKind] = []) -> Bench {
            var bench = Bench()
            _ = bench.open(ProgressSocket.path, "jobId=\(GatewaySocketTests.job)", faults)
            return bench
        }
    }

    private static func bytes(_ frames: WebSocketFrame...) -> [UInt8] {
        ByteBuilder.bytes { bytes in
            for frame in frames { WebSocketWriter.frame(frame, into: &bytes) }
        }
    }

    private static func message(_ type: String, at time: Int = 5, payload: String = "{}") -> [UInt8] {
        Self.bytes(
            WebSocketFrame(
                text: "{ \"type\":\"\(type)\", \"timestamp\":\(time), \"own\":1, \"payload\":\(payload)}"))
    }

    @Test(arguments: [
        ("/ws/progress", "jobId=\(job)"), ("/ws/progress", nil), ("/ws/other", "a=b"),
        ("/v3/jobs/scans/x/results", nil),
    ]) func `a handshake passes with its answer, and the ends of both sides`(path: String, query: String?) {
        var bench = Bench()
        #expect(
            bench.open(path, query) == [
                .forward(bench.id, .asSent), .openSocket(bench.id, headers: Self.fields),
            ])
        #expect(bench.handle(.received(bench.id, [1, 2])) == [.feedUpstream(bench.id, [1, 2])])
        let text = Self.bytes(WebSocketFrame(text: "no message"))
        #expect(bench.receive(text) == [.stream(bench.id, bytes: text, .extra)])
        var (reset, left) = (bench, bench)
        #expect(
            bench.handle(.upstreamEnded(bench.id, nil)) == [
                .endStream(bench.id), .releaseUpstream(bench.id),
            ])
        #expect(
            reset.handle(.upstreamEnded(reset.id, .transport(.reset))) == [
                .upstreamFailed(reset.id, .transport(.reset)), .breakOff(reset.id, .reset),
            ])
        #expect(left.handle(.aborted(left.id)) == [.releaseUpstream(left.id)])
        for after in [bench, reset, left] {
            var after = after
            #expect(after.handle(.received(after.id, [3])).isEmpty, "over")
        }
    }

    @Test func `bytes of a client behind a request that was not answered with 101 go nowhere`() {
        var bench = Bench()
        _ = bench.ask("/ws/progress", "jobId=\(Self.job)")
        #expect(bench.handle(.received(bench.id, [1])).isEmpty)
        _ = bench.handle(.upstreamReplied(bench.id, UpstreamHead(status: 401, headers: [], length: 0)))
        #expect(bench.handle(.received(bench.id, [1])).isEmpty)
    }

    @Test(arguments: [
        ("job_started", EventKind.progress as EventKind?), ("job_progress", .progress),
        ("reconnected", .progress), ("batch-progress", .progress), ("job_complete", .completed),
        ("error", .error), ("ready_ack", nil), ("pong", nil), ("telemetry", nil),
    ]) func `a message about the job is an event, and each is a piece`(type: String, kind: EventKind?) {
        var bench = Bench.following()
        let bytes = Self.message(type)
        let mark: StreamPieceKind =
            kind.map { .event(position: 0, kind: $0, replayed: false, emitted: .zero) } ?? .extra
        #expect(bench.receive(Array(bytes.prefix(9))).isEmpty)
        #expect(
            bench.receive(bytes.dropFirst(9) + bytes) == [
                .stream(bench.id, bytes: bytes, mark), .stream(bench.id, bytes: bytes, mark),
            ])
        // Another connection of the job has it again.
        _ = bench.open(ProgressSocket.path, "jobId=\(Self.job)&reconnect=true")
        let again: StreamPieceKind =
            kind.map { .event(position: 0, kind: $0, replayed: true, emitted: .zero) } ?? .extra
        #expect(bench.receive(bytes) == [.stream(bench.id, bytes: bytes, again)])
    }

    @Test func `pings of either kind are pings, and a close frame passes before the end`() {
        var bench = Bench.following()
        for bytes in [
            Self.bytes(WebSocketFrame(.ping, [1])), Self.bytes(WebSocketFrame(.pong, [])),
            Self.message("ping"),
        ] {
            #expect(bench.receive(bytes) == [.stream(bench.id, bytes: bytes, .ping)])
        }
        let close = Self.bytes(WebSocketFrame(WebSocketClose(.internalError)))
        #expect(bench.receive(close) == [.stream(bench.id, bytes: close, .extra)])
        let part = Array(close.prefix(1))
        #expect(bench.receive(part).isEmpty)
        #expect(
            bench.handle(.upstreamEnded(bench.id, nil)) == [
                .stream(bench.id, bytes: part, .preamble), .endStream(bench.id),
                .releaseUpstream(bench.id),
            ])
    }

    @Test func `a fault that ends a stream closes it by a frame, but not twice`() {
        var bench = Bench.following([.endWithoutTerminal])
        #expect(
            bench.receive(Self.message("job_complete")) == [
                .stream(bench.id, bytes: Self.bytes(WebSocketFrame(WebSocketClose(.normal))), .extra),
                .endStream(bench.id), .releaseUpstream(bench.id),
            ])
        bench = .following()
        _ = bench.receive(Self.bytes(WebSocketFrame(WebSocketClose(.normal))))
        let id = bench.id
        let effects = bench.ask(ProgressSocket.path, "jobId=\(Self.job)", [.expireToken])
        #expect(effects.prefix(2) == [.endStream(id), .releaseUpstream(id)])
    }

    @Test func `a message that a fault changes keeps its type and its time`() {
        var bench = Bench.following([.badJSON(.progress)])
        let effects = bench.receive(Self.message("job_started", at: 77))
        guard case .stream(_, let bytes, .event)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        let text = String(decoding: bytes.dropFirst(bytes[1] < 126 ? 2 : 4), as: UTF8.self)
        #expect(
            text.hasPrefix(
                "{\"type\":\"job_started\",\"jobId\":\"\(Self.job)\",\"pipeline\":\"ai_scan\",\"timestamp\":77,"
            ))
        #expect(SocketMessage(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        ("ws://up.example/ws/progress?jobId=1", "ws://phone.example:1/ws/progress?jobId=1"),
        ("wss://up.example", "ws://phone.example:1/"), ("/ws/progress", "/ws/progress"),
    ]) func `the address of a socket leads back to the gateway`(link: String, changed: String) {
        var bench = Bench()
        bench.last += 1
        let request = OriginRequest(
            method: "POST", path: "/api/batch-scan", query: nil, deviceID: nil, authorization: nil,
            accept: nil, contentType: nil, contentLength: nil, lastEventID: nil,
            authority: "phone.example:1")
        let caller = Caller(device: DeviceNumber(4), scan: ScanNumber(1), attempt: 1)
        _ = bench.handle(.requested(bench.id, request, caller, connection: 1, faults: []))
        _ = bench.handle(.upstreamReplied(bench.id, UpstreamHead(status: 202, headers: [], length: nil)))
        _ = bench.receive(Array("{\"data\":{\"jobId\":\"\(Self.job)\",\"websocketUrl\":\"\(link)\"}}".utf8))
        let effects = bench.handle(.upstreamEnded(bench.id, nil))
        guard case .reply(_, let reply)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(String(decoding: reply.body, as: UTF8.self).contains("\"websocketUrl\":\"\(changed)\""))
    }
}
