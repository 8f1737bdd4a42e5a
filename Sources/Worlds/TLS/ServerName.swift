internal import COpenSSL

/// A name or an address by which clients reach a server, as its certificate has it.
package struct ServerName: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
        case name
        case address
    }

    private static let textBytesMax = 253
    private static let labelBytesMax = 63

    /// The name in lower case, or the address.
    package let text: String
    private let kind: Kind

    /// A numeric address or a host name (RFC 1123 section 2.1, and underscores). The first label of a name can
    /// be `*`. Nil for anything else.
    package init?(_ text: String) {
        self.text = text.lowercased()
        OpenSSLErrors.clear()
        if let address = unsafe a2i_IPADDRESS(self.text) {
            unsafe ASN1_STRING_free(address)
            self.kind = .address
            return
        }
        OpenSSLErrors.clear()
        let labels = self.text.split(separator: ".", omittingEmptySubsequences: false)
        guard self.text.utf8.count <= Self.textBytesMax,
            (labels.first == "*" && labels.count > 1 ? labels.dropFirst() : labels[...])
                .allSatisfy({ Self.isLabel($0) })
        else { return nil }
        self.kind = .name
    }

    private static func isLabel(_ label: Substring) -> Bool {
        let bytes = label.utf8
        return (1...Self.labelBytesMax).contains(bytes.count) && bytes.first != UInt8(ascii: "-")
            && bytes.last != UInt8(ascii: "-")
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    var isAddress: Bool { self.kind == .address }

    /// In the notation of openssl's configuration files.
    var extensionText: String {
        switch self.kind {
        case .name: "DNS:\(self.text)"
        case .address: "IP:\(self.text)"
        }
    }
}
