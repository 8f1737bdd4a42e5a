// Answers and events of v2 as a client reads them (Docs/contract.md sections 3.1 to 3.3). What it needs is required; the rest is
// compared with the table of the contract (`ContractOperation`), which knows the members of all documents.

internal import JSON
internal import SimBase

extension UploadAccepted {
    /// Reads the data of a new job. `authToken` comes before `token`, which is its older name; nil if something is missing. A body
    /// without `success` is one from before the contract was fixed.
    package static func readV2(_ bytes: [UInt8], into notes: inout ContractNotes) -> UploadAccepted? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.success(into: &notes)
        let accepted = self.read(body, tokenKeys: ["authToken", "token"], success, into: &notes)
        let isOlder = accepted.map { $0.data.sseUrl == nil } ?? false
        body.compare(with: isOlder ? Contract.v2AcceptedOlder : Contract.v2Accepted, into: &notes)
        return accepted
    }
}

extension ResultsReading {
    /// Reads the books of a job, in `data.books` or `data.enrichedBooks` (C44); nil for an answer without them.
    package static func readV2(_ bytes: [UInt8], into notes: inout ContractNotes) -> ResultsReading? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.success(into: &notes)
        let data = body.object("data", .required, into: &notes)
        let jobId = data?.text("jobId", .optional, into: &notes)
        let key =
            data?.contains("books") != true && data?.contains("enrichedBooks") == true
            ? "enrichedBooks" : "books"
        let books = data?.books(key, .required, of: .v2, into: &notes)
        body.compare(with: Contract.v2Books, into: &notes)
        guard let success, let books else { return nil }
        return ResultsReading(success: success, jobId: jobId, books: books)
    }

    /// Reads the outcomes of the rows of an import; nil for an answer without them.
    package static func readRows(_ bytes: [UInt8], into notes: inout ContractNotes) -> ResultsReading? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.success(into: &notes)
        guard let data = body.object("data", .required, into: &notes) else { return nil }
        let created = data.integer("booksCreated", .required, into: &notes)
        let updated = data.integer("booksUpdated", .required, into: &notes)
        let skipped = data.integer("duplicatesSkipped", .required, into: &notes)
        let failed = data.integer("enrichmentFailed", .required, into: &notes)
        body.compare(with: Contract.v2Import, into: &notes)
        guard let success, let created, let updated, let skipped, let failed else { return nil }
        var rows = RowCounts()
        for (count, name, key) in [
            (created, "booksCreated", \RowCounts.created), (updated, "booksUpdated", \.updated),
            (skipped, "duplicatesSkipped", \.skipped), (failed, "enrichmentFailed", \.failed),
        ] {
            // No file has as many rows, and sums of these cannot overflow.
            guard (0...Self.rowsMax).contains(count) else {
                notes.add(
                    data.path(name), expected: "a number of rows", seen: "another number",
                    excerpt: String(count), isDecisive: true)
                return nil
            }
            rows[keyPath: key] = count
        }
        let total = data.integer("totalCount", .optional, into: &notes)
        if let total, total != rows.total {
            notes.add(
                data.path("totalCount"), expected: "the sum of the rows", seen: "another number",
                excerpt: String(total))
        }
        var reading = ResultsReading(
            success: success, jobId: data.text("jobId", .optional, into: &notes), books: [])
        reading.rows = rows
        if let books = data.node["books"], books.kind == .array {
            let count = books.elements.count
            reading.listed = count
            if count != rows.taken {
                notes.add(
                    data.path("books"), expected: "a book for each row that was created or updated",
                    seen: "another number", excerpt: String(count))
            }
        }
        return reading
    }

    private static let rowsMax = 1 << 30
}

/// A client's reading of the answer to the look-up of a barcode.
package struct LookupReading: Hashable, Sendable {
    package let success: Bool
    package let book: Book
    /// It is the answer to an earlier request.
    package let isRepeated: Bool

    /// Reads the book under `data`; nil for an answer without one.
    ///
    /// - Parameter barcode: What was asked for.
    package static func read(
        _ bytes: [UInt8], barcode: String?, into notes: inout ContractNotes
    ) -> LookupReading? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.success(into: &notes)
        let data = body.object("data", .required, into: &notes)
        let book = data.flatMap { Book($0, of: .v2, into: &notes) }
        let metadata = body.object("metadata", .optional, into: &notes)
        let isRepeated = metadata?.flag("cached", .optional, into: &notes)
        guard let success, let data, let book else { return nil }
        guard !book.title.isEmpty else {
            notes.add(data.path("title"), expected: "a title", seen: "an empty string", isDecisive: true)
            return nil
        }
        // Another writing of the number may be the same book.
        if let isbn = book.isbn, isbn != barcode {
            notes.add(
                data.path("isbn"), expected: "the barcode that was asked for", seen: "another number",
                excerpt: isbn)
        }
        return LookupReading(success: success, book: book, isRepeated: isRepeated ?? false)
    }
}

