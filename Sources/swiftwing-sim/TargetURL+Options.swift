import EventLoop
import Foundation
import RunDriver
import RunJudge
import SimBase

extension TargetURL {
    /// Reads `text`, the value of `option`. Asks the resolver only for a host that load is allowed on.
    init(_ text: String, option: String, _ arguments: Arguments) throws {
        let parts = try Parts(text, option: option)
        let headers = try TargetOptions.headers(arguments)
        let authorities = try TargetOptions.certificateAuthorities(arguments)
        let http = try TargetOptions.http(isSecure: parts.isSecure, arguments)
        let stated = try TargetOptions.addresses(of: parts.host, port: parts.port, arguments)
        try Self.requirePermission(for: parts.host, of: .target, at: stated, arguments)
        let (addresses, lookup) = try Self.find(parts.host, of: .target, stated)
        self.init(
            base: parts.base, host: parts.host, port: parts.port, isSecure: parts.isSecure,
            addresses: addresses, lookup: lookup, certificateAuthorities: authorities, headers: headers,
            sources: try TargetOptions.sources(to: addresses, arguments))
        self.http = http
    }

    /// Reads the URL of a collector, which gets no headers of the target and speaks HTTP/1.1.
    init(collector text: String, option: String, _ arguments: Arguments) throws {
        let parts = try Parts(text, option: option)
        try Self.requirePermission(for: parts.host, of: .collector, at: nil, arguments)
        let (addresses, lookup) = try Self.find(parts.host, of: .collector, nil)
        self.init(
            base: parts.base, host: parts.host, port: parts.port, isSecure: parts.isSecure,
            addresses: addresses, lookup: lookup,
            certificateAuthorities: try TargetOptions.certificateAuthorities(arguments), headers: [])
        self.http = SpokenHTTP(.http1, by: .option)
    }

    enum Subject: String {
        case target = "the target"
        case collector = "the collector"
    }

    private static func find(
        _ host: String, of subject: Subject, _ stated: [String]?
    ) throws -> ([String], Interval?) {
        if let stated { return (stated, nil) }
        if Self.canonical(host) == "localhost" { return (["127.0.0.1", "::1"], nil) }
        if IPAddress.isNumeric(host) { return ([host], nil) }
        let start = MonotonicClock.now()
        do throws(ResolveFailure) {
            let addresses = try Resolver.addresses(of: host)
            return (addresses, .nanoseconds(MonotonicClock.now() - start))
        } catch {
            throw CommandFailure(
                .unavailable, "the host name of \(subject.rawValue) cannot be resolved: \(error)",
                hint: subject == .target
                    ? "nothing was sent; set an address with --resolve \(host):PORT:ADDRESS"
                    : "nothing was sent; the URL may have an address in place of the name")
        }
    }
}

/// The parts of a URL that an option has.
private struct Parts {
    let isSecure: Bool
    let host: String
    let port: UInt16
    /// Without a slash at the end.
    let base: String

    init(_ text: String, option: String) throws {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            let host = url.host, !host.isEmpty, ["http", "https"].contains(scheme)
        else {
            throw CommandFailure(
                .usage, "\(option) expects an http or https URL, not '\(text)'",
                hint: "for example \(option) http://127.0.0.1:8080")
        }
        // Foundation folds digits and letters of other scripts to ASCII: the host would be another than the one that is read.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw CommandFailure(
                .usage, "\(option) expects a URL of ASCII characters, not '\(text)'",
                hint: "write an international host name in its form for the DNS, xn--...")
        }
        guard url.user == nil, url.password == nil else {
            throw CommandFailure(
                .usage, "\(option) does not accept a user name or password in the URL",
                hint: "pass the credentials of a gateway with --header")
        }
        guard url.query == nil, url.fragment == nil else {
            throw CommandFailure(.usage, "\(option) expects a URL without ? and #, not '\(text)'")
        }
        guard let port = UInt16(exactly: url.port ?? (scheme == "https" ? 443 : 80)), port > 0 else {
            throw CommandFailure(.usage, "\(option) has an invalid port: '\(text)'")
        }
        let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        self.isSecure = scheme == "https"
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        self.port = port
        self.base = "\(scheme)://\(host):\(port)\(path)"
    }
}
