import Foundation

/// A backend named on the command line.
struct TargetURL {
    /// Scheme, host, port and base path, without a slash at the end.
    var base: String
    var host: String
    var port: UInt16

    /// Only loopback: load on anything else needs guards that this version does not have.
    init(_ text: String) throws {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            let host = url.host,
            ["http", "https"].contains(scheme), url.query == nil, url.fragment == nil, url.user == nil
        else {
            throw CommandFailure(
                .usage, "--target wants an http or https URL, not '\(text)'",
                hint: "for example --target http://127.0.0.1:8080")
        }
        let plain = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard plain == "localhost" || plain == "::1" || plain.hasPrefix("127.") else {
            throw CommandFailure(
                .usage, "'\(plain)' is not loopback: this version puts load on loopback only",
                hint: "run the backend on this machine, or leave --target out for the simulated one")
        }
        guard let port = UInt16(exactly: url.port ?? (scheme == "https" ? 443 : 80)), port > 0 else {
            throw CommandFailure(.usage, "--target names no usable port: '\(text)'")
        }
        self.host = plain
        self.port = port
        let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        self.base = "\(scheme)://\(host):\(port)\(path)"
    }

    var addresses: [String] {
        switch self.host {
        case "localhost": ["127.0.0.1", "::1"]
        default: [self.host]
        }
    }
}