extension LeanObject {
    /// The authors of a book of v2 that has `authors` in place of `author` (C45): names, or objects with a `name`. Nil for any other.
    var authors: String? {
        guard self.node["author"]?.isNull != false, let list = self.node["authors"], list.kind == .array
        else {
            return nil
        }
        let names = list.elements.map { $0.text ?? $0["name"]?.text ?? "" }
        guard !names.isEmpty, !names.contains("") else { return nil }
        return names.joined(separator: ", ")
    }

    /// Whether the body says that the request succeeded. One without `success` is as old as S1 says (Docs/contract.md section 3.1),
    /// and its status says so.
    func success(into notes: inout ContractNotes) -> Bool? {
        self.contains("success") ? self.flag("success", .required, into: &notes) : true
    }
}

extension ProblemReading {
    /// Reads `{success: false, error: {code, retryable, details: {retryAfterMs}}, retryAfter}`; a missing member is nil.
    package static func readV2(_ bytes: [UInt8], into notes: inout ContractNotes) -> ProblemReading {
        var reading = ProblemReading()
        guard let body = LeanObject(optional: bytes, "an error body", into: &notes),
            let error = body.object("error", .expected, into: &notes)
        else { return reading }
        if body.flag("success", .expected, into: &notes) == true {
            notes.add("success", expected: "false", seen: "true")
        }
        reading.code = error.text("code", .expected, into: &notes)
        reading.retryable = error.flag("retryable", .expected, into: &notes)
        let details = error.object("details", .optional, into: &notes)
        reading.retryAfterMs = details?.integer("retryAfterMs", .optional, into: &notes).map(Int64.init)
        if reading.retryAfterMs == nil {
            reading.retryAfterMs = body.integer("retryAfter", .optional, into: &notes).flatMap { seconds in
                let (milliseconds, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000)
                return overflow ? nil : milliseconds
            }
        }
        body.compare(with: Contract.v2Error, into: &notes)
        return reading
    }
}

/// The answer to the DELETE of a job of v2. Clients need nothing from it.
package enum CanceledReading {
    /// Whether it says that nothing was canceled.
    package static func isFailure(_ bytes: [UInt8]) -> Bool {
        JSONNode(bytes)?["success"]?.flag == false
    }

    /// The job that it names; nil if it names none.
    package static func jobID(_ bytes: [UInt8]) -> String? { JSONNode(bytes)?["data"]?["jobId"]?.text }

    /// Notes what deviates in it. Whether it is about the right job is judged by whoever sent the DELETE.
    package static func note(_ bytes: [UInt8], into notes: inout ContractNotes) {
        guard let body = LeanObject(optional: bytes, "the canceled job", into: &notes) else { return }
        if body.flag("success", .expected, into: &notes) == false {
            notes.add("success", expected: "true", seen: "false")
        }
        let data = body.object("data", .expected, into: &notes)
        _ = data?.text("jobId", .expected, into: &notes)
        body.compare(with: Contract.v2Canceled, into: &notes)
    }
}

/// The names of the events of v2 (Docs/contract.md section 3.3).
package enum V2EventName {
    package static let initialized = "initialized"
    package static let processing = "processing"
    package static let completed = "completed"
    package static let failed = "failed"
    package static let error = "error"
    package static let timeout = "timeout"

    /// The last part of the id of the first event of a job.
    package static let initialSuffix = "initial"
    /// The last part of the id of the event at the end of a job.
    package static let terminalSuffix = "final"
    /// The comment that comes instead of a ping.
    package static let heartbeat = "heartbeat"

    /// Whether a client of v2 knows an event of this name.
    package static func isKnown(_ name: String) -> Bool {
        [Self.initialized, Self.processing, Self.completed, Self.failed, Self.error, Self.timeout]
            .contains(name)
    }
}

extension EventKind {
    /// The kind of an event of v2; nil for any other name, and for `timeout`, which ends no job.
    package init?(v2Name name: String) {
        switch name {
        case V2EventName.initialized, V2EventName.processing: self = .progress
        case V2EventName.completed: self = .completed
        case V2EventName.failed, V2EventName.error: self = .error
        default: return nil
        }
    }
}

