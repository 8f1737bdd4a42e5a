import SimBase

/// The request of an opening handshake (RFC 6455 section 4), as its client writes it and its server reads it.
package struct WebSocketRequest: Hashable, Sendable {
    /// `Sec-WebSocket-Key`: 16 bytes as Base64.
    private let key: String
    /// The subprotocols that are offered, the preferred one first.
    package let subprotocols: [String]

    // MARK: Client

    /// - Parameters:
    ///   - nonce: 16 bytes, drawn for this connection alone (RFC 6455 section 4.1).
    ///   - subprotocols: Each a token, and none twice.
    package init(nonce: [UInt8], subprotocols: [String]) {
        precondition(nonce.count == 16, "a nonce of 16 bytes")
        precondition(Self.areSubprotocols(subprotocols), "subprotocols that no server reads")
        self.key = Base64.text(nonce)
        self.subprotocols = subprotocols
    }

    /// - Parameter drawn: The 16 bytes of the nonce, the lower ones of each first.
    package init(drawn: (UInt64, UInt64), subprotocols: [String]) {
        let nonce = [drawn.0, drawn.1].flatMap { word in
            stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
        self.init(nonce: nonce, subprotocols: subprotocols)
    }

    /// The fields of the request beside `Host`; the method is GET.
    package var fields: HeaderFields {
        var fields: HeaderFields = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": self.key,
            "Sec-WebSocket-Version": "13",
        ]
        if !self.subprotocols.isEmpty {
            fields.append("Sec-WebSocket-Protocol", self.subprotocols.joined(separator: ", "))
        }
        return fields
    }

    /// Checks the answer of a server, and returns the subprotocol that it chose; nil if it chose none.
    package func subprotocol(
        acceptedBy status: Int, _ headers: HeaderFields
    ) throws(WebSocketAnswerError) -> String? {
        guard status == 101 else { throw .status(status) }
        guard headers.list("Connection", contains: "Upgrade"), headers.count(of: "Upgrade") == 1,
            headers["Upgrade"].map({ ASCII.equalIgnoringCase($0, "websocket") }) == true
        else { throw .notUpgraded }
        guard headers.values("Sec-WebSocket-Accept") == [self.accept] else { throw .wrongAccept }
        guard headers.list("Sec-WebSocket-Extensions").isEmpty else { throw .unknownExtension }
        let chosen = headers.values("Sec-WebSocket-Protocol")
        guard chosen.count <= 1, chosen.allSatisfy(self.subprotocols.contains) else {
            throw .unknownSubprotocol
        }
        return chosen.first
    }

    // MARK: Server

    /// Reads the request of a client (RFC 6455 section 4.2.1).
    package init(_ head: RequestHead) throws(WebSocketRequestError) {
        let headers = head.headers
        // An upgrade in HTTP/1.0 is ignored (RFC 9110 section 7.8).
        guard head.version == .http11, headers.list("Connection", contains: "Upgrade"),
            headers.list("Upgrade", contains: "websocket")
        else { throw .notUpgrade }
        guard head.method == "GET" else { throw .badMethod }
        guard headers.values("Sec-WebSocket-Version") == ["13"] else { throw .unsupportedVersion }
        let keys = headers.values("Sec-WebSocket-Key")
        guard keys.count == 1, let key = keys.first, Base64.decodedCount(key) == 16 else { throw .badKey }
        let subprotocols = headers.list("Sec-WebSocket-Protocol")
        guard Self.areSubprotocols(subprotocols) else { throw .badSubprotocols }
        self.key = key
        self.subprotocols = subprotocols
    }

    /// The first subprotocol that begins with a text, and the rest of it: a token, in `bookstrack-
    /// auth.{token}` (Docs/contract.md section 3.4).
    package func subprotocol(beginning prefix: String) -> (name: String, rest: String)? {
        self.subprotocols.first { $0.hasPrefix(prefix) }.map { ($0, String($0.dropFirst(prefix.count))) }
    }

    /// The fields of the answer, whose status is 101 (RFC 6455 section 4.2.2).
    ///
    /// - Parameter subprotocol: One of `subprotocols`; nil for none.
    package func answer(choosing subprotocol: String?) -> HeaderFields {
        var fields: HeaderFields = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": self.accept,
        ]
        if let subprotocol { fields.append("Sec-WebSocket-Protocol", subprotocol) }
        return fields
    }

    // MARK: Both

    /// The proof that a server has read the key (RFC 6455 section 4.2.2).
    private var accept: String {
        Base64.text(SHA1.digest(Array((self.key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// Whether each is a token, and none is there twice (RFC 6455 section 4.1).
    private static func areSubprotocols(_ names: [String]) -> Bool {
        names.allSatisfy(Self.isSubprotocol) && Set(names).count == names.count
    }

    /// Whether a subprotocol may have this name: a token of HTTP (RFC 9110 section 5.6.2), which has no `=` and no `/`.
    package static func isSubprotocol(_ name: String) -> Bool { ASCII.isToken(Array(name.utf8)[...]) }
}

/// Why a client does not open a connection after an answer (RFC 6455 section 4.1).
package enum WebSocketAnswerError: Error, Hashable, Sendable {
    /// Not 101.
    case status(Int)
    /// `Upgrade` or `Connection` is missing, or has another value.
    case notUpgraded
    case wrongAccept
    /// None is ever offered.
    case unknownExtension
    /// One that was not offered, or several.
    case unknownSubprotocol
}

/// Why a server does not open a connection (RFC 6455 section 4.2).
package enum WebSocketRequestError: Error, Hashable, Sendable, CaseIterable {
    /// Not an upgrade of HTTP/1.1 to WebSocket.
    case notUpgrade
    case badMethod
    case unsupportedVersion
    case badKey
    case badSubprotocols

    /// The status that answers it (RFC 6455 section 4.4, Docs/contract.md section 3.4).
    package var status: Int {
        switch self {
        case .notUpgrade, .unsupportedVersion: 426
        case .badMethod, .badKey, .badSubprotocols: 400
        }
    }

    /// The fields of that answer: 426 says what is required (RFC 9110 section 15.5.22).
    package var fields: HeaderFields {
        guard self.status == 426 else { return [:] }
        return ["Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"]
    }
}
