import Backend
import Faults
import Gateway
import HTTPServer
import Observations
import SimBase
import Talaria
import Testing
import Wire

/// A server on a clock that jumps to its next wake-up, and what comes out of its connections.
struct Bench {
    /// What a connection brought, as its peer sees it.
    struct Peer: Equatable {
        var bytes: [UInt8] = []
        var isFinished = false
        var cut: CutEnding?
        var isRead = true

        var text: String { String(decoding: self.bytes, as: UTF8.self) }
    }

    var server: Server
    var now = Instant.zero
    private(set) var peers: [ConnectionID: Peer] = [:]
    private(set) var observations: [Observation] = []
    /// Requests that went on to the upstream.
    private(set) var forwarded = 0
    /// The reports of a recorder about all traffic, if there is one.
    var recorder: Recorder?
    private(set) var recorded: [RecordingLine] = []
    /// Whether cuts are made as soon as they are asked for.
    var cutsAtOnce = true

    init(
        faults: [FaultSpec] = [], link: LinkProfile = .perfect, jobTime: Interval = .milliseconds(60),
        ping: Interval = .seconds(30), showsStatus: Bool = false, crossSite: CrossSiteGuard? = nil,
        lineEnds: BackendConfiguration.LineEnds = .lf, controlToken: String? = nil,
        otherCallers: LinkProfile = .perfect, faultsOnDemand: [FaultSpec] = [],
        clientWatch: ClientWatchConfiguration? = nil
    ) {
        var configuration = BackendConfiguration.contract
        configuration.lineEnds = lineEnds
        configuration.jobTime = jobTime...jobTime
        configuration.ping = ping
        var setup = HTTPServerConfiguration(
            origin: .simulated(configuration, Shelf(seed: 7, booksMin: 3, booksMax: 3)),
            random: KeyedRandom(seed: 7), faults: faults,
            links: FleetLinks(groups: [
                .init(
                    name: "all", devices: 0..<100,
                    link: .always(NamedLink(name: "test", profile: link)))
            ]), clockZero: 0, nonce: "nonce-7")
        setup.showsStatus = showsStatus
        setup.crossSite = crossSite
        setup.controlToken = controlToken
        setup.faultsOnDemand = faultsOnDemand
        setup.clientWatch = clientWatch
        setup.links.otherCallers = .always(NamedLink(name: "other", profile: otherCallers))
        self.server = Server(setup)
    }

    /// A gateway without an upstream.
    init(gatewayFor crossSite: CrossSiteGuard?) {
        var setup = HTTPServerConfiguration(
            origin: .upstream(
                GatewayConfiguration(basePath: "", replyTime: .seconds(60), wallClockAtZero: 0)),
            random: KeyedRandom(seed: 7), faults: [], links: FleetLinks(groups: []), clockZero: 0, nonce: nil)
        setup.showsStatus = true
        setup.crossSite = crossSite
        self.server = Server(setup)
    }

    /// Plays a recording.
    init(recording: Recording) {
        self.server = Server(
            HTTPServerConfiguration(
                origin: .recorded(recording, wallClockAtZero: 0), random: KeyedRandom(seed: 7), faults: [],
                links: FleetLinks(groups: []), clockZero: 0, nonce: nil))
    }

    mutating func connect(from address: String? = nil) -> ConnectionID {
        let id = self.server.accept(from: address, at: self.now)
        self.peers[id] = Peer()
        return id
    }

    mutating func handle(_ event: ServerEvent) {
        var effects: [ServerEffect] = []
        if case .received(let id, let bytes) = event {
            self.recorder?.received(bytes, on: id, at: self.now, into: &self.recorded)
        }
        self.server.handle(event, at: self.now, into: &effects)
        for effect in effects {
            switch effect {
            case .send(let id, let bytes), .sendApart(let id, let bytes):
                self.recorder?.sent(bytes, on: id, at: self.now, into: &self.recorded)
            case .finish(let id):
                self.recorder?.ended(.close, id, at: self.now, into: &self.recorded)
            case .cut, .read, .observe, .upstream, .served: break
            }
            switch effect {
            case .send(let id, let bytes), .sendApart(let id, let bytes):
                self.peers[id]?.bytes += bytes
            case .finish(let id): self.peers[id]?.isFinished = true
            case .cut(let id, let ending):
                self.peers[id]?.cut = ending
                if self.cutsAtOnce { self.handle(.cutDone(id)) }
            case .read(let id, let isRead): self.peers[id]?.isRead = isRead
            case .observe(let observation): self.observations.append(observation)
            case .upstream(.forward): self.forwarded += 1
            case .upstream, .served: break
            }
        }
    }

