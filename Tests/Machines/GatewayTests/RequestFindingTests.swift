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

    private static let id = "0a0a0a0a-0000-4000-8000-000000000001"
    private static let job = "/v3/jobs/scans/\(id)"
    private static let scanJob = "/api/v2/scans/scan_\(id)"
    private static let importJob = "/api/v2/imports/import_\(id)"

    /// The same with its token in the header of older clients.
    private static func older(_ request: OriginRequest) -> OriginRequest {
        var request = request
        request.hasOlderToken = true
        return request
    }

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
        // v2 asks for no device id.
        (request("POST", "/api/batch-scan", device: nil, contentType: "multipart/form-data; boundary=x"), []),
        (request("POST", "/api/batch-scan", contentType: "application/json"), ["header Content-Type"]),
        (request("POST", "/api/batch-enrich", contentType: "application/json; charset=utf-8"), []),
        (request("POST", "/v1/enrichment/batch", contentType: "application/json"), []),
        (request("POST", "/api/batch-enrich", contentType: nil), ["header Content-Type"]),
        (request("POST", "/api/v2/imports", contentType: "text/csv"), ["header Content-Type"]),
        (request("GET", scanJob + "/stream", device: nil), []),
        (request("GET", scanJob + "/stream", query: "token=t", authorization: nil), []),
        (
            request("GET", scanJob + "/stream", query: "key=t", authorization: nil, accept: "text/html"),
            ["query key", "header Accept", "header Authorization"]
        ),
        (request("GET", scanJob + "/results", authorization: "Basic t"), ["header Authorization"]),
        (
            request("GET", scanJob, query: "token=t", authorization: nil),
            ["query token", "header Authorization"]
        ),
        // What an import says of itself is for everybody.
        (request("GET", importJob + "/stream", authorization: nil), []),
        (request("GET", importJob + "/results", authorization: "Basic t"), ["header Authorization"]),
        (request("GET", "/v1/jobs/import_\(id)/results", authorization: nil), []),
        (request("DELETE", "/v1/jobs/import_\(id)"), []),
        (request("DELETE", "/v1/jobs/import_\(id)", authorization: nil), ["header Authorization"]),
        (request("DELETE", "/api/v2/jobs/import_\(id)/cancel"), ["path"]),
        (request("POST", "/v1/csv/cancel/import_\(id)"), ["path"]),
        (older(request("DELETE", "/v1/jobs/import_\(id)")), ["header X-Auth-Token"]),
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
