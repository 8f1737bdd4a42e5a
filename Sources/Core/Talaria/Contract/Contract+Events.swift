// The data of the events of a stream (Docs/contract.md section 2.1).

extension Contract {
    private static func type(_ kind: EventKind) -> ContractMember {
        .always("type", .words([kind.rawValue], name: "the name of the event"), "The name of the event")
    }

    private static let job = ContractMember.always("jobId", .text(format: nil), "The job of the stream")
    private static let timestamp = ContractMember.maybe(
        "timestamp", .text(format: "date-time"),
        "When the event happened; the id of a replayed event may be of its delivery")

    package static let progress = ContractObject(
        "ProgressEvent", "The work has come further",
        [
            Self.type(.progress), Self.job,
            .maybe(
                "status",
                .words(
                    ["initialized", "processing", "completed", "failed", "canceled"]
                        + ScanStage.allCases.map(\.rawValue), name: "a status or stage of the contract"),
                "A job status, or the stage of the work"),
            .maybe("progress", .number(0...1), "The share that is done"),
            .maybe("processedCount", .integer(0...Int.max), "Photos, later books, that are done"),
            .maybe("totalCount", .integer(0...Int.max), "Photos, later books, in total"),
            .maybe("message", .text(format: nil), "For the user", example: .text("Identified 5 books")),
            .maybe("currentItem", .text(format: nil), "The title of the book that was looked up"),
            Self.timestamp,
        ])

    package static let completed = ContractObject(
        "CompletedEvent", "The job is completed, and the stream ends",
        [
            .maybe(
                "type", .words(["completed", "complete"], name: "the name of the event"),
                "The name of the event, or its alias"),
            Self.job,
            .maybe(
                "resultsUrl", .text(format: "uri-reference"),
                "The results; relative to the server, or absolute"),
            .maybe(
                "summary",
                .object(
                    ContractObject(
                        nil, "How many books were found",
                        [
                            .maybe("totalDetected", .integer(0...Int.max), "Books on the photos"),
                            .maybe("totalUnique", .integer(0...Int.max), "Different books"),
                            .maybe("approved", .integer(0...Int.max), "Books that were looked up"),
                            .maybe("needsReview", .integer(0...Int.max), "Books that were not"),
                        ])), "How many books were found"),
            .maybe(
                "books", .list(.object(Self.book)),
                "The books; left out of an event above 128 KiB, and fetched from `resultsUrl` then"),
        ])

    /// The codes of the `error` event: those of S0, those of the file of the client, and those of this backend for a
    /// canceled job, for a photo that cannot be used, and for one that cannot be read just now.
    static let eventCodes = [
        "ANALYSIS_SERVICE_UNAVAILABLE", "NO_TEXT_DETECTED", "MULTIPLE_BOOKS_DETECTED", "IMAGE_TOO_BLURRY",
        "UNSUPPORTED_FORMAT", "PROCESSING_TIMEOUT", "NETWORK_ERROR", "ENRICHMENT_FAILED", "CANCELED",
        "INVALID_FILE", "PROVIDER_TIMEOUT",
    ]

    package static let error = ContractObject(
        "ErrorEvent", "The job has failed, and the stream ends; not a problem body by RFC 9457",
        [
            Self.type(.error), Self.job,
            .always(
                "code", .words(Self.eventCodes, name: "a code of the contract"),
                "What has failed, for programs"),
            .maybe("message", .text(format: nil), "What has failed, for the user"),
            .always("retryable", .flag(nil), "Whether a new upload of the photo may succeed"),
        ])

    package static let canceledEvent = ContractObject(
        "CanceledEvent",
        "The job was canceled, and the stream ends; some backends send an `error` event instead",
        [
            .maybe(
                "type", .words([EventKind.canceledName], name: "the name of the event"),
                "The name of the event"),
            .maybe("jobId", .text(format: nil), "The job of the stream"),
            .maybe("message", .text(format: nil), "What has happened, for the user"),
        ])

    package static let ping = ContractObject(
        "PingEvent", "The stream is alive; sent every 30 s",
        [Self.type(.ping), .maybe("timestamp", .text(format: "date-time"), "When it was sent")])

    package static let degraded = ContractObject(
        "EnrichmentDegradedEvent", "One book could not be looked up in full",
        [
            Self.type(.enrichmentDegraded), Self.job,
            .maybe("isbn", .text(format: nil), "The ISBN of the book", isNullable: true),
            .maybe("title", .text(format: nil), "The title of the book"),
            .maybe("reason", .text(format: nil), "Why", example: .text("isbndb_circuit_open")),
            .maybe(
                "fallbackSource", .text(format: nil), "Where the fields of the book are from",
                example: .text("raw")),
            Self.timestamp,
        ])

    package static let segmented = ContractObject(
        "SegmentedEvent",
        "The photo with a box around every spine; an addition that a backend may never send",
        [
            .maybe("type", .words(["segmented"], name: "the name of the event"), "The name of the event"),
            .maybe("jobId", .text(format: nil), "The job of the stream"),
            .always("image", .text(format: "byte"), "A JPEG in base64, at most 1 MB"),
            .always("totalBooks", .integer(0...SegmentedReading.booksMax), "Spines on the photo"),
        ])

    package static let bookProgress = ContractObject(
        "BookProgressEvent", "The book that is looked up now; an addition that a backend may never send",
        [
            .maybe("type", .words(["book_progress"], name: "the name of the event"), "The name of the event"),
            .maybe("jobId", .text(format: nil), "The job of the stream"),
            .always("current", .integer(1...Int.max), "The number of the book, from 1"),
            .always("total", .integer(1...Int.max), "Books in total"),
            .maybe("stage", .text(format: nil), "What is done with it"),
        ])

    /// The data of each event, in the order of the file.
    package static let events: [(names: [String], data: ContractObject)] = [
        ([EventKind.progress.rawValue], Self.progress),
        ([EventKind.completed.rawValue, "complete"], Self.completed),
        ([EventKind.error.rawValue], Self.error), ([EventKind.canceledName], Self.canceledEvent),
        ([EventKind.ping.rawValue], Self.ping), ([EventKind.enrichmentDegraded.rawValue], Self.degraded),
        ([EventKind.segmented.rawValue], Self.segmented),
        ([EventKind.bookProgress.rawValue], Self.bookProgress), ([EventKind.result.rawValue], Self.book),
    ]
}
