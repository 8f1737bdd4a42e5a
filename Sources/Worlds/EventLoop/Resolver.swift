import CSystem

/// A host name that has no address.
package struct ResolveFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package let host: String
    /// The resolver's words.
    package let reason: String

    package var description: String { "\(self.host): \(self.reason)" }
}

/// Host names to addresses. Blocks: for the start of a run, before any loop.
package enum Resolver {
    /// Addresses that are taken of one name.
    private static let addressesMax = 8

    /// The numeric addresses of a host, in the system's order, at least one.
    package static func addresses(of host: String) throws(ResolveFailure) -> [String] {
        let width = Int(SHIM_ADDRESS_BYTES_MAX)
        var texts = [CChar](repeating: 0, count: Self.addressesMax * width)
        var reason: UnsafePointer<CChar>?
        let count = unsafe shim_resolve(host, &texts, Int32(Self.addressesMax), &reason)
        guard count >= 0 else {
            throw ResolveFailure(
                host: host, reason: unsafe reason.map { unsafe String(cString: $0) } ?? "no address")
        }
        let addresses = (0..<Int(count)).map { index in
            let text = texts[(index * width)..<((index + 1) * width)].prefix { $0 != 0 }
            return String(decoding: text.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        guard !addresses.isEmpty else { throw ResolveFailure(host: host, reason: "no address") }
        return addresses
    }
}
