package import SimBase

/// An event as the WHATWG event-stream rules dispatch it.
package struct SSEEvent: Hashable, Sendable {
    /// The event's type; `message` when the stream names none.
    package var type: String
    /// The data lines joined by line feeds, as they came: what is not UTF-8 is none here either.
    package var bytes: [UInt8]
    /// The last event id once this event is dispatched: its own, or one that persists from earlier.
    package var id: String
    /// Whether the event carried an `id` field itself, an empty one included.
    package var hasOwnID: Bool

    /// The bytes as text; each invalid UTF-8 subpart is one U+FFFD.
    package var data: String { String(decoding: self.bytes, as: UTF8.self) }

    package init(type: String, bytes: [UInt8], id: String, hasOwnID: Bool) {
        self.type = type
        self.bytes = bytes
        self.id = id
        self.hasOwnID = hasOwnID
    }

    package init(type: String, data: String, id: String, hasOwnID: Bool) {
        self.init(type: type, bytes: Array(data.utf8), id: id, hasOwnID: hasOwnID)
    }

    /// Equal as texts.
    package static func == (left: SSEEvent, right: SSEEvent) -> Bool {
        left.type == right.type && left.id == right.id && left.hasOwnID == right.hasOwnID
            && (left.bytes == right.bytes || left.data == right.data)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.type)
        hasher.combine(self.data)
        hasher.combine(self.id)
    }
}

/// A comment of an event stream, as its bytes came: what is not UTF-8 is none here either.
package struct SSEComment: Hashable, Sendable, ExpressibleByStringLiteral {
    package let bytes: ArraySlice<UInt8>

    /// The bytes as text; each invalid UTF-8 subpart is one U+FFFD.
    package var text: String { String(decoding: self.bytes, as: UTF8.self) }

    package init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    package init(_ text: String) { self.bytes = Array(text.utf8)[...] }

    package init(stringLiteral text: String) { self.init(text) }

    /// Equal as texts.
    package static func == (left: SSEComment, right: SSEComment) -> Bool {
        left.bytes == right.bytes || left.text == right.text
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.text) }
}

/// An item of an event stream, in the order of its bytes.
package enum SSEItem: Hashable, Sendable {
    case event(SSEEvent)
    /// A comment: the text after the colon without one leading space, reported at the end of its line.
    case comment(SSEComment)
    /// An accepted `retry` field, at most `Limits.retryMax`; passed on at the end of its line.
    case retry(Interval)
    /// A block without data that carried an id: nothing is dispatched, and the id is the last event id all the same.
    case lastEventID(String)
    /// A limit was reached. What was too long is dropped and reading continues. `type`: that of the event, where the stream
    /// had named it before.
    case overflow(SSEOverflow, type: String = "")
}

/// Which limit of an `SSEReader` was reached.
package enum SSEOverflow: Hashable, Sendable {
    /// A line above `lineBytesMax`. A comment is lost alone; any other line takes its event with it, id included.
    case line
    /// Data above `eventBytesMax`: the event is lost, id included.
    case event
}
