internal import SimBase

/// The host of a `Host` or `Origin` field, without its port.
package struct HostName: Hashable, Sendable {
    /// The name in lower case; an IPv6 address without its brackets.
    package let name: String

    /// `127.0.0.1:8080`, `[::1]`, `localhost`. Nil for anything else than a host and a port.
    package init?(_ authority: some StringProtocol) {
        var name = authority.lowercased()
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return nil }
            let rest = name[name.index(after: end)...]
            guard rest.isEmpty || Self.isPort(rest) else { return nil }
            name = String(name[..<end].dropFirst())
            guard IPAddress.isNumeric(name) else { return nil }
        } else if let colon = name.firstIndex(of: ":") {
            guard Self.isPort(name[colon...]) else { return nil }
            name = String(name[..<colon])
        }
        guard !name.isEmpty, name.utf8.allSatisfy({ Self.isHostByte($0) }) else { return nil }
        self.name = name
    }

    /// The host of an `Origin`, `http://localhost:3000`; nil for `null` and other schemes.
    package init?(origin: String) {
        for scheme in ["http://", "https://"] where origin.lowercased().hasPrefix(scheme) {
            self.init(origin.dropFirst(scheme.count))
            return
        }
        return nil
    }

    /// Whether it can only be this machine: a loopback address, or `localhost`.
    package var isLoopback: Bool {
        self.name == "localhost" || (IPAddress.isNumeric(self.name) && IPAddress.isLoopback(self.name))
    }

    /// Whether it cannot be owned in the public DNS: an address, a name without a dot, or a name below a
    /// domain that is reserved for private use (RFC 6761, RFC 6762, RFC 8375, and ICANN's `internal`).
    package var isPrivate: Bool {
        if IPAddress.isNumeric(self.name) { return true }
        guard let dot = self.name.lastIndex(of: ".") else { return true }
        return Self.privateDomains.contains(String(self.name[dot...].dropFirst()))
            || self.name.hasSuffix(".home.arpa")
    }

    private static let privateDomains: Set = ["localhost", "local", "internal", "test"]

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
