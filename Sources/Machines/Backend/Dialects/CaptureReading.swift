import JSON
internal import SimBase
internal import Talaria
internal import Wire

/// The events in the text of a captured stream, with the lines in which they begin.
struct CaptureReading {
    /// An event as it is in the text.
    struct Found {
        var line: Int
        var kind: EventKind
        var name: String
        var milliseconds: Int64
        var suffix: String
        /// The time that a comment before it gives.
        var at: Int64?
        var data: [UInt8]
        var offset: Int64 = 0

        /// The `jobId` of the data, or of the object `data` in them.
        var jobID: String? {
            guard let node = JSONNode(self.data), node.kind == .object else { return nil }
            return (node["jobId"] ?? node["data"]?["jobId"])?.text
        }

        func event(job: String?) -> Capture.Event {
            Capture.Event(
                form: EventForm(name: self.name, idSuffix: self.suffix, isEnveloped: false), kind: self.kind,
                milliseconds: self.milliseconds, offset: self.offset, data: CapturedData(self.data, job: job))
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let atPrefix = "at "
    private static let atSuffix = "ms"

    private(set) var events: [Found] = []
    private(set) var retry: Interval?
    private(set) var lines = 0
    /// The time that a comment gave for the next event.
    private var at: Int64?

    init(_ text: String) throws(Capture.Mistake) {
        if text.utf8.first == UInt8(ascii: "{") {
            throw Capture.Mistake(
                line: 1, message: "this is JSON and no event stream",
                help: "a recording of `serve --record` is played by `serve --replay`")
        }
        var reader = SSEReader(limits: .standard)
        // The reader gives an event at its blank line; it began after the last one.
        var begin = 1
        for line in Self.lines(of: text) {
            self.lines += 1
            var items: [SSEItem] = []
            reader.receive(line, into: &items)
            for item in items { try self.take(item, begin: begin) }
            if line.allSatisfy({ $0 == Self.lineFeed || $0 == Self.carriageReturn }) {
                begin = self.lines + 1
            }
        }
        guard !self.events.isEmpty else {
            throw Capture.Mistake(
                line: 1, message: "this is no event stream of a job: it has no complete event",
                help: "`curl -N` writes a stream as it comes; an event ends with an empty line")
        }
        let timed = self.events.count { $0.at != nil }
        if timed > 0, let untimed = self.events.first(where: { $0.at == nil }) {
            throw Capture.Mistake(
                line: untimed.line, message: "an event without a time among events with `: at`",
                help: "give the time of every event, or of none")
        }
    }

    /// The lines with their ends.
    private static func lines(of text: String) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        var previous: UInt8 = 0
        for byte in text.utf8 {
            // An LF after a CR ends the line that the CR has ended.
            if previous == Self.carriageReturn, byte == Self.lineFeed, line.isEmpty, !lines.isEmpty {
                lines[lines.count - 1].append(byte)
            } else {
                line.append(byte)
                if byte == Self.lineFeed || byte == Self.carriageReturn {
                    lines.append(line)
                    line = []
                }
            }
            previous = byte
        }
        return line.isEmpty ? lines : lines + [line]
    }

    private mutating func take(_ item: SSEItem, begin: Int) throws(Capture.Mistake) {
        switch item {
        case .comment(let comment):
            if let at = try self.time(comment.text) { self.at = at }
        case .retry(let retry):
            self.retry = self.retry ?? retry
        case .event(let event) where event.type == EventKind.ping.rawValue:
            // The simulated backend sends its own.
            break
        case .event(let event):
            self.events.append(try self.found(event, begin: begin))
            self.at = nil
        case .lastEventID, .overflow:
            break
        }
    }

    /// The number of `: at 1250ms`; nil for any other comment.
    private func time(_ comment: String) throws(Capture.Mistake) -> Int64? {
        guard comment.hasPrefix(Self.atPrefix) else { return nil }
        let text = comment.dropFirst(Self.atPrefix.count)
        guard text.hasSuffix(Self.atSuffix), let at = Int64(text.dropLast(Self.atSuffix.count)),
            (0...Int64(UInt32.max)).contains(at), at >= self.events.last?.at ?? 0
        else {
            throw Capture.Mistake(
                line: self.lines, message: "an invalid time in a comment",
                help: "write milliseconds that never decrease: `: at 1250ms`")
        }
        return at
    }

    private func found(_ event: SSEEvent, begin: Int) throws(Capture.Mistake) -> Found {
        func mistake(_ message: String, _ help: String) -> Capture.Mistake {
            Capture.Mistake(line: begin, message: message, help: help)
        }
        let kind = EventKind(eventName: event.type)
        switch kind {
        case .error:
            throw mistake(
                "the job has failed: only a stream that ends with `completed` can be replayed",
                "use the faults `retryable-error` and `final-error`")
        case .enrichmentDegraded:
            throw mistake(
                "an event `enrichment_degraded` cannot be replayed",
                "use the fault `degraded` with another dialect")
        case .progress, .completed, .ping, .segmented, .bookProgress, .result, nil: break
        }
        guard event.hasOwnID, let dash = event.id.firstIndex(of: "-"),
            let milliseconds = Int64(event.id[..<dash]), milliseconds >= 0
        else {
            throw mistake(
                "an event without an id of the form `1770112148771-progress`",
                "a client could not continue the stream behind it")
        }
        let suffix = String(event.id[event.id.index(after: dash)...])
        guard event.id == EventForm.id(milliseconds, suffix) else {
            throw mistake(
                "the number of an id has leading zeros or a sign", "write it as `1770112148771-progress`")
        }
        guard !event.bytes.contains(Self.lineFeed) else {
            throw mistake("an event has its data in several lines", "write them in one line: JSON allows it")
        }
        // What the phone ignores is sent as what it ignores in any case.
        return Found(
            line: begin, kind: kind ?? .result, name: event.type, milliseconds: milliseconds, suffix: suffix,
            at: self.at, data: event.bytes)
    }

    /// The events with their times from the first one: those of the comments, otherwise those of the ids. The time of an event
    /// that is earlier than the one before is that of the one before.
    func timed() -> [Found] {
        var timed = self.events
        let start = timed.first.map { $0.at ?? $0.milliseconds } ?? 0
        var latest: Int64 = 0
        for index in timed.indices {
            let time = timed[index].at ?? timed[index].milliseconds
            // Ids may be any numbers.
            latest = max(latest, time.subtractingReportingOverflow(start).partialValue)
            timed[index].offset = latest
        }
        return timed
    }

    /// The books of the first terminal event that has some, otherwise an empty list of one. `end`: the first terminal event.
    func books(from end: Int) throws(Capture.Mistake) -> [Book] {
        var hasList = false
        for event in self.events[end...] {
            var notes = ContractNotes()
            switch CompletedReading.read(event.data, into: &notes)?.inline {
            case .books(let books): return books
            case .empty: hasList = true
            case .undecodable:
                throw Capture.Mistake(
                    line: event.line, message: "the books of the `completed` event cannot be read",
                    help: "a book needs `title` and `author`")
            case .absent, .null, nil: break
            }
        }
        guard hasList else {
            throw Capture.Mistake(
                line: self.events[end].line, message: "no `completed` event has `books`",
                help: "the results of the job are taken from them: add them to the capture")
        }
        return []
    }
}