extension ProgressData {
    /// Notes what deviates in the state of a job of v2.
    ///
    /// - Returns: Whether it is any object: what it says is for a screen.
    fileprivate static func noteV2(_ bytes: [UInt8], into notes: inout ContractNotes) -> Bool {
        guard let data = LeanObject(bytes, into: &notes) else { return false }
        data.compare(with: Contract.v2Progress, into: &notes)
        data.compare("processedCount", isAtMost: "totalCount", into: &notes)
        return true
    }

    /// The thousandths of the job that are done; nil if the data do not say.
    package static func thousandths(in bytes: [UInt8]) -> Int? {
        JSONNode(bytes)?["progress"]?.decimal
            .flatMap { (0...1).contains($0) ? Int(($0 * 1_000).rounded()) : nil }
    }
}

extension CompletedReading {
    fileprivate static func readV2(_ bytes: [UInt8], into notes: inout ContractNotes) -> CompletedReading? {
        guard let data = LeanObject(bytes, into: &notes) else { return nil }
        let jobId = data.text("jobId", .optional, into: &notes)
        data.compare(with: Contract.v2Completed, into: &notes)
        data.compare("processedCount", isAtMost: "totalCount", into: &notes)
        // One of the documents has the state of the job, the other a summary of it.
        if !data.contains("summary"), !data.contains("status") {
            notes.add("summary", expected: "an object, or a status", seen: "missing")
        }
        var unread = ContractNotes()
        let summary = data.object("summary", .optional, into: &unread)
        let total = summary?.integer("totalProcessed", .optional, into: &unread)
        let found = summary?.integer("successCount", .optional, into: &unread)
        let failed = summary?.integer("failureCount", .optional, into: &unread)
        if let total, let found, let failed, total.subtractingReportingOverflow(found).partialValue != failed
        {
            notes.add(
                "summary.totalProcessed", expected: "the sum of successes and failures",
                seen: "another number", excerpt: String(total))
        }
        var reading = CompletedReading(
            jobId: jobId, resultsUrl: nil, inline: .absent,
            promise: BooksPromise(summary, into: &unread))
        reading.failures = BookFailures(failed: failed, succeeded: found)
        reading.expiresAt = data.text("expiresAt", .optional, into: &unread)
            .flatMap(Timestamp.unixMilliseconds(iso8601:))
        return reading
    }
}

extension JobEvent {
    /// Reads an event of v2. A `timeout` is unknown: the stream ends behind it, and the job goes on.
    package init(v2Name name: String, bytes: [UInt8], into notes: inout ContractNotes) {
        switch name {
        case V2EventName.initialized, V2EventName.processing:
            self = ProgressData.noteV2(bytes, into: &notes) ? .progress : .malformed(.progress)
        case V2EventName.completed:
            self =
                CompletedReading.readV2(bytes, into: &notes).map { .completed($0) } ?? .malformed(.completed)
        case V2EventName.failed, V2EventName.error:
            let contract = name == V2EventName.failed ? Contract.v2Failed : Contract.v2ErrorEvent
            self = ErrorData.readV2(bytes, contract, into: &notes).map { .error($0) } ?? .malformed(.error)
        default:
            if name == V2EventName.timeout { _ = ProgressData.noteV2(bytes, into: &notes) }
            self = .unknown(name: name)
        }
    }
}

extension ErrorData {
    /// Reads the members of a failed job, which are below `error` or next to `jobId`.
    fileprivate static func readV2(
        _ bytes: [UInt8], _ contract: ContractObject, into notes: inout ContractNotes
    ) -> ErrorData? {
        guard let data = LeanObject(bytes, into: &notes) else { return nil }
        let error = data.object("error", .optional, into: &notes) ?? data
        var reading = ErrorData(jobId: "", code: "", message: "", retryable: false)
        reading.type = nil
        reading.jobId = data.text("jobId", .optional, into: &notes)
        reading.code = error.text("code", .expected, into: &notes)
        reading.message = error.text("message", .optional, into: &notes)
        reading.retryable = error.flag("retryable", .optional, into: &notes)
        // Missing, it means final; but nothing is refused because of a value that cannot be read.
        if reading.retryable == nil, error.contains("retryable"), !error.isNull("retryable") {
            reading.retryable = true
        }
        data.compare(with: contract, into: &notes)
        return reading
    }
}
