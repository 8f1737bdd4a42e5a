import Faults
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing
import Wire

@testable import Gateway

/// The transitions of an answer that passes the gateway, and of a job as it sees it: `Docs/machines/gateway.md` is made from
/// them.
@Suite struct GatewayTransitionTests {
    @Test(arguments: RelayState.allCases)
    func `a state of an answer is reached`(state: RelayState) {
        #expect(RelayState.of(state.reached()) == state)
    }

    @Test(arguments: ProxiedJobState.allCases)
    func `a state of a job is reached`(state: ProxiedJobState) {
        #expect(ProxiedJobState.of(state.reached()) == state)
    }

    @Test func `the page of the gateway is what the code does`() throws {
        let page = """
            # Gateway

            The states of one request and its answer: `Relay.Phase`, and `streaming` while the gateway has a `ProxiedStream`.
            What is not listed changes nothing.

            \(Transition.table(Transition.all(of: RelayState.self, by: RelayInput.self)))

            ## Jobs

            What the gateway knows of a job: `ProxiedJob.State`.

            \(Transition.table(Transition.all(of: ProxiedJobState.self, by: ProxiedJobInput.self)))

            """
        #expect(try MachinePage("gateway", page).difference() == nil)
    }
}

/// A gateway whose upstream is the test.
struct GatewayBench {
    static let job = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"

    var gateway = Gateway(
        configuration: GatewayConfiguration(basePath: "", replyTime: .seconds(60), wallClockAtZero: 0),
        random: KeyedRandom(seed: 7))
    var now = Instant.zero
    /// The last request.
    var last: ExchangeID?
    private var exchanges: UInt64 = 0

    /// What the gateway did since the last `takeEffects`.
    private var effects: [OriginEffect] = []

    mutating func handle(_ event: OriginEvent) {
        self.gateway.handle(event, at: self.now, into: &self.effects)
    }

    mutating func takeEffects() -> [OriginEffect] {
        defer { self.effects = [] }
        return self.effects
    }

    mutating func ask(_ operation: Talaria.Operation, _ faults: [FaultKind] = []) {
        let path = "/v3/jobs/scans" + (operation == .upload ? "" : "/\(Self.job)/\(operation)")
        let method =
            switch operation {
            case .upload, .refresh: "POST"
            case .cleanup: "DELETE"
            case .stream, .results, .status, .cancel: "GET"
            }
        let request = OriginRequest(
            method: method, path: path, query: nil, deviceID: TwoWays.deviceID, authorization: nil,
            accept: nil, contentType: nil, contentLength: nil, lastEventID: nil, authority: nil)
        self.exchanges += 1
        let id = ExchangeID(self.exchanges)
        self.last = id
        self.handle(
            .requested(
                id, request, Caller(device: DeviceNumber(4), scan: ScanNumber(1), attempt: 1), connection: 1,
                faults: faults.enumerated().map {
                    ArmedFault(fault: $0.offset, kind: $0.element, trigger: .atOnce, draw: 0)
                }))
        self.handle(.forwarded(id))
    }

    mutating func reply(_ status: Int, _ type: String = "application/json", length: Int? = nil) {
        self.reply(
            UpstreamHead(status: status, headers: [HeaderField("Content-Type", type)], length: length))
    }

    mutating func reply(_ head: UpstreamHead) {
        guard let id = self.last else { return }
        self.handle(.upstreamReplied(id, head))
    }

    mutating func receive(_ text: String) {
        guard let id = self.last else { return }
        self.handle(.upstreamReceived(id, Array(text.utf8)))
    }

    mutating func end(_ failure: UpstreamFailure? = nil) {
        guard let id = self.last else { return }
        self.handle(.upstreamEnded(id, failure))
    }

    var relayState: RelayState {
        guard let id = self.last else { return .absent }
        if self.gateway.streams[id] != nil { return .streaming }
        return switch self.gateway.relays[id]?.phase {
        case .asked: .asked
        case .passing: .passing
        case .switched: .switched
        case .cutting: .cutting
        case .holding: .holding
        case nil: .over
        }
    }

    var jobState: ProxiedJobState {
        switch self.gateway.jobs[Self.job]?.state {
        case nil: .unknown
        case .open: .open
        case .finished: .finished
        case .cleaned: .cleaned
        case .revoked: .revoked
        case .gone: .gone
        case .failed: .failed
        }
    }
}

// MARK: Answers

enum RelayState: String, MachineState {
    case absent, asked, passing, switched, cutting, holding, streaming, over

    static func of(_ bench: GatewayBench) -> Self { bench.relayState }

    func reached() -> GatewayBench {
        var bench = GatewayBench()
        let inputs: [RelayInput] =
            switch self {
            case .absent: []
            case .asked: [.requested]
            case .passing: [.requested, .passed]
            case .switched: [.requested, .switched]
            case .cutting: [.requested, .truncated]
            case .holding: [.requested, .accepted]
            case .streaming: [.requested, .streamOpened]
            case .over: [.requested, .clientGone]
            }
        for input in inputs { _ = input.apply(to: &bench) }
        return bench
    }
}

