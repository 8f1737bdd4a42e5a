import OriginServer
import Talaria

extension ServedRequest {
    /// Paths of this program that are none of the API, and those of WebSockets (Docs/contract.md section 3.4): the rules for
    /// clients are about event streams.
    private static let unjudgedPaths = [
        StatusPage.path, StatusPage.jsonPath, MetricsPage.path, MetricsPage.usualPath, ServerControl.path,
        ContractPage.path, Server.noncePath,
        ProgressSocket.path,
    ]

    static func isUnjudged(_ path: String) -> Bool { self.unjudgedPaths.contains(path) }

    /// Why no operation of the contract is meant: what is wrong with the method or the path, in one line. Nil if one is, for a page
    /// of the program itself, and for the question of a browser that comes before a request (CORS).
    package var outsideContract: String? {
        guard self.method != "OPTIONS", !self.isForeign, !Self.isUnjudged(self.path) else { return nil }
        guard let path = JourneyPath(path: self.path) else {
            return "path: expected one of the contract, was \(self.path)"
        }
        guard path.operation(method: self.method) == nil else { return nil }
        return "method: expected \(path.methods), was \(self.method)"
    }
}
