import SimBase

/// The address of the dashboard: `HOST:PORT` or `PORT`.
package struct DashboardAddress: Equatable, Sendable {
    package enum Problem: Error, Equatable {
        case unreadable
        /// This page shows a run to every client that asks, and is for this machine only.
        case notLoopback
    }

    /// Numeric.
    package let host: String
    /// 0 lets the system choose.
    package let port: UInt16

    /// Whether another port may be taken instead of one that is in use.
    package let mayMove: Bool

    package static let anyPort = DashboardAddress(host: "127.0.0.1", port: 0)
    /// The port of k6, so that a bookmark serves every run.
    package static let standard = DashboardAddress(host: "127.0.0.1", port: 5665, mayMove: true)

    private init(host: String, port: UInt16, mayMove: Bool = false) {
        self.host = host
        self.mayMove = mayMove
        self.port = port
    }

    package init(_ text: String) throws(Problem) {
        var host = "127.0.0.1"
        var port = text[...]
        if let colon = text.lastIndex(of: ":") {
            if colon > text.startIndex { host = String(text[..<colon]) }
            port = text[text.index(after: colon)...]
        }
        guard !port.isEmpty, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port)
        else { throw .unreadable }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.lowercased() == "localhost" { host = "127.0.0.1" }
        guard IPAddress.isNumeric(host) else { throw host.contains(":") ? .unreadable : .notLoopback }
        guard IPAddress.isLoopback(host) else { throw .notLoopback }
        self.init(host: host, port: number)
    }

    /// Returns the URL for a browser.
    func url(port: UInt16) -> String {
        "http://\(self.host.contains(":") ? "[\(self.host)]" : self.host):\(port)/"
    }
}
