package import SimBase

/// Reads an event stream from bytes in any pieces (WHATWG HTML section 9.2.6, "Interpreting an event
/// stream"). The splitting of the bytes never changes the output, limits included.
///
/// Comments, which the standard ignores, are passed on: they carry pings and latency marks.
package struct SSEReader: Sendable {
    package struct Limits: Hashable, Sendable {
        /// The longest line, without its terminator.
        package var lineBytesMax: Int
        /// The most data an event may carry, line feeds between its lines included.
        package var eventBytesMax: Int
        /// A longer `retry` is shortened to this, so that adding it to a clock is always safe.
        package var retryMax: Interval

        package init(lineBytesMax: Int, eventBytesMax: Int, retryMax: Interval) {
            precondition(lineBytesMax > 0 && eventBytesMax > 0, "a reader that may keep nothing")
            precondition(retryMax >= .zero, "a wait that runs backwards")
            self.lineBytesMax = lineBytesMax
            self.eventBytesMax = eventBytesMax
            self.retryMax = retryMax
        }

        /// Limits far above the contract's sizes (128 KB, Docs/contract.md section 2.3): 2 MiB per line, 4
        /// MiB per event, ten years of `retry`.
        package static let standard = Limits(
            lineBytesMax: 2 << 20, eventBytesMax: 4 << 20, retryMax: .hours(24 * 3_650))
        /// Limits for conformance suites, whose largest event is near 14 MiB.
        package static let generous = Limits(
            lineBytesMax: 32 << 20, eventBytesMax: 32 << 20, retryMax: .hours(24 * 3_650))
    }

    /// How a reader takes the lines of a stream.
    package enum Rules: String, CaseIterable, Hashable, Sendable {
        case standard
        /// The last of several `data` lines counts, an event without a name is dropped, and values are trimmed
        /// (Docs/apps.md section 4.11, Q4).
        case lastDataLine = "last-data-line"
        /// Empty lines are not seen, so that nothing is dispatched (Q1).
        case withoutEmptyLines = "without-empty-lines"
        /// Behind an event, as many characters of the same piece are lost as the event has bytes beyond one for each of its
        /// characters: what was read is counted in bytes, and taken from the buffer in characters (Docs/apps.md section 6.2).
        case shortRemainder = "short-remainder"
    }

    /// Buffers above this are given back after use: one big event must not stay with every idle phone.
    private static let keptBytesMax = 16_384

    private enum LineState {
        case collecting
        /// The line is too long and already reported; its rest is dropped.
        case dropping
    }

    private enum EventState {
        case open
        /// A part of the event was too long; nothing of it is dispatched.
        case spoiled
    }

    private let limits: Limits
    private let rules: Rules
    private var lineState = LineState.collecting
    private var eventState = EventState.open
    /// The number of bytes of the byte order mark that were seen; 3 once it is decided.
    private var markBytesSeen = 0
    /// The last line ended in CR, so that an LF coming next belongs to it.
    private var endedInCarriageReturn = false
    /// The bytes of the event so far that begin no character; counted for `shortRemainder` only.
    private var continuationBytes = 0
    /// The start of a line whose end has not come yet.
    private var partialLine: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var type = ""
    private var pendingID: String?

    /// The id to resume from. It changes when an event's blank line is read, dispatched or not.
    package private(set) var lastEventID: String

    /// A reader at the start of a first connection.
    package init(limits: Limits) {
        self.init(limits: limits, lastEventID: "")
    }

    /// A reader of a client with rules of its own.
    package init(limits: Limits, rules: Rules) {
        self.limits = limits
        self.rules = rules
        self.lastEventID = ""
    }

    /// A reader that resumes: `lastEventID` holds until the stream brings another.
    package init(limits: Limits, lastEventID: String) {
        self.limits = limits
        self.rules = .standard
        self.lastEventID = lastEventID
    }

    /// Reads more of the stream and appends what it yields to `items`.
    package mutating func receive(_ bytes: [UInt8], into items: inout [SSEItem]) {
        self.receive(bytes[...], into: &items)
    }

    /// Reads more of the stream and appends what it yields to `items`.
    package mutating func receive(_ bytes: ArraySlice<UInt8>, into items: inout [SSEItem]) {
        var position = bytes.startIndex
        if self.markBytesSeen < 3 { self.skipByteOrderMark(bytes, &position, into: &items) }
        while position < bytes.endIndex {
            if self.endedInCarriageReturn {
                self.endedInCarriageReturn = false
                if bytes[position] == ASCII.lineFeed {
                    position += 1
                    continue
                }
            }
            guard let end = ASCII.lineBreak(in: bytes, from: position) else {
                if self.rules == .shortRemainder { self.count(bytes[position...]) }
                self.collect(bytes[position...], into: &items)
                return
            }
            self.endedInCarriageReturn = bytes[end] == ASCII.carriageReturn
            let isBlank = end == position && self.partialLine.isEmpty
            self.complete(bytes[position..<end], into: &items)
            if self.rules == .shortRemainder {
                self.count(bytes[position..<end])
                position = isBlank ? self.skipCharacters(bytes, from: end + 1) : end + 1
            } else {
                position = end + 1
            }
        }
    }

    // MARK: A short remainder

    private mutating func count(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes where byte & 0xC0 == 0x80 { self.continuationBytes += 1 }
    }

    /// Loses as many characters as the event had bytes too many, as far as this piece of the stream has them.
    private mutating func skipCharacters(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
        var position = start
        while self.continuationBytes > 0, position < bytes.endIndex {
            position += 1
            while position < bytes.endIndex, bytes[position] & 0xC0 == 0x80 { position += 1 }
            self.continuationBytes -= 1
        }
        self.continuationBytes = 0
        return position
    }

    /// The stream ended. An event without its blank line is discarded and its id not adopted; the reader is then
    /// ready for the next connection and keeps `lastEventID`.
    ///
    /// - Returns: Whether an unfinished line or event was discarded.
    @discardableResult package mutating func finish() -> Bool {
        let discarded =
            !self.partialLine.isEmpty || self.lineState == .dropping || self.eventState == .spoiled
            || self.hasData || !self.type.isEmpty || self.pendingID != nil
        self.resetEvent()
        self.partialLine = []
        self.lineState = .collecting
        self.markBytesSeen = 0
        self.endedInCarriageReturn = false
        self.continuationBytes = 0
        return discarded
    }

    // MARK: Lines

    /// Skips one byte order mark at the very start.
    private mutating func skipByteOrderMark(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int, into items: inout [SSEItem]
    ) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        while self.markBytesSeen < 3, position < bytes.endIndex {
            guard bytes[position] == mark[self.markBytesSeen] else {
                let seen = mark[..<self.markBytesSeen]
                self.markBytesSeen = 3
                self.collect(seen, into: &items)
                return
            }
            self.markBytesSeen += 1
            position += 1
        }
    }

    /// Keeps a piece of a line whose end has not come.
    private mutating func collect(_ piece: ArraySlice<UInt8>, into items: inout [SSEItem]) {
        guard self.lineState == .collecting, let first = self.partialLine.first ?? piece.first else { return }
        guard self.partialLine.count + piece.count <= self.limits.lineBytesMax else {
            self.lineState = .dropping
            self.partialLine = []
            self.lineOverflowed(first: first, into: &items)
            return
        }
        self.partialLine.append(contentsOf: piece)
    }

    private mutating func complete(_ rest: ArraySlice<UInt8>, into items: inout [SSEItem]) {
        if self.lineState == .collecting, self.partialLine.isEmpty, rest.count <= self.limits.lineBytesMax {
            self.interpret(rest, into: &items)
            return
        }
        self.collect(rest, into: &items)
        switch self.lineState {
        case .dropping:
            self.lineState = .collecting
        case .collecting:
            var line: [UInt8] = []
            swap(&line, &self.partialLine)
            self.interpret(line[...], into: &items)
            line.removeAll(keepingCapacity: line.capacity <= Self.keptBytesMax)
            swap(&line, &self.partialLine)
        }
    }

    private mutating func lineOverflowed(first: UInt8, into items: inout [SSEItem]) {
        if first == ASCII.colon {
            items.append(.overflow(.line))
        } else {
            self.spoil(.line, into: &items)
        }
    }

    /// Reports the first thing that spoils an event; what spoils it further is not news.
    private mutating func spoil(_ reason: SSEOverflow, into items: inout [SSEItem]) {
        switch self.eventState {
        case .open: items.append(.overflow(reason, type: self.type))
        case .spoiled: break
        }
        self.resetEvent()
        self.eventState = .spoiled
    }

    // MARK: Fields

    /// A field name of up to seven bytes as one word, with a leading 1 so that lengths differ.
    private enum FieldName {
        @inline(__always) static var data: UInt64 { 0x01_6461_7461 }
        @inline(__always) static var event: UInt64 { 0x01_65_7665_6E74 }
        @inline(__always) static var id: UInt64 { 0x01_6964 }
        @inline(__always) static var retry: UInt64 { 0x01_72_6574_7279 }
        static var bytesMax: Int { 5 }
    }

    private mutating func interpret(_ line: ArraySlice<UInt8>, into items: inout [SSEItem]) {
        guard !line.isEmpty else {
            if self.rules != .withoutEmptyLines { self.dispatch(into: &items) }
            return
        }
        var name: UInt64 = 1
        var colon = line.startIndex
        while colon < line.endIndex, line[colon] != ASCII.colon {
            guard colon - line.startIndex < FieldName.bytesMax else { return }  // No known name is so long.
            name = name << 8 | UInt64(line[colon])
            colon += 1
        }
        var start = min(colon + 1, line.endIndex)
        if start < line.endIndex, line[start] == ASCII.space { start += 1 }
        let value = self.rules == .lastDataLine ? ASCII.trimmed(line[start...]) : line[start...]
        switch name {
        case 1: items.append(.comment(SSEComment(bytes: value)))
        case FieldName.data: self.append(value, into: &items)
        case FieldName.event where self.eventState == .open: self.type = ASCII.text(value)
        case FieldName.id where self.eventState == .open && !value.contains(0):
            self.pendingID = ASCII.text(value)
        case FieldName.retry: self.retry(value, into: &items)
        default: break  // WHATWG: an unknown field is ignored.
        }
    }

    private mutating func append(_ value: ArraySlice<UInt8>, into items: inout [SSEItem]) {
        guard self.eventState == .open else { return }
        switch self.rules {
        case .standard, .shortRemainder: break
        case .lastDataLine: self.data.removeAll(keepingCapacity: true)
        case .withoutEmptyLines: return  // It will never be dispatched.
        }
        let separator = self.hasData && self.rules != .lastDataLine ? 1 : 0
        guard self.data.count + separator + value.count <= self.limits.eventBytesMax else {
            self.spoil(.event, into: &items)
            return
        }
        if separator > 0 { self.data.append(ASCII.lineFeed) }
        self.hasData = true
        self.data.append(contentsOf: value)
    }

    private func retry(_ value: ArraySlice<UInt8>, into items: inout [SSEItem]) {
        guard !value.isEmpty else { return }
        let most = self.limits.retryMax.wholeMilliseconds
        var milliseconds: Int64 = 0
        for byte in value {
            guard let digit = ASCII.digit(byte) else { return }
            // Cannot overflow: `most` is nanoseconds divided by a million.
            milliseconds = min(most, milliseconds * 10 + digit)
        }
        items.append(.retry(.milliseconds(milliseconds)))
    }

    private mutating func dispatch(into items: inout [SSEItem]) {
        guard self.rules != .lastDataLine || !self.type.isEmpty else { return self.resetEvent() }
        if let id = self.pendingID { self.lastEventID = id }
        if self.hasData {
            var bytes: [UInt8] = []
            swap(&bytes, &self.data)
            items.append(
                .event(
                    SSEEvent(
                        type: self.type.isEmpty ? "message" : self.type, bytes: bytes, id: self.lastEventID,
                        hasOwnID: self.pendingID != nil)))
        } else if let id = self.pendingID {
            items.append(.lastEventID(id))
        }
        self.resetEvent()
    }

    private mutating func resetEvent() {
        self.eventState = .open
        if !self.data.isEmpty {
            self.data.removeAll(keepingCapacity: self.data.capacity <= Self.keptBytesMax)
        }
        self.hasData = false
        if !self.type.isEmpty { self.type = "" }
        if self.pendingID != nil { self.pendingID = nil }
    }
}
