import CSystem
package import SystemIO

/// An address of this machine that connections have as their source. Each carries as many connections to one target as it has ports.
package enum SourceAddress {
    /// The ports for connections that this machine opens; nil if the system does not say.
    package static var ports: ClosedRange<Int>? {
        guard let bytes = try? File.contents(of: "/proc/sys/net/ipv4/ip_local_port_range", bytesMax: 64)
        else { return nil }
        let numbers = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] <= numbers[1] else { return nil }
        return numbers[0]...numbers[1]
    }

    /// The number of connections that one address can have to one target. The default of macOS where the system does not say.
    package static var portCount: Int { Self.ports?.count ?? 16_384 }

    /// Throws if no connection can have this address, such as one of another machine.
    package static func require(_ address: String) throws(SystemError) {
        try SystemError.check("bind", unsafe shim_check_source(address))
    }
}
