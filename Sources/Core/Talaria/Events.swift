import JSON

/// `data` of a `progress` event (Docs/contract.md section 2.1). Everything but `jobId` may be missing in some
/// dialect.
package struct ProgressData: Codable, Hashable, Sendable {
    package var type: String
    package var jobId: String
    /// A job status or a scan stage: three notions of status meet here (Docs/contract.md section 2.7).
    package var status: String?
    /// 0 to 1.
    package var progress: Double?
    package var processedCount: Int?
    package var totalCount: Int?
    package var message: String?
    package var currentItem: String?
    package var timestamp: String?

    package init(
        jobId: String, status: String, progress: Double, processedCount: Int, totalCount: Int,
        message: String?,
        currentItem: String?, timestamp: String?
    ) {
        self.type = EventKind.progress.rawValue
        self.jobId = jobId
        self.status = status
        self.progress = progress
        self.processedCount = processedCount
        self.totalCount = totalCount
        self.message = message
        self.currentItem = currentItem
        self.timestamp = timestamp
    }
}

/// `summary` of a `completed` event in camelCase (C38). Clients treat it as opaque.
package struct CompletedSummary: Codable, Hashable, Sendable {
    package var totalDetected: Int
    package var approved: Int
    package var needsReview: Int

    package init(totalDetected: Int, approved: Int, needsReview: Int) {
        self.totalDetected = totalDetected
        self.approved = approved
        self.needsReview = needsReview
    }
}

/// `data` of a `completed` event. On encoding, `books` nil leaves the key out.
package struct CompletedData: Encodable, Hashable, Sendable {
    package var type: String
    package var jobId: String
    package var resultsUrl: String?
    package var summary: CompletedSummary?
    package var books: [Book]?

    package init(jobId: String, resultsUrl: String?, summary: CompletedSummary?, books: [Book]?) {
        self.type = EventKind.completed.rawValue
        self.jobId = jobId
        self.resultsUrl = resultsUrl
        self.summary = summary
        self.books = books
    }
}

/// A client's reading of a `completed` event: the inline books in one of four conditions.
package struct CompletedReading: Hashable, Sendable {
    package enum InlineBooks: Hashable, Sendable {
        case absent, null, empty
        /// Present but not an array of books: one bad element spoils the whole array.
        case undecodable
        case books([Book])
    }

    package var jobId: String?
    package var resultsUrl: String?
    package var inline: InlineBooks
    /// What its summary says of the number of books.
    package var promise: BooksPromise?
    /// The books that were not found, of a job of v2 that says so.
    package var failures: BookFailures?
    /// When the results are gone, milliseconds since 1970; nil if the event does not say so.
    package var expiresAt: Int64?

    package init(jobId: String?, resultsUrl: String?, inline: InlineBooks, promise: BooksPromise?) {
        self.jobId = jobId
        self.resultsUrl = resultsUrl
        self.inline = inline
        self.promise = promise
    }
}

/// `data` of an `error` event: simplified, not RFC 9457 (Docs/contract.md section 2.7). `retryable` missing
/// means final.
package struct ErrorData: Codable, Hashable, Sendable {
    package var type: String?
    package var jobId: String?
    package var code: String?
    package var message: String?
    package var retryable: Bool?

    /// The code of a job that was canceled.
    package static let canceledCode = "CANCELED"

    package init(jobId: String, code: String, message: String, retryable: Bool) {
        self.type = EventKind.error.rawValue
        self.jobId = jobId
        self.code = code
        self.message = message
        self.retryable = retryable
    }
}

/// `data` of a `ping` event.
package struct PingData: Codable, Hashable, Sendable {
    package var type: String
    package var timestamp: String

    package init(timestamp: String) {
        self.type = EventKind.ping.rawValue
        self.timestamp = timestamp
    }
}

/// `data` of an `enrichment_degraded` event: one book could not be looked up in full.
package struct DegradedData: Codable, Hashable, Sendable {
    package var type: String
    package var jobId: String
    package var isbn: String?
    package var title: String?
    package var reason: String?
    package var fallbackSource: String?
    package var timestamp: String?

    package init(jobId: String, isbn: String?, title: String, reason: String, timestamp: String) {
        self.type = EventKind.enrichmentDegraded.rawValue
        self.jobId = jobId
        self.isbn = isbn
        self.title = title
        self.reason = reason
        self.fallbackSource = "raw"
        self.timestamp = timestamp
    }
}

