import SimBase

/// Writes HTTP/1.1 requests by appending to a buffer.
package enum RequestWriter {
    /// Appends the request line, `Host`, the fields in their order, `Content-Length` where there is a body, and the empty
    /// line. The body is appended by the caller.
    package static func head(
        method: String, target: String, host: String, headers: HeaderFields, bodyBytes: Int?,
        into bytes: inout [UInt8]
    ) {
        bytes.append(text: method)
        bytes.append(ASCII.space)
        bytes.append(text: target)
        bytes.append(text: " HTTP/1.1\r\n")
        Self.field("Host", host, into: &bytes)
        for field in headers.fields { Self.field(field.name, field.value, into: &bytes) }
        if let bodyBytes { Self.field("Content-Length", String(bodyBytes), into: &bytes) }
        bytes.append(ASCII.carriageReturn)
        bytes.append(ASCII.lineFeed)
    }

    private static func field(_ name: String, _ value: String, into bytes: inout [UInt8]) {
        bytes.append(text: name)
        bytes.append(ASCII.colon)
        bytes.append(ASCII.space)
        let start = bytes.count
        bytes.append(text: value)
        precondition(
            bytes[start...].allSatisfy { $0 != ASCII.carriageReturn && $0 != ASCII.lineFeed && $0 != 0 },
            "a field is one line")
        bytes.append(ASCII.carriageReturn)
        bytes.append(ASCII.lineFeed)
    }
}
