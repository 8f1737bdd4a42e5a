package import SimBase

/// The HTTP client's measurements of the network below one request, so that a slow handshake is not mistaken
/// for a slow backend. A value is nil if the request had no such step, for example on a reused connection.
package struct NetworkObservation: Hashable, Sendable {
    /// The host's name to its addresses.
    package var lookup: Interval?
    /// SYN sent to connection established.
    package var connect: Interval?
    /// The connection to the end of the TLS handshake.
    package var tls: Interval?
    /// The request sent to the first byte of its response.
    package var firstByte: Interval?

    package init(lookup: Interval?, connect: Interval?, tls: Interval?, firstByte: Interval?) {
        self.lookup = lookup
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
    }
}

extension NetworkObservation: DescribedObservation {
    static var side: Side { .network }
    /// Without a value.
    static let blank = NetworkObservation(lookup: nil, connect: nil, tls: nil, firstByte: nil)
    static let byName = named([blank])

    func coded(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation) -> Self? {
        try codec.row(
            "measured", Self.init, "lookup_ns", "connect_ns", "tls_ns", "first_byte_ns", of: self.lookup,
            self.connect, self.tls, self.firstByte)
    }
}
