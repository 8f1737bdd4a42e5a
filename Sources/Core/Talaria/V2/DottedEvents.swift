// The events of v2 by the names that one client expects instead of those of the contract
// (Docs/contract.md section 3.3).

/// The parts of a dotted name. Only some combinations exist.
package enum DottedEventName {
    /// What a job is about: photos of books, and books that are looked up. There is none for imports.
    package enum Subject: String, CaseIterable, Hashable, Sendable {
        case photoscan, enrichment

        package var progress: String { self.rawValue + ".progress" }
        package var completed: String { self.rawValue + ".completed" }
        package var failed: String { self.rawValue + ".failed" }
    }

    /// What an event is about; nil for any other name.
    package static func subject(of name: String) -> Subject? { Self.parts(of: name)?.subject }

    /// The kind of an event; nil for any other name.
    package static func kind(of name: String) -> EventKind? { Self.parts(of: name)?.kind }

    private static func parts(of name: String) -> (subject: Subject, kind: EventKind)? {
        guard let dot = name.firstIndex(of: "."), let subject = Subject(rawValue: String(name[..<dot]))
        else { return nil }
        switch name[dot...] {
        case ".progress": return (subject, .progress)
        case ".completed": return (subject, .completed)
        case ".failed": return (subject, .error)
        default: return nil
        }
    }
}

extension JobEvent {
    /// Reads an event of v2 by its dotted name. Every other one is unknown. Of the data a client needs what ends a job; the rest is
    /// for a screen.
    package init(dottedName name: String, bytes: [UInt8], into notes: inout ContractNotes) {
        guard let kind = DottedEventName.kind(of: name) else {
            self = .unknown(name: name)
            return
        }
        guard let data = LeanObject(bytes, into: &notes) else {
            self = .malformed(kind)
            return
        }
        switch kind {
        case .completed:
            var reading = CompletedReading(
                jobId: data.text("jobId", .optional, into: &notes),
                resultsUrl: data.text("resultsUrl", .optional, into: &notes), inline: .absent, promise: nil)
            var unread = ContractNotes()
            reading.promise = BooksPromise(
                data.object("summary", .optional, into: &unread), into: &unread)
            let batch = data.object("data", .optional, into: &unread)
            reading.failures = BookFailures(
                failed: batch?.integer("failureCount", .optional, into: &unread),
                succeeded: batch?.integer("successCount", .optional, into: &unread))
            self = .completed(reading)
        case .error: self = .error(ErrorData(dotted: data, into: &notes))
        case .progress, .ping, .enrichmentDegraded, .segmented, .bookProgress, .result: self = .progress
        }
    }
}

extension ErrorData {
    /// `error` is a text or an object, and `retryable` may be in it or next to it. If it is missing, the
    /// error is final.
    fileprivate init(dotted data: LeanObject, into notes: inout ContractNotes) {
        self.init(jobId: "", code: "", message: "", retryable: false)
        self.type = nil
        self.jobId = data.text("jobId", .optional, into: &notes)
        var unread = ContractNotes()
        let error = data.object("error", .optional, into: &unread)
        self.code = error?.text("code", .optional, into: &notes)
        self.message =
            error?.text("message", .optional, into: &notes) ?? data.text("error", .optional, into: &unread)
        self.retryable =
            data.flag("retryable", .optional, into: &notes)
            ?? error?.flag("retryable", .optional, into: &notes)
    }
}