    mutating func send(_ bytes: [UInt8], on id: ConnectionID) { self.handle(.received(id, bytes[...])) }

    /// Lets time pass until nothing is due before `end`.
    mutating func run(until end: Instant) {
        while let next = self.server.nextWake, next <= end {
            self.now = max(self.now, next)
            self.handle(.woke)
        }
        self.now = max(self.now, end)
    }

    mutating func run(for time: Interval) { self.run(until: self.now + time) }

    subscript(id: ConnectionID) -> Peer { self.peers[id] ?? Peer() }

    var seen: [ObservationPayload] { self.observations.map(\.what) }

    var firings: [Instant] {
        self.observations.filter { if case .fault(.fired) = $0.what { true } else { false } }.map(\.at)
    }
}

/// Requests written out by hand.
enum Script {
    static let device = "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB"

    static func trace(scan: UInt32, _ operation: Talaria.Operation, attempt: UInt32) -> String {
        TraceContext(
            run: 1, device: DeviceNumber(1), scan: ScanNumber(scan), operation: operation, attempt: attempt
        ).headerValue
    }

    /// An upload up to and including the first bytes of its photo, how many more those are, and what comes behind them.
    static func upload(scan: UInt32, photoBytes: Int, attempt: UInt32 = 1) -> (
        start: [UInt8], filler: Int, end: [UInt8]
    ) {
        let photoStart: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
        var start = Array(
            "--B\r\nContent-Disposition: form-data; name=\"photos[]\"; filename=\"spine.jpg\"\r\n".utf8)
        start += Array("Content-Type: image/jpeg\r\n\r\n".utf8) + photoStart
        let end = Array("\r\n--B--\r\n".utf8)
        let filler = photoBytes - photoStart.count
        let head = """
            POST /v3/jobs/scans HTTP/1.1\r
            Host: x\r
            X-Device-ID: \(Self.device)\r
            traceparent: \(Self.trace(scan: scan, .upload, attempt: attempt))\r
            Content-Type: multipart/form-data; boundary=B\r
            Content-Length: \(start.count + filler + end.count)\r
            \r

            """
        return (Array(head.utf8) + start, filler, end)
    }

    static func wholeUpload(scan: UInt32, photoBytes: Int, attempt: UInt32 = 1) -> [UInt8] {
        let parts = Self.upload(scan: scan, photoBytes: photoBytes, attempt: attempt)
        return parts.start + [UInt8](repeating: 7, count: parts.filler) + parts.end
    }

    static func get(_ path: String, token: String, _ operation: Talaria.Operation) -> [UInt8] {
        Array(
            """
            GET \(path) HTTP/1.1\r
            Host: x\r
            X-Device-ID: \(Self.device)\r
            traceparent: \(Self.trace(scan: 1, operation, attempt: 1))\r
            Authorization: Bearer \(token)\r
            Accept: text/event-stream\r
            \r

            """.utf8)
    }

    /// What an answer says in one of its members.
    static func member(_ name: String, of text: String) throws -> String {
        let start = try #require(text.firstRange(of: "\"\(name)\":\"")).upperBound
        return String(text[start...].prefix { $0 != "\"" })
    }
}

extension FaultSpec {
    static func cut(
        _ kind: FaultKind, on target: FaultTarget, after trigger: FaultTrigger = .atOnce
    ) -> FaultSpec {
        FaultSpec(
            id: "cut", kind: kind, target: target, chance: .always, window: .always, trigger: trigger,
            count: .oncePerScan, scope: .everyone)
    }
}
