package import SimBase

/// Writes event streams by appending to a buffer. Field order is the backend's: id, event, retry, data
/// (Docs/contract.md section 2.2).
package enum SSEWriter {
    /// Appends a whole event, its blank line included. An empty `type` writes no `event` line, and neither does `message`, the type
    /// of an event without one. Data is split at CR, LF and CRLF, and empty data still makes an event.
    package static func event(
        id: String?, type: String, retry: Interval? = nil, data: ArraySlice<UInt8>,
        into draft: inout ByteBuilder
    ) {
        if let id {
            draft.append(literal: "id")
            Self.value(id, into: &draft)
        }
        Self.name(type, into: &draft)
        if let retry { Self.field(retry: retry, into: &draft) }
        Self.eachLine(of: data, into: &draft) { Self.field(data: $0, into: &$1) }
        draft.append(ASCII.lineFeed)
    }

    /// Writes an event with data of one line, such as our JSON, without searching it for line ends, and an
    /// optional id of a number and a word, for example `1700000000000-progress`.
    package static func event(
        id: (number: Int64, word: String)?, type: String, line: [UInt8], into draft: inout ByteBuilder
    ) {
        assert(ASCII.lineBreak(in: line[...], from: 0) == nil, "data of several lines in the way for one")
        if let id {
            draft.append(literal: "id: ")
            let start = draft.count
            Decimal.append(id.number, to: &draft)
            draft.append(UInt8(ascii: "-"))
            draft.append(text: id.word)
            Self.endLine(from: start, into: &draft)
        }
        Self.name(type, into: &draft)
        Self.field(data: line[...], into: &draft)
        draft.append(ASCII.lineFeed)
    }

    package static func event(
        id: String?, type: String, retry: Interval? = nil, data: ArraySlice<UInt8>, into bytes: inout [UInt8]
    ) {
        var draft = ByteBuilder(reserving: data.count + 96)
        Self.event(id: id, type: type, retry: retry, data: data, into: &draft)
        bytes.append(contentsOf: draft.bytes)
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
        var draft = ByteBuilder(reserving: text.utf8.count + 8)
        Self.eachLine(of: Array(text.utf8)[...], into: &draft) { line, draft in
            draft.append(ASCII.colon)
            if !line.isEmpty {
                draft.append(ASCII.space)
                draft.append(contentsOf: line)
            }
            draft.append(ASCII.lineFeed)
        }
        bytes.append(contentsOf: draft.bytes)
    }

    /// Appends a comment of a name, a number and a remark: `: t=42 replayed`.
    package static func comment(
        _ name: StaticString, _ number: Int64, _ remark: String = "", into draft: inout ByteBuilder
    ) {
        draft.append(literal: ": ")
        draft.append(literal: name)
        draft.append(UInt8(ascii: "="))
        Decimal.append(number, to: &draft)
        if !remark.isEmpty {
            draft.append(ASCII.space)
            draft.append(text: remark)
        }
        draft.append(ASCII.lineFeed)
    }

    /// Appends a `retry` line of its own and a blank line.
    package static func retry(_ wait: Interval, into bytes: inout [UInt8]) {
        var draft = ByteBuilder(reserving: 32)
        Self.field(retry: wait, into: &draft)
        draft.append(ASCII.lineFeed)
        bytes.append(contentsOf: draft.bytes)
    }

    /// Appends a `ping` event: without an id it leaves the resume point where it was.
    package static func ping(id: String?, data: String, into bytes: inout [UInt8]) {
        Self.event(id: id, type: "ping", data: data, into: &bytes)
    }

    private static func name(_ type: String, into draft: inout ByteBuilder) {
        guard !type.isEmpty, type != "message" else { return }
        draft.append(literal: "event")
        Self.value(type, into: &draft)
    }

    private static func field(data line: ArraySlice<UInt8>, into draft: inout ByteBuilder) {
        draft.append(literal: "data: ")
        draft.append(contentsOf: line)
        draft.append(ASCII.lineFeed)
    }

    private static func field(retry: Interval, into draft: inout ByteBuilder) {
        draft.append(literal: "retry: ")
        Decimal.append(max(0, retry.wholeMilliseconds), to: &draft)
        draft.append(ASCII.lineFeed)
    }

    /// Writes the part after a field's name.
    private static func value(_ value: String, into draft: inout ByteBuilder) {
        draft.append(ASCII.colon)
        let start = draft.count
        if !value.isEmpty {
            draft.append(ASCII.space)
            draft.append(text: value)
        }
        Self.endLine(from: start, into: &draft)
    }

    private static func endLine(from start: Int, into draft: inout ByteBuilder) {
        let flaw = draft.offset(from: start) {
            $0.equal(ASCII.lineFeed) | $0.equal(ASCII.carriageReturn) | $0.equal(0)
        }
        if let flaw {
            // A field is one line, and a reader ignores an id with a NUL: what cannot be written ends the field. It may
            // have come from a foreign server.
            draft.shorten(to: flaw)
        }
        draft.append(ASCII.lineFeed)
    }

    private static func eachLine(
        of text: ArraySlice<UInt8>, into draft: inout ByteBuilder,
        _ body: (ArraySlice<UInt8>, inout ByteBuilder) -> Void
    ) {
        var rest = text
        while let end = ASCII.lineBreak(in: rest, from: rest.startIndex) {
            body(rest[..<end], &draft)
            let isPair =
                rest[end] == ASCII.carriageReturn && end + 1 < rest.endIndex
                && rest[end + 1] == ASCII.lineFeed
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
        body(rest, &draft)
    }
}
