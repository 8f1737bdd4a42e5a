package import SimBase

/// Writes event streams by appending to a buffer. Field order is the backend's: id, event, retry, data
/// (CONTRACT.md section 2.2).
package enum SSEWriter {
    /// Appends a whole event, its blank line included. An empty `type` writes no `event` line; data is split at
    /// CR, LF and CRLF, and empty data still makes an event.
    package static func event(
        id: String?, type: String, retry: Interval? = nil, data: ArraySlice<UInt8>, into bytes: inout [UInt8]
    ) {
        if let id {
            precondition(!id.utf8.contains(0), "a reader ignores an id with a NUL")
            Self.field("id", id, into: &bytes)
        }
        if !type.isEmpty { Self.field("event", type, into: &bytes) }
        if let retry { Self.field("retry", String(max(0, retry.wholeMilliseconds)), into: &bytes) }
        Self.eachLine(of: data) { line in
            bytes.append(text: "data: ")
            bytes.append(contentsOf: line)
            bytes.append(ASCII.lineFeed)
        }
        bytes.append(ASCII.lineFeed)
    }

    package static func event(
        id: String?, type: String, retry: Interval? = nil, data: [UInt8], into bytes: inout [UInt8]
    ) {
        Self.event(id: id, type: type, retry: retry, data: data[...], into: &bytes)
    }

    package static func event(
        id: String?, type: String, retry: Interval? = nil, data: String, into bytes: inout [UInt8]
    ) {
        Self.event(id: id, type: type, retry: retry, data: Array(data.utf8)[...], into: &bytes)
    }

    /// Appends a comment; a text of several lines becomes as many comments. No blank line follows.
    package static func comment(_ text: String, into bytes: inout [UInt8]) {
        Self.eachLine(of: Array(text.utf8)[...]) { line in
            bytes.append(ASCII.colon)
            if !line.isEmpty {
                bytes.append(ASCII.space)
                bytes.append(contentsOf: line)
            }
            bytes.append(ASCII.lineFeed)
        }
    }

    /// Appends a comment of a name, a number and a remark: `: t=42 replayed`.
    package static func comment(
        _ name: String, _ number: Int64, _ remark: String = "", into bytes: inout [UInt8]
    ) {
        bytes.append(ASCII.colon)
        bytes.append(ASCII.space)
        bytes.append(text: name)
        bytes.append(UInt8(ascii: "="))
        Decimal.append(number, to: &bytes)
        if !remark.isEmpty {
            bytes.append(ASCII.space)
            bytes.append(text: remark)
        }
        bytes.append(ASCII.lineFeed)
    }

    /// Appends a `retry` line of its own and a blank line.
    package static func retry(_ wait: Interval, into bytes: inout [UInt8]) {
        Self.field("retry", String(max(0, wait.wholeMilliseconds)), into: &bytes)
        bytes.append(ASCII.lineFeed)
    }

    /// Appends a `ping` event: without an id it leaves the resume point where it was.
    package static func ping(id: String?, data: String, into bytes: inout [UInt8]) {
        Self.event(id: id, type: "ping", data: data, into: &bytes)
    }

    private static func field(_ name: String, _ value: String, into bytes: inout [UInt8]) {
        bytes.append(text: name)
        bytes.append(ASCII.colon)
        if !value.isEmpty {
            let start = bytes.count
            bytes.append(ASCII.space)
            bytes.append(text: value)
            precondition(
                ASCII.lineBreak(in: bytes[start...], from: start) == nil,
                "a field of one line holds a line break")
        }
        bytes.append(ASCII.lineFeed)
    }

    private static func eachLine(of text: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
        var rest = text
        while let end = ASCII.lineBreak(in: rest, from: rest.startIndex) {
            body(rest[..<end])
            let isPair =
                rest[end] == ASCII.carriageReturn && end + 1 < rest.endIndex
                && rest[end + 1] == ASCII.lineFeed
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
        body(rest)
    }
}
