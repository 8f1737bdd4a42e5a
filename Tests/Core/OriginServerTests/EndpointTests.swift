import OriginServer
import Talaria
import Testing

struct EndpointTests {
    @Test(
        arguments: [
            ("POST", "/v3/jobs/scans", Operation.upload), ("GET", "/v3/jobs/scans/j/stream", .stream),
            ("GET", "/v3/jobs/scans/j/results", .results), ("DELETE", "/v3/jobs/scans/j/cleanup", .cleanup),
            ("GET", "/v3/jobs/scans/j", .status), ("DELETE", "/v3/jobs/scans/j", .cancel),
        ])
    func `a path and a method name one operation`(method: String, path: String, operation: Talaria.Operation)
    {
        let endpoint = Endpoint(path: path)
        #expect(endpoint?.operation(method: method) == operation)
        #expect(endpoint?.operation(method: "PUT") == nil)
        #expect(endpoint?.jobID == (operation == .upload ? nil : "j"))
    }
}
