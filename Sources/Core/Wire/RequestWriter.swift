package import SimBase

/// Writes HTTP/1.1 requests by appending to a buffer.
package enum RequestWriter {
    /// Appends the request line, `Host`, the fields in their order, `Content-Length` where there is a body, and the empty
    /// line. The body is appended by the caller.
    package static func head(
        method: String, target: String, host: String, headers: HeaderFields, bodyBytes: Int?,
        into bytes: inout ByteBuilder
    ) {
        Self.begin(method: method, target: target[...], host: host[...], into: &bytes)
        headers.each { name, value in
            bytes.append(contentsOf: name)
            let start = Self.beginValue(isEmpty: value.isEmpty, into: &bytes)
            bytes.append(contentsOf: value)
            Self.endValue(from: start, in: &bytes)
        }
        Self.end(bodyBytes: bodyBytes, into: &bytes)
    }

    /// Appends the same from fields as texts.
    package static func head(
        method: String, target: Substring, host: Substring, fields: [HeaderField], bodyBytes: Int?,
        into bytes: inout ByteBuilder
    ) {
        Self.begin(method: method, target: target, host: host, into: &bytes)
        for field in fields {
            bytes.append(text: field.name)
            let start = Self.beginValue(isEmpty: field.value.isEmpty, into: &bytes)
            bytes.append(text: field.value)
            Self.endValue(from: start, in: &bytes)
        }
        Self.end(bodyBytes: bodyBytes, into: &bytes)
    }

    private static func begin(
        method: String, target: Substring, host: Substring, into bytes: inout ByteBuilder
    ) {
        bytes.append(text: method)
        bytes.append(ASCII.space)
        bytes.append(text: target)
        bytes.append(literal: " HTTP/1.1\r\nHost: ")
        let start = bytes.count
        bytes.append(text: host)
        Self.endValue(from: start, in: &bytes)
    }

    private static func end(bodyBytes: Int?, into bytes: inout ByteBuilder) {
        if let bodyBytes {
            bytes.append(literal: "Content-Length: ")
            Decimal.append(Int64(bodyBytes), to: &bytes)
            Self.lineEnd(into: &bytes)
        }
        Self.lineEnd(into: &bytes)
    }

    /// Returns where the value begins.
    private static func beginValue(isEmpty: Bool, into bytes: inout ByteBuilder) -> Int {
        bytes.append(ASCII.colon)
        if !isEmpty { bytes.append(ASCII.space) }
        return bytes.count
    }

    private static func endValue(from start: Int, in bytes: inout ByteBuilder) {
        let flaw = bytes.offset(from: start, ASCII.unfitForValue)
        // A field is one line: what cannot be written ends it.
        if let flaw { bytes.shorten(to: flaw) }
        Self.lineEnd(into: &bytes)
    }

    private static func lineEnd(into bytes: inout ByteBuilder) {
        bytes.append(ASCII.carriageReturn)
        bytes.append(ASCII.lineFeed)
    }
}
