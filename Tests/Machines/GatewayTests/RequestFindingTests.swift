import Backend
import Gateway
import Observations
import OriginServer
import SimBase
import Talaria
import Testing

/// What a request has and the contract does not define, at the backend and in front of another one.
@Suite struct RequestFindingTests {
    private static func request(
        _ method: String, _ path: String, query: String? = nil, device: String? = TwoWays.deviceID,
        authorization: String? = "Bearer t", accept: String? = "text/event-stream",
        contentType: String? = nil
    ) -> OriginRequest {
        OriginRequest(
            method: method, path: path, query: query, deviceID: device, authorization: authorization,
            accept: accept, contentType: contentType, contentLength: nil, lastEventID: nil, authority: nil)
    }

    private static func findings(_ effects: [OriginEffect]) -> [ContractFinding] {
        effects.compactMap { effect in
            guard case .observe(let observation) = effect,
                case .backend(.found(let finding)) = observation.what
            else { return nil }
            return finding
        }
    }

    private static let job = "/v3/jobs/scans/0a0a0a0a-0000-4000-8000-000000000001"

    /// The requests, and the paths of what is found.
    private static let cases: [(OriginRequest, [String])] = [
        (request("POST", "/v3/jobs/scans", contentType: "multipart/form-data; boundary=x"), []),
        (request("POST", "/v3/jobs/scans", contentType: "image/jpeg"), ["header Content-Type"]),
        (request("GET", job + "/stream"), []),
        (
            request("GET", job + "/stream", query: "token=t", authorization: nil, accept: nil),
            ["query token", "header Accept", "header Authorization"]
        ),
        (request("GET", job + "/results", query: "format=lite", device: nil), ["header X-Device-ID"]),
        (request("DELETE", job + "/cleanup", device: "phone"), ["header X-Device-ID"]),
        // No operation of the contract.
        (request("GET", "/v3/books"), []), (request("PUT", job, device: nil), []),
    ]

    @Test(arguments: 0..<Self.cases.count) func `the gateway finds what the backend finds`(index: Int) {
        let (request, paths) = Self.cases[index]
        let random = KeyedRandom(seed: 7)
        var backend = Backend(
            configuration: .contract, shelf: Shelf(seed: 7, booksMin: 3, booksMax: 3), random: random)
        var gateway = Gateway(
            configuration: GatewayConfiguration(
                basePath: "", replyTime: .seconds(60), wallClockAtZero: 1_769_947_200_000),
            random: random)
        let caller = Caller(device: DeviceNumber(4), scan: ScanNumber(1), attempt: 1)
        let event = OriginEvent.requested(ExchangeID(1), request, caller, connection: 1, faults: [])
        var direct: [OriginEffect] = []
        var forwarded: [OriginEffect] = []
        backend.handle(event, at: .zero, into: &direct)
        gateway.handle(event, at: .zero, into: &forwarded)
        #expect(Self.findings(forwarded) == Self.findings(direct))
        #expect(Self.findings(forwarded).map(\.path) == paths)
        #expect(Self.findings(forwarded).allSatisfy { $0.part == ContractFinding.requestPart })
    }
}