/// A client's reading of a `segmented` event, `{image, totalBooks}` with the image in base64: the photo with
/// a box around every spine.
package struct SegmentedReading: Hashable, Sendable {
    /// The size of the decoded image.
    package var imageBytes: Int
    package var totalBooks: Int

    /// The app allows itself less than 1 MB for each item (Docs/contract.md section 8).
    package static let imageBytesMax = 1_000_000
    /// How a JPEG, `FF D8 FF`, begins in base64.
    static let jpegPrefix = "/9j/"
    package static let booksMax = 10_000

    package init(imageBytes: Int, totalBooks: Int) {
        self.imageBytes = imageBytes
        self.totalBooks = totalBooks
    }
}

/// `data` of a `book_progress` event: the book that is looked up now, counted from 1.
package struct BookProgressData: Codable, Hashable, Sendable {
    package var current: Int
    package var total: Int
    package var stage: String?

    package init(current: Int, total: Int, stage: String?) {
        self.current = current
        self.total = total
        self.stage = stage
    }
}

/// Members of an event's data that several events have.
package enum EventMember: String, Sendable {
    case status, timestamp, message

    /// The text of the member; nil if the data has none.
    package func text(in bytes: [UInt8]) -> String? { JSONNode(bytes)?[self.rawValue]?.text }
}

/// An event whose data carries its name, `{type, data}` (Docs/apps.md section 6.1).
package struct EventEnvelope: Hashable, Sendable {
    package let type: String
    /// The bytes of the inner data; empty if there are none.
    package let data: [UInt8]

    /// Nil for bytes that are not an object with a `type`.
    package init?(_ bytes: [UInt8]) {
        guard let object = JSONObjectText(bytes), let type = object.text("type") else { return nil }
        self.type = type
        self.data = object.value("data").map { Array($0) } ?? []
    }
}

/// An event as the contract's client reads it.
package enum JobEvent: Hashable, Sendable {
    /// A progress event. Its data is only for display and only checked for readability.
    case progress
    case completed(CompletedReading)
    case error(ErrorData)
    case ping
    case enrichmentDegraded(DegradedData)
    case segmented(SegmentedReading)
    case bookProgress(BookProgressData)
    /// A book of the job, which only some clients read (`JobEvent.init(resultBytes:into:)`). It is nested under `book`, or
    /// its members are those of the data.
    case result(Book, isNested: Bool)
    /// A name that the contract does not have.
    case unknown(name: String)
    /// A known name whose data is not what the contract says.
    case malformed(EventKind)

    /// Reads an event by its name and its data. Never fails: what cannot be read is said so.
    package init(name: String, data: String) { self.init(name: name, bytes: Array(data.utf8)) }

    /// Reads an event from its name and the bytes of its data. Invalid UTF-8 is repaired where a text is kept.
    package init(name: String, bytes: [UInt8]) {
        var notes = ContractNotes()
        self.init(name: name, bytes: bytes, into: &notes)
    }

    /// Notes whatever the contract does not foresee.
    package init(name: String, bytes: [UInt8], into notes: inout ContractNotes) {
        // The contract has no event of its own for a book.
        guard let kind = EventKind(eventName: name), kind != .result else {
            self = .unknown(name: name)
            return
        }
        let read: JobEvent?
        switch kind {
        case .progress: read = ProgressData.isReadable(bytes, into: &notes) ? .progress : nil
        case .completed: read = CompletedReading.read(bytes, into: &notes).map(JobEvent.completed)
        case .error where name == EventKind.canceledName:
            read = .error(ErrorData.readCanceled(bytes, into: &notes))
        case .error: read = ErrorData.read(bytes, into: &notes).map(JobEvent.error)
        case .ping:
            PingData.note(bytes, into: &notes)
            read = .ping
        case .enrichmentDegraded:
            read = DegradedData.read(bytes, into: &notes).map(JobEvent.enrichmentDegraded)
        case .segmented: read = SegmentedReading.read(bytes, into: &notes).map(JobEvent.segmented)
        case .bookProgress: read = BookProgressData.read(bytes, into: &notes).map(JobEvent.bookProgress)
        case .result: read = nil
        }
        self = read ?? .malformed(kind)
    }
}
