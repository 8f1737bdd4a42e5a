import Gateway
import OriginServer
import SimBase
import Talaria
import Wire

// What pages in a browser need. An `EventSource` can send no header of its own: not the token, not the device id.

extension ServerContext {
    /// A page of any origin may read the answer.
    func admitPages(_ headers: inout HeaderFields) {
        guard self.isForBrowsers else { return }
        headers.set("Access-Control-Allow-Origin", to: "*")
        headers.set("Access-Control-Expose-Headers", to: "Retry-After, X-Request-ID, X-Gateway-Error")
    }
}

extension OriginReply {
    /// The response to a browser's preflight request.
    static let preflight = OriginReply(
        status: 204,
        headers: [
            HeaderField("Access-Control-Allow-Methods", "GET, POST, DELETE"),
            HeaderField(
                "Access-Control-Allow-Headers",
                "Authorization, Content-Type, Last-Event-ID, X-Device-ID, traceparent"),
            HeaderField("Access-Control-Max-Age", "600"),
        ], body: [])
}

extension OriginRequest {
    /// The device of pages that name none.
    private static let pageDevice = "00000000-0000-4000-8000-00000000face"

    /// `?token=`, and `&device=` after it (Docs/contract.md section 7, C13). Headers win.
    mutating func takeFromQuery(of head: RequestHead) {
        guard self.authorization == nil, let token = head.queryValue("token") else { return }
        self.authorization = "Bearer \(token)"
        self.deviceID = self.deviceID ?? head.queryValue("device") ?? Self.pageDevice
        if self.accept == nil { self.accept = "text/event-stream" }
    }
}
