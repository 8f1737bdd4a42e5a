import EventLoop
import Foundation
import RunDriver
import RunJudge
import SimBase

extension TargetURL {
    /// The host that the app's users are served by.
    private static let productionHost = "api.oooefam.net"

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

    private enum Subject: String {
        case target = "the target"
        case collector = "the collector"
    }

    // MARK: Permission

    /// Only loopback targets are allowed unless the host's name is given a second time (Docs/design.md section 9).
    /// Decided without a resolver: even a question to it would leave the machine.
    private static func requirePermission(
        for host: String, of subject: Subject, at stated: [String]?, _ arguments: Arguments
    ) throws {
        let plain = Self.canonical(host)
        if plain == Self.productionHost, !arguments.has("--allow-production") {
            throw CommandFailure(
                .usage, "'\(host)' is the production host: load affects real users",
                hint: "to go ahead, add --allow-production and --allow-target \(host)")
        }
        let isLocal =
            stated.map { $0.allSatisfy(IPAddress.isLoopback) }
            ?? (plain == "localhost" || IPAddress.isLoopback(plain))
        guard !isLocal else { return }
        let allowed = arguments.all("--allow-target")
        guard !allowed.isEmpty else {
            throw CommandFailure(
                .usage,
                "'\(host)' is not a loopback address: load on other machines is not allowed by default",
                hint: "to go ahead, add --allow-target \(host)")
        }
        guard allowed.contains(where: { Self.canonical($0) == plain }) else {
            throw CommandFailure(
                .usage,
                "--allow-target allows '\(allowed.joined(separator: "', '"))', but \(subject.rawValue) is '\(host)'",
                hint: "nothing was sent")
        }
    }

    /// Names are the same whatever their case, and with or without the dot of the root (RFC 4343, RFC 1034).
    private static func canonical(_ host: String) -> String {
        let lower = host.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    // MARK: Addresses

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
