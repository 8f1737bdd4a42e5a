// The bodies of v2 (Docs/contract.md sections 3.1 and 3.2).

extension Contract {
    private static let v2Metadata = ContractMember.always(
        "metadata",
        .object(
            ContractObject(
                "V2Metadata", "About the answer",
                [
                    .always("timestamp", .text(format: "date-time"), "ISO 8601 with milliseconds, in UTC"),
                    .maybe("requestId", .text(format: nil), "Also the header X-Request-ID"),
                    .maybe("cached", .flag(nil), "Whether it is the answer to an earlier request"),
                    .maybe("source", .text(format: nil), "The provider of the data"),
                ])), "About the answer")

    /// `{success: true, data, metadata}`.
    private static func v2(_ name: String, _ summary: String, _ data: [ContractMember]) -> ContractObject {
        ContractObject(
            name, summary,
            [
                .always("success", .flag(true), "The request succeeded"),
                .always("data", .object(ContractObject(nil, summary, data)), summary), Self.v2Metadata,
            ])
    }

    private static let jobId = ContractMember.always(
        "jobId", .text(format: nil), "Begins with the kind of the job",
        example: .text("scan_3f0c1f9e-8a55-4b7e-9d0e-5d6f0c1b2a39"))
    private static let totalCount = ContractMember.always(
        "totalCount", .integer(0...Int.max), "Photos, books or rows, in total")

    static let v2Accepted = Self.v2Accepted(
        "V2Job", "A new job",
        [
            .always("sseUrl", .text(format: "uri-reference"), "The event stream"),
            .always("statusUrl", .text(format: "uri-reference"), "The state of the job"),
            .maybe("websocketUrl", .text(format: "uri-reference"), "The progress for older clients"),
        ])

    /// The answer of older jobs (Docs/contract.md section 3.1).
    static let v2AcceptedOlder = Self.v2Accepted(
        "V2OlderJob", "A new job that is followed by WebSocket",
        [
            .always("websocketUrl", .text(format: "uri-reference"), "The WebSocket"),
            .maybe("statusUrl", .text(format: "uri-reference"), "The state of the job"),
        ])

    private static func v2Accepted(
        _ name: String, _ summary: String, _ addresses: [ContractMember]
    ) -> ContractObject {
        Self.v2(name, summary, Self.v2Token + addresses + Self.v2Counts)
    }

    private static let v2Token: [ContractMember] = [
        Self.jobId, .always("authToken", .text(format: nil), "The bearer token of the job"),
        .maybe("token", .text(format: nil), "The same under its older name"),
    ]

    private static let v2Counts: [ContractMember] = [
        .maybe("status", Self.jobStatuses, "The state of the job"),
        .maybe("totalPhotos", .integer(1...ContractLimit.photosMax), "Photos of a scan"),
        .maybe("processedCount", .integer(0...0), "Books of a batch that are done"),
        .maybe("totalCount", .integer(0...BatchRequest.booksMax), "Books of a batch"),
    ]

    static let v2Status = Self.v2(
        "V2Status", "The state of a job",
        [
            Self.jobId, .always("status", Self.jobStatuses, "The state of the job"),
            .always("progress", .number(0...1), "The share that is done"),
            .always("processedCount", .integer(0...Int.max), "Photos, books or rows that are done"),
            Self.totalCount,
        ])

    static let v2Books = Self.v2(
        "V2Books", "The books of a completed job",
        [
            Self.jobId,
            .always("status", .words(["completed"], name: "completed"), "Only a completed job has results"),
            .maybe("books", .list(.object(Self.v2Found)), "Those that were found"),
            .maybe("enrichedBooks", .list(.object(Self.v2Found)), "The same under another name"),
            Self.totalCount,
        ])

    /// The members of a book of v2 that has no `author`, and what its look-up found.
    private static let otherMembers: [ContractMember] = [
        .maybe("authors", .list(.text(format: nil)), "The names, or objects with a `name`"),
        .maybe("work", .object(ContractObject(nil, "The work", [])), "The work"),
        .maybe("edition", .object(ContractObject(nil, "The edition", [])), "The edition"),
    ]

    static let v2Found = ContractObject(
        "V2Found", "A book that was found",
        Self.book.members.map { $0.key == "author" ? Self.author : $0 } + Self.otherMembers)

