import SimBase

/// The framing of a response's body.
package enum ReplyFraming: Hashable, Sendable {
    /// No body and no field about one: 1xx, 204, 304.
    case none
    /// `Content-Length` with this value; the body is appended by the caller.
    case length(Int)
    /// `Transfer-Encoding: chunked`; for HTTP/1.1 clients only.
    case chunked
    /// The body ends with the connection (HTTP/1.0 streams); adds `Connection: close`.
    case untilClose
}

/// Writes HTTP/1.1 replies by appending to a buffer.
package enum ResponseWriter {
    /// Appends the status line, the fields in their order, the framing's own field last, and the empty line.
    ///
    /// A field may come from a foreign server. CR, LF and NUL in a value become spaces (RFC 9110 section
    /// 5.5); a field whose name is not a token is left out, since a strict reader would refuse the whole
    /// head.
    package static func head(
        status: Int, headers: HeaderFields, framing: ReplyFraming, into bytes: inout [UInt8]
    ) {
        precondition((100...999).contains(status), "a status of three digits")
        // As much as most heads have.
        if bytes.isEmpty { bytes.reserveCapacity(400) }
        bytes.append(text: "HTTP/1.1 ")
        bytes.append(text: String(status))
        bytes.append(ASCII.space)
        bytes.append(text: Self.reason(status))
        Self.lineEnd(into: &bytes)
        headers.each { name, value in Self.field(name, value, into: &bytes) }
        switch framing {
        case .none: break
        case .length(let length): bytes.append(text: "Content-Length: \(length)\r\n")
        case .chunked: bytes.append(text: "Transfer-Encoding: chunked\r\n")
        case .untilClose: bytes.append(text: "Connection: close\r\n")
        }
        Self.lineEnd(into: &bytes)
    }

    /// Appends a whole reply with `Content-Length`, or without body and length where the status forbids both.
    ///
    /// - Parameter toHead: The request was a HEAD: its reply states the length of the body that it leaves out
    ///   (RFC 9110 section 9.3.2).
    package static func reply(
        status: Int, headers: HeaderFields, body: [UInt8], toHead: Bool = false, into bytes: inout [UInt8]
    ) {
        guard status >= 200, status != 204, status != 304 else {
            Self.head(status: status, headers: headers, framing: .none, into: &bytes)
            return
        }
        Self.head(status: status, headers: headers, framing: .length(body.count), into: &bytes)
        if !toHead { bytes.append(contentsOf: body) }
    }

    /// Appends `100 Continue`, which goes before the real reply.
    package static func sendContinue(into bytes: inout [UInt8]) {
        Self.head(status: 100, headers: HeaderFields(), framing: .none, into: &bytes)
    }

    /// Appends one chunk. An empty one is not written, since it would end the body.
    package static func chunk(_ piece: [UInt8], into bytes: inout [UInt8]) {
        Self.chunk(piece[...], into: &bytes)
    }

    /// Appends one chunk. An empty one is not written, since it would end the body.
    package static func chunk(_ piece: ArraySlice<UInt8>, into bytes: inout [UInt8]) {
        guard !piece.isEmpty else { return }
        Self.chunkSize(piece.count, into: &bytes)
        bytes.append(contentsOf: piece)
        Self.lineEnd(into: &bytes)
    }

    /// A chunk of two parts, which are not both empty.
    package static func chunk(_ head: [UInt8], _ tail: [UInt8]) -> [UInt8] {
        let count = head.count + tail.count
        return ByteBuilder.bytes { draft in
            Self.chunkSize(count, into: &draft)
            draft.append(contentsOf: head)
            draft.append(contentsOf: tail)
            Self.lineEnd(into: &draft)
        }
    }

    private static func chunkSize(_ count: Int, into bytes: inout some ByteSink & ~Copyable) {
        let bits = Int.bitWidth - count.leadingZeroBitCount
        Hexadecimal.append(UInt64(count), digits: (bits + 3) / 4, to: &bytes)
        Self.lineEnd(into: &bytes)
    }

    /// Appends the last chunk, without trailers.
    package static func lastChunk(into bytes: inout [UInt8]) {
        bytes.append(text: "0\r\n\r\n")
    }

    private static func field(
        _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, into bytes: inout [UInt8]
    ) {
        guard ASCII.isToken(name) else { return }
        bytes.append(contentsOf: name)
        bytes.append(ASCII.colon)
        bytes.append(ASCII.space)
        var offset = bytes.count
        bytes.append(contentsOf: value)
        offset = bytes.offset(from: offset, ASCII.unfitForValue)
        while offset < bytes.count {
            bytes[offset] = ASCII.space
            offset = bytes.offset(from: offset, ASCII.unfitForValue)
        }
        Self.lineEnd(into: &bytes)
    }

    private static func lineEnd(into bytes: inout some ByteSink & ~Copyable) {
        bytes.append(ASCII.carriageReturn)
        bytes.append(ASCII.lineFeed)
    }

    /// The usual phrase of a status (RFC 9110 section 15, RFC 6585, RFC 4918); "Unknown" for others.
    package static func reason(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400..<500: Self.clientErrorReason(status)
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: "Unknown"
        }
    }

    private static func clientErrorReason(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 425: "Too Early"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        default: "Unknown"
        }
    }
}
