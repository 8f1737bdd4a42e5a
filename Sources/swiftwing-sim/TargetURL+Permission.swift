import EventLoop
import RunDriver
import RunJudge
import SimBase

extension TargetURL {
    /// The host that the app's users are served by.
    private static let productionHost = "api.oooefam.net"

    /// Only loopback targets are allowed unless the host's name is given a second time (Docs/design.md section 9).
    /// Decided without a resolver: even a question to it would leave the machine.
    static func requirePermission(
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
    static func canonical(_ host: String) -> String {
        let lower = host.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }
}
