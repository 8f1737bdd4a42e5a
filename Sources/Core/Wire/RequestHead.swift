internal import SimBase

/// The framing of a request's body (RFC 9112 section 6).
package enum BodyFraming: Hashable, Sendable {
    case none
    /// `Content-Length`, at most the reader's `bodyBytesMax`.
    case length(Int)
    case chunked
}

/// A request's first line and header fields, already checked.
package struct RequestHead: Hashable, Sendable {
    package enum Version: Hashable, Sendable {
        case http10
        /// 1.1, or a later minor version, which is answered as 1.1.
        case http11
    }

    /// The method as sent: methods are case-sensitive.
    package var method: String
    /// The target as sent.
    package var target: String
    /// The target's path, still percent-encoded; `/` where an absolute target has none, `*` for the asterisk form.
    package var path: String
    /// The part after `?`, still percent-encoded; nil without one.
    package var query: String?
    package var version: Version
    package var headers: HeaderFields
    package var body: BodyFraming
    /// The client waits for `100 Continue` before it sends the body.
    package var expectsContinue: Bool
    /// Whether the connection may serve another request after this one.
    package var keepsAlive: Bool

    package init(
        method: String, target: String, path: String, query: String?, version: Version, headers: HeaderFields,
        body: BodyFraming, expectsContinue: Bool, keepsAlive: Bool
    ) {
        self.method = method
        self.target = target
        self.path = path
        self.query = query
        self.version = version
        self.headers = headers
        self.body = body
        self.expectsContinue = expectsContinue
        self.keepsAlive = keepsAlive
    }

    /// Host and port of a target in absolute form; nil in every other form.
    package var authority: String? {
        guard self.target.first != "/", let scheme = self.target.firstRange(of: "://") else { return nil }
        return String(self.target[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }

    /// The first query value of that name, decoded as a form is (`+` is a space); nil when there is none or its
    /// escapes are bad. A name without `=` has the value "".
    package func queryValue(_ name: String) -> String? {
        guard let query = self.query else { return nil }
        for pair in query.utf8.split(separator: 0x26) {
            let halves = pair.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            guard PercentEncoding.decoded(halves[0], plusIsSpace: true) == name else { continue }
            return halves.count == 1 ? "" : PercentEncoding.decoded(halves[1], plusIsSpace: true)
        }
        return nil
    }
}

/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// The decoded text, or nil when a `%` is not followed by two hexadecimal digits.
    package static func decoded(_ text: String) -> String? {
        Self.decoded(text.utf8, plusIsSpace: false)
    }

    static func decoded(_ bytes: some Sequence<UInt8>, plusIsSpace: Bool) -> String? {
        var decoded: [UInt8] = []
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case 0x25:
                guard let high = iterator.next().flatMap(Hexadecimal.nibble),
                    let low = iterator.next().flatMap(Hexadecimal.nibble)
                else { return nil }
                decoded.append(high << 4 | low)
            case 0x2B where plusIsSpace: decoded.append(ASCII.space)
            default: decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
