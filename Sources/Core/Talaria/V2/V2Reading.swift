// Answers and events of v2 as a client reads them (Docs/contract.md sections 3.1 to 3.3). What it needs is required; what else
// there is does not matter, since the documents disagree about it.

internal import JSON

extension UploadAccepted {
    /// Reads the data of a new job. `authToken` comes before `token`, which is its older name; nil if something is missing. A body
    /// without `success` is one from before the contract was fixed.
    package static func readV2(_ bytes: [UInt8], into notes: inout ContractNotes) -> UploadAccepted? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.success(into: &notes)
        return self.read(body, tokenKeys: ["authToken", "token"], success, into: &notes)
    }
}

extension ResultsReading {
    /// Reads the books of a job, in `data.books`; nil for an answer without them.
    package static func readV2(_ bytes: [UInt8], into notes: inout ContractNotes) -> ResultsReading? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.success(into: &notes)
        let data = body.object("data", .required, into: &notes)
        let jobId = data?.text("jobId", .optional, into: &notes)
        guard let success, let books = data?.books("books", .required, into: &notes) else { return nil }
        return ResultsReading(success: success, jobId: jobId, books: books)
    }

    /// Reads what became of the rows of an import; nil for an answer without them.
    package static func readRows(_ bytes: [UInt8], into notes: inout ContractNotes) -> ResultsReading? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.success(into: &notes)
        guard let data = body.object("data", .required, into: &notes) else { return nil }
        let created = data.integer("booksCreated", .required, into: &notes)
        let updated = data.integer("booksUpdated", .required, into: &notes)
        let skipped = data.integer("duplicatesSkipped", .required, into: &notes)
        let failed = data.integer("enrichmentFailed", .required, into: &notes)
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
        return reading
    }

    private static let rowsMax = 1 << 30
}

extension LeanObject {
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
        return reading
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

    /// The last part of the id of the event at the end of a job.
    package static let terminalSuffix = "final"
    /// The comment that comes in place of a ping.
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
    /// The thousandths of the job that are done; nil if the data do not say.
    package static func thousandths(in bytes: [UInt8]) -> Int? {
        JSONNode(bytes)?["progress"]?.decimal
            .flatMap { (0...1).contains($0) ? Int(($0 * 1_000).rounded()) : nil }
    }
}

extension JobEvent {
    /// Reads an event of v2. A `timeout` is unknown: the stream ends behind it, and the job goes on.
    package init(v2Name name: String, bytes: [UInt8], into notes: inout ContractNotes) {
        switch name {
        case V2EventName.initialized, V2EventName.processing:
            self = LeanObject(bytes, into: &notes) == nil ? .malformed(.progress) : .progress
        case V2EventName.completed:
            guard let data = LeanObject(bytes, into: &notes) else {
                self = .malformed(.completed)
                return
            }
            self = .completed(
                CompletedReading(
                    jobId: data.text("jobId", .expected, into: &notes), resultsUrl: nil, inline: .absent,
                    totalDetected: nil))
        case V2EventName.failed, V2EventName.error:
            self = ErrorData.readV2(bytes, into: &notes).map { .error($0) } ?? .malformed(.error)
        default: self = .unknown(name: name)
        }
    }
}

extension ErrorData {
    /// Reads the members of a failed job, which are below `error` or beside `jobId`.
    fileprivate static func readV2(_ bytes: [UInt8], into notes: inout ContractNotes) -> ErrorData? {
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
        return reading
    }
}