enum RelayInput: String, MachineInput {
    case requested = "a request is forwarded"
    case refused = "a request meets an `http-error`"
    case accepted = "upload: 202"
    case truncatedUnknown = "results: 200 without a length, with a `truncate-results`"
    case truncated = "results: 200 with a length, with a `truncate-results`"
    case streamOpened = "stream: 200"
    case socketOpened = "stream: 101"
    case switched = "any other request: 101"
    case passed = "any other head"
    case body = "more of the body than is wanted"
    case completed = "the answer is complete"
    case failed = "the upstream fails"
    case timedOut = "the upstream does not answer in time"
    case tokenExpired = "an `expire-token`"
    case clientGone = "the client is gone"

    func apply(to bench: inout GatewayBench) -> Bool {
        let state = bench.relayState
        /// The head of an answer; what was asked shows only in it.
        func reply(
            to operation: Talaria.Operation, _ status: Int, _ type: String = "application/json",
            length: Int? = nil, faults: [FaultKind] = []
        ) {
            if state == .asked { bench.ask(operation, faults) }
            bench.reply(status, type, length: length)
        }
        guard (state == .absent) == (self == .requested || self == .refused) else { return false }
        switch self {
        case .requested: bench.ask(.results)
        case .refused:
            bench.ask(
                .results,
                [
                    .httpError(
                        HTTPFault(
                            status: 503, code: nil, retryable: nil, retryAfter: nil,
                            retryAfterLocation: .neither))
                ])
        case .accepted: reply(to: .upload, 202)
        case .truncatedUnknown: reply(to: .results, 200, faults: [.truncateResults])
        case .truncated: reply(to: .results, 200, length: 1_000, faults: [.truncateResults])
        case .streamOpened: reply(to: .stream, 200, "text/event-stream")
        case .socketOpened: reply(to: .stream, 101)
        case .switched: reply(to: .results, 101)
        case .passed: reply(to: .results, 404)
        case .body:
            guard state == .cutting || state == .holding else { return false }
            let count = state == .cutting ? 1_000 : Gateway.heldBytesMax + 1
            bench.receive(String(repeating: "x", count: count))
        case .completed: bench.end()
        case .failed: bench.end(.transport(.reset))
        case .timedOut:
            bench.now = bench.now + .seconds(60)
            bench.handle(.woke)
        case .tokenExpired:
            guard state == .streaming, let stream = bench.last else { return false }
            bench.ask(.stream, [.expireToken])
            bench.last = stream
        case .clientGone:
            guard let id = bench.last else { return false }
            bench.handle(.aborted(id))
        }
        return true
    }
}

// MARK: Jobs

enum ProxiedJobState: String, MachineState {
    case unknown, open, finished, cleaned, revoked, gone, failed

    static func of(_ bench: GatewayBench) -> Self { bench.jobState }

    func reached() -> GatewayBench {
        var bench = GatewayBench()
        let inputs: [ProxiedJobInput] =
            switch self {
            case .unknown: []
            case .open: [.accepted]
            case .finished: [.accepted, .terminal]
            case .cleaned: [.accepted, .cleaned]
            case .revoked: [.accepted, .tokenExpired]
            case .gone: [.accepted, .jobGone]
            case .failed: [.accepted, .finalError]
            }
        for input in inputs { _ = input.apply(to: &bench) }
        return bench
    }
}

enum ProxiedJobInput: String, MachineInput {
    case accepted = "upload: 202"
    case streamOpened = "stream: 200"
    case terminal = "a terminal event on a stream"
    case cleaned = "DELETE of the results: 2xx or 404"
    case tokenExpired = "an `expire-token`"
    case jobGone = "a `job-gone`"
    case finalError = "a `final-error` or `retryable-error`"
    case forgotten = "the job is the oldest of too many"

    func apply(to bench: inout GatewayBench) -> Bool {
        func openStream(_ faults: [FaultKind] = []) {
            bench.ask(.stream, faults)
            // The upstream has no job any more that was cleaned up.
            bench.reply(bench.jobState == .cleaned ? 404 : 200, "text/event-stream")
        }
        switch self {
        case .accepted:
            guard bench.jobState == .unknown else { return false }
            bench.ask(.upload)
            bench.reply(202)
            bench.receive("{\"data\":{\"jobId\":\"\(GatewayBench.job)\"}}")
            bench.end()
        case .streamOpened: openStream()
        case .terminal:
            guard bench.jobState != .unknown else { return false }
            openStream()
            bench.receive("event: completed\ndata: {}\n\n")
        case .cleaned:
            bench.ask(.cleanup)
            bench.reply(204)
        case .tokenExpired: openStream([.expireToken])
        case .jobGone: openStream([.jobGone(status: 410)])
        case .finalError: openStream([.finalError(code: "NO_TEXT_DETECTED")])
        case .forgotten:
            guard bench.jobState != .unknown else { return false }
            for index in 0..<RelayedJobs.jobsMax {
                _ = bench.gateway.jobs.insert(
                    ProxiedJob(
                        id: "\(index)", journey: .scan,
                        owner: Caller(device: DeviceNumber(4), scan: ScanNumber(1), attempt: 1),
                        accepted: .zero))
            }
        }
        return true
    }
}
