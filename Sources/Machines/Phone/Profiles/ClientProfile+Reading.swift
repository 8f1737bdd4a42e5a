import SimBase
import Talaria

// What a client understands of what a server says, where that is less than the contract's client does.

extension ClientProfile {
    /// The books as the client keeps them; nil if it cannot read them.
    func understood(_ books: [Book], into notes: inout ContractNotes) -> [Book]? {
        if self.events.statuses == .jobStatus {
            let status = books.lazy.compactMap { $0.enrichmentStatus?.text }
                .first { JobStatus(rawValue: $0) == nil }
            if let status {
                notes.add(
                    "books[].enrichmentStatus", expected: "a job status", seen: "another status",
                    excerpt: status, isDecisive: true)
                return nil
            }
        }
        if self.results.rejectsUnknownStatus {
            for case .unknown(let status)? in books.lazy.map(\.enrichmentStatus) {
                notes.add(
                    "books[].enrichmentStatus", expected: "a status that the client knows",
                    seen: "another status", excerpt: status, isDecisive: true)
                return nil
            }
        }
        guard !self.results.keepsEnrichmentStatus else { return books }
        return books.map { book in
            var kept = book
            kept.enrichmentStatus = nil
            return kept
        }
    }

    /// The books of a `completed` event as the client keeps them.
    func understood(
        _ inline: CompletedReading.InlineBooks, into notes: inout ContractNotes
    ) -> CompletedReading.InlineBooks {
        guard case .books(let books) = inline else { return inline }
        return self.understood(books, into: &notes).map { .books($0) } ?? .undecodable
    }
}

extension EventPolicy {
    /// The name and the members of an event, where this client looks for them. Without a name, it is an unknown event.
    func contents(_ name: String, _ bytes: [UInt8]) -> (name: String, bytes: [UInt8]) {
        guard self.data == .enveloped else { return (name, bytes) }
        return EventEnvelope(bytes).map { ($0.type, $0.data) } ?? ("", bytes)
    }

    /// What the client understands of an event that the contract's client reads as `reading`.
    func understood(_ reading: JobEvent, _ bytes: [UInt8], into notes: inout ContractNotes) -> JobEvent {
        self.noteUndocumented(reading, into: &notes)
        switch reading {
        case .progress: return self.understoodProgress(bytes, into: &notes)
        case .error(let error): return self.understood(error, into: &notes)
        case .unknown(name: EventKind.result.rawValue): return self.understoodResult(bytes, into: &notes)
        case .completed, .ping, .enrichmentDegraded, .segmented, .bookProgress, .result, .unknown, .malformed:
            return reading
        }
    }

    private func understoodResult(_ bytes: [UInt8], into notes: inout ContractNotes) -> JobEvent {
        let reading =
            switch self.result {
            case .unknown: JobEvent.unknown(name: EventKind.result.rawValue)
            case .flat: Self.flatResult(bytes, into: &notes) ?? .unknown(name: EventKind.result.rawValue)
            case .understood, .topLevel, .collected: JobEvent(resultBytes: bytes, into: &notes)
            }
        if case .result(_, isNested: true) = reading, self.result == .topLevel {
            notes.add("title", expected: "a string", seen: "missing", isDecisive: true)
            return .malformed(.result)
        }
        return reading
    }

    /// Nil for any other form, of which nothing is noted.
    private static func flatResult(_ bytes: [UInt8], into notes: inout ContractNotes) -> JobEvent? {
        var found = ContractNotes()
        let reading = JobEvent(resultBytes: bytes, into: &found)
        guard case .result(_, isNested: false) = reading else { return nil }
        for note in found.notes {
            notes.add(
                note.path, expected: note.expected, seen: note.seen, excerpt: note.excerpt,
                isDecisive: note.isDecisive)
        }
        return reading
    }

    /// Whether the client's parser fails at an event.
    func fails(at reading: JobEvent, _ bytes: [UInt8]) -> Bool {
        switch reading {
        case .ping: self.ping == .fails
        case .enrichmentDegraded: self.enrichmentDegraded == .fails
        case .progress: self.progressWithoutMessage == .fails && EventMember.message.text(in: bytes) == nil
        case .malformed(.result): self.result != .collected
        case .malformed(let kind): self.unknown == .fails && !kind.isTerminal
        case .unknown(let name):
            switch self.unknown {
            case .ignored: false
            case .otherVersionsFail: UnknownEvent(rawValue: name)?.isOfOtherVersion == true
            case .fails: true
            }
        case .completed, .error, .segmented, .bookProgress, .result: false
        }
    }

    private func understoodProgress(_ bytes: [UInt8], into notes: inout ContractNotes) -> JobEvent {
        // No event is parsed a second time for the contract's client.
        guard self.statuses != .separate, let status = EventMember.status.text(in: bytes),
            self.statuses == .opaque || JobStatus(rawValue: status) == nil
        else { return .progress }
        let isUnreadable = self.statuses == .jobStatus
        notes.add(
            "status", expected: isUnreadable ? "a job status" : "a status that the client knows",
            seen: isUnreadable ? "another status" : "a text", excerpt: status, isDecisive: isUnreadable)
        return isUnreadable ? .malformed(.progress) : .progress
    }

    private func understood(_ error: ErrorData, into notes: inout ContractNotes) -> JobEvent {
        switch self.error {
        case .complete:
            return .error(error)
        case .messageOnly:
            var message = error
            (message.jobId, message.code, message.retryable) = (nil, nil, nil)
            return .error(message)
        case .problem:
            notes.add("title", expected: "a problem document", seen: "missing", isDecisive: true)
            return .malformed(.error)
        }
    }

    /// Notes what the OpenAPI document of the client does not have.
    private func noteUndocumented(_ reading: JobEvent, into notes: inout ContractNotes) {
        guard self.document == .v300 else { return }
        let expected = "OpenAPI \(self.document.rawValue)"
        switch reading {
        case .ping: notes.add("event", expected: "an event of \(expected)", seen: EventKind.ping.rawValue)
        case .enrichmentDegraded:
            notes.add(
                "event", expected: "an event of \(expected)", seen: EventKind.enrichmentDegraded.rawValue)
        case .completed(let completed):
            guard completed.inline != .absent else { return }
            notes.add("books", expected: "a member of \(expected)", seen: "books")
        case .progress, .error, .segmented, .bookProgress, .result, .unknown, .malformed: return
        }
    }

    /// Whether the client treats an event as a repetition because of its time: it is older than the
    /// connection it came on.
    func isStale(_ bytes: [UInt8], openedAtUnixMilliseconds opened: Int64) -> Bool {
        guard self.order == .byTimestamp, let timestamp = EventMember.timestamp.text(in: bytes) else {
            return false
        }
        // Texts of the same form have the order of their times.
        return timestamp < Timestamp.iso8601(unixMilliseconds: opened)
    }
}
