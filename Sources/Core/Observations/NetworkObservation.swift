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

extension NetworkObservation {
    func write(to fields: inout some FieldWriter & ~Copyable) {
        fields.begin(.network, "measured")
        fields.time("lookup_ns", self.lookup)
        fields.time("connect_ns", self.connect)
        fields.time("tls_ns", self.tls)
        fields.time("first_byte_ns", self.firstByte)
    }

    init(_ name: String, from fields: inout some FieldReader & ~Copyable) throws(MalformedObservation) {
        guard name == "measured" else { throw MalformedObservation() }
        self.init(
            lookup: try fields.optionalTime("lookup_ns"), connect: try fields.optionalTime("connect_ns"),
            tls: try fields.optionalTime("tls_ns"), firstByte: try fields.optionalTime("first_byte_ns"))
    }
}
