package import Wire

/// The head of a request, parsed.
package struct OriginRequest: Hashable, Sendable {
    package var method: String
    package var path: String
    /// The query without the question mark; nil if there is none.
    package var query: String?
    package var deviceID: String?
    package var authorization: String?
    package var accept: String?
    package var contentType: String?
    package var contentLength: Int?
    package var lastEventID: String?
    /// The `Host` by which the client addresses the server, for links in bodies.
    package var authority: String?
    /// The numeric address that the request came from; nil if the driver knows none.
    package var address: String?
    /// Whether the token came in the header of older clients of v2, and not as `Authorization`.
    package var hasOlderToken = false
    /// The opening handshake of WebSocket, or why it is none that can be answered; nil for a request that does not ask
    /// for an upgrade.
    package var handshake: Result<WebSocketRequest, WebSocketRequestError>?

    package init(
        method: String, path: String, query: String?, deviceID: String?, authorization: String?,
        accept: String?, contentType: String?, contentLength: Int?, lastEventID: String?, authority: String?
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.deviceID = deviceID
        self.authorization = authorization
        self.accept = accept
        self.contentType = contentType
        self.contentLength = contentLength
        self.lastEventID = lastEventID
        self.authority = authority
    }
}

/// One part of an upload.
package struct UploadPart: Hashable, Sendable {
    package var name: String
    package var filename: String?
    package var contentType: String?
    package var bytes: Int
    /// The first bytes, at most 64, for the magic number.
    package var prefix: [UInt8]

    package init(name: String, filename: String?, contentType: String?, bytes: Int, prefix: [UInt8]) {
        self.name = name
        self.filename = filename
        self.contentType = contentType
        self.bytes = bytes
        self.prefix = prefix
    }
}

/// The reason why the body of an upload cannot be read.
package enum UploadFault: Hashable, Sendable {
    case malformed(String)
    case tooManyParts
    /// A part or the whole body exceeds its limit. The server stops reading.
    case tooLarge
    /// The sender missed the deadline for a body.
    case timedOut
}