    private static let author = ContractMember.maybe("author", .text(format: nil), "The author")

    private static func rows(_ key: String, _ summary: String) -> ContractMember {
        .always(key, .integer(0...Int.max), summary)
    }

    static let v2Import = Self.v2(
        "V2ImportResults", "What became of the rows of a file",
        [
            Self.rows("booksCreated", "Rows that brought a new book"),
            Self.rows("booksUpdated", "Rows with a book of an earlier import"),
            Self.rows("duplicatesSkipped", "Rows with the book of an earlier row"),
            Self.rows("enrichmentSucceeded", "Rows that were created or updated"),
            Self.rows("enrichmentFailed", "Rows with a flaw"), Self.totalCount,
            .maybe("jobId", .text(format: nil), "The job"),
            .maybe("books", .list(.object(Self.v2Found)), "The books of the rows"),
            .always(
                "errors",
                .list(
                    .object(
                        ContractObject(
                            nil, "A row with a flaw",
                            [
                                .always("row", .integer(1...Int.max), "From 1, without the header"),
                                .always("isbn", .text(format: nil), "As it is in the file"),
                                .always("error", .text(format: nil), "What is wrong"),
                            ]))), "The rows with a flaw"),
        ])

    static let v2OldToken = ContractObject(
        "V2OldToken", "The token of a job that is to be exchanged",
        [Self.jobId, .always("oldToken", .text(format: nil), "The token")])

    static let v2NewToken = Self.v2(
        "V2NewToken", "A new token of a job",
        [
            .always("token", .text(format: nil), "The token"),
            .always("expiresIn", .integer(0...Int.max), "How long it is good, seconds"),
        ])

    static let v2Canceled = Self.v2(
        "V2Canceled", "The job is canceled, or was over",
        [
            Self.jobId, .always("status", Self.jobStatuses, "The state of the job"),
            .always("message", .text(format: nil), "What happened, in words"),
            .always(
                "cleanup",
                .object(
                    ContractObject(
                        nil, "What was removed",
                        [
                            .always("kvCacheCleared", .flag(nil), "Whether the results are gone"),
                            .always("r2ObjectsDeleted", .integer(0...Int.max), "Files that are gone"),
                        ])), "What was removed"),
        ])

    static let v2Book = Self.v2(
        "V2Book", "The book of a barcode",
        [
            .always("title", .text(format: nil), "The title"),
            Self.author,
            .always("isbn", .text(format: nil), "Thirteen digits", example: .text("9780306406157")),
            .maybe("coverUrl", .text(format: "uri"), "A picture of the cover", isNullable: true),
            .always("vectorized", .flag(nil), "Whether a vector was requested"),
        ] + Self.otherMembers)

    static let v2Error = ContractObject(
        "V2Error", "Why a request was refused",
        [
            .always("success", .flag(false), "The request failed"),
            .always(
                "error",
                .object(
                    ContractObject(
                        nil, "What is wrong",
                        [
                            .always(
                                "code", .text(format: nil), "For programs",
                                example: .text("RATE_LIMIT_EXCEEDED")),
                            .always("message", .text(format: nil), "For people"),
                            .always("retryable", .flag(nil), "Whether the same request may succeed later"),
                            .maybe(
                                "details",
                                .object(
                                    ContractObject(
                                        nil, "More about it",
                                        [
                                            .maybe(
                                                "retryAfterMs", .integer(0...Int.max),
                                                "The wait before the next request in milliseconds")
                                        ])), "More about it"),
                        ])), "What is wrong"),
            .maybe(
                "retryAfter", .integer(0...Int.max), "The wait of a 429 in seconds, as in Retry-After",
                example: .integer(60)),
        ])

    // MARK: Requests

    static let v2Barcode = ContractObject(
        "V2BarcodeRequest", "A book whose metadata are looked up",
        [
            .always("barcode", .text(format: nil), "An ISBN", example: .text("9780306406157")),
            .maybe("vectorize", .flag(nil), "Whether a vector is wanted, too", isNullable: true),
            .maybe(
                "idempotencyKey", .text(format: nil), "A lookup with the same key is billed once",
                isNullable: true, example: .text("scan_9780306406157")),
            .maybe(
                "preferProvider", .text(format: nil), "The provider to ask first",
                isNullable: true, example: .text("auto")),
        ])
}
