internal import SimBase
internal import Talaria
internal import Wire

/// Name, id and frame of an event on the wire.
struct EventForm: Hashable, Sendable {
    /// The value of `event:`.
    var name: String
    /// The last part of the id.
    var idSuffix: String
    /// The data are `{"data":…,"type":…}` around those that are in the log (Docs/apps.md section 6.1).
    var isEnveloped: Bool

    /// The whole event.
    func bytes(milliseconds: Int64?, data: [UInt8]) -> [UInt8] {
        let line = self.isEnveloped ? Self.opening + data + self.closing : data
        // A fault has made several lines of them.
        guard data[...].offset(from: 0, { $0.equal(UInt8(ascii: "\n")) }) == nil else {
            return ByteBuilder.bytes {
                SSEWriter.event(id: milliseconds.map(self.id), type: self.name, data: line[...], into: &$0)
            }
        }
        let id = milliseconds.map { (number: $0, word: self.idSuffix) }
        return ByteBuilder.bytes { SSEWriter.event(id: id, type: self.name, line: line, into: &$0) }
    }

    /// The data of an event that has these bytes, without the envelope.
    func data(in bytes: [UInt8], milliseconds: Int64) -> [UInt8] {
        let head = "id: \(self.id(milliseconds))\nevent: \(self.name)\ndata: "
        let line = bytes.dropFirst(head.utf8.count).dropLast(2)
        guard self.isEnveloped else { return Array(line) }
        return Array(line.dropFirst(Self.opening.count).dropLast(self.closing.count))
    }

    private static let opening = Array("{\"data\":".utf8)
    private var closing: [UInt8] { Array(",\"type\":\"\(self.name)\"}".utf8) }

    func id(_ milliseconds: Int64) -> String { Self.id(milliseconds, self.idSuffix) }

    static func id(_ milliseconds: Int64, _ suffix: String) -> String {
        ByteBuilder.text { id in
            Decimal.append(milliseconds, to: &id)
            id.append(UInt8(ascii: "-"))
            id.append(text: suffix)
        }
    }
}

/// The names of a dialect's events.
struct EventForms: Hashable, Sendable {
    /// C3.
    var completed = EventKind.completed.rawValue
    var progress = EventKind.progress.rawValue
    /// The last part of the ids of terminal events; nil for their names.
    var terminalSuffix: String?
    /// C4.
    var error = EventKind.error.rawValue
    var isEnveloped = false
    /// A ping has no data but an empty object (C8).
    var hasEmptyPings = false
    /// A comment replaces the ping (Docs/contract.md section 3.3).
    var hasCommentPings = false
    /// Whether ids are strictly increasing in a job. Otherwise they are the time alone: events of one millisecond share
    /// theirs, and an event of an earlier time may follow.
    var hasIncreasingIDs = true

    func form(of kind: EventKind) -> EventForm {
        let name =
            switch kind {
            case .completed: self.completed
            case .error: self.error
            case .progress: self.progress
            case .ping, .enrichmentDegraded, .segmented, .bookProgress, .result: kind.rawValue
            }
        let suffix = kind == .progress ? kind.rawValue : kind.isTerminal ? self.terminalSuffix ?? name : name
        return EventForm(name: name, idSuffix: suffix, isEnveloped: self.isEnveloped)
    }
}
