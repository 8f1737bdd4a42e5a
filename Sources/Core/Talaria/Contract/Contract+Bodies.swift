// The bodies of answers (Docs/contract.md sections 1.2 to 1.7).

extension Contract {
    static let metadata = ContractObject(
        "Metadata", "When and for which request an answer was made",
        [
            .always("timestamp", .text(format: "date-time"), "ISO 8601 with milliseconds, in UTC"),
            .always(
                "requestId", .text(format: nil), "Also the header X-Request-ID", example: .text("req-xyz-789")
            ),
        ])

    private static let link = ContractObject(
        "Link", "A link to another request for the job",
        [
            .always("href", .text(format: "uri-reference"), "Relative to the server, or absolute"),
            .maybe("rel", .text(format: nil), "The relation of the target to the job"),
            .maybe("method", .text(format: nil), "The method of the request"),
        ])

    package static let uploadAccepted = ContractObject(
        "UploadAccepted", "The photos were accepted as one job",
        [
            .always("success", .flag(true), "The upload succeeded"),
            .always(
                "data",
                .object(
                    ContractObject(
                        "AcceptedJob", "The job and what opens it",
                        [
                            .always("jobId", .text(format: nil), "Opaque; it can stand in a path"),
                            .maybe(
                                "authToken", .text(format: nil),
                                "The bearer token of this job for two hours; it may be used for several streams",
                                isNullable: true),
                            .always(
                                "sseUrl", .text(format: "uri-reference"),
                                "The event stream; relative to the server, or absolute"),
                            .maybe(
                                "statusUrl", .text(format: "uri-reference"),
                                "The status; relative to the server, or absolute"),
                        ])), "The job"),
            .always(
                "_links",
                .object(
                    ContractObject(
                        nil, "Requests for the job",
                        [
                            .always("self", .object(Self.link), "The status"),
                            .always("stream", .object(Self.link), "The event stream"),
                            .always("cancel", .object(Self.link), "The end of the job"),
                        ])), "Requests for the job"),
            .always("metadata", .object(Self.metadata), "About the answer"),
        ])

    static let jobStatuses = ContractShape.words(
        ["initialized", "processing", "completed", "failed", "canceled"], name: "a job status of the contract"
    )

    static let book = ContractObject(
        "Book", "A book on a photo",
        [
            .always("title", .text(format: nil), "As it stands on the spine, or as it was looked up"),
            .always("author", .text(format: nil), "As it stands on the spine, or as it was looked up"),
            .maybe(
                "isbn", .text(format: nil), "10 or 13 digits; null if none was found", isNullable: true,
                example: .text("9780306406157")),
            .maybe(
                "confidence", .number(0...1), "How certain the recognition is", isNullable: true,
                example: .number(0.95)),
            .maybe(
                "enrichmentStatus",
                .words(
                    ["pending", "success", "not_found", "error", "circuit_open", "review_needed"],
                    name: "a status of the contract"), "The outcome of the lookup", isNullable: true),
            .maybe("coverUrl", .text(format: "uri"), "A picture of the cover", isNullable: true),
            .maybe("publisher", .text(format: nil), "The publisher, with `format=full`"),
            .maybe("publishedDate", .text(format: nil), "The date of publication, with `format=full`"),
            .maybe("pageCount", .integer(0...Int.max), "The number of pages, with `format=full`"),
            .maybe(
                "format",
                .words(BookDetails.formats, name: "a format of the contract"),
                "The kind of edition, with `format=full`"),
        ])

    package static let results = ContractObject(
        "Results", "The books of a completed job",
        [
            .always("success", .flag(true), "The job has results"),
            .always(
                "data",
                .object(
                    ContractObject(
                        "JobResults", "The job and its books",
                        [
                            .always("jobId", .text(format: nil), "The job"),
                            .always(
                                "status", .words(["completed"], name: "completed"),
                                "Only a completed job has results"),
                            .always(
                                "results", .list(.object(Self.book)),
                                "The books; the event `completed` has them as `books`, on purpose"),
                        ])), "The job and its books"),
            .maybe(
                "metadata",
                .object(
                    ContractObject(
                        nil, "About the answer",
                        [
                            .maybe(
                                "timestamp", .text(format: "date-time"), "ISO 8601 with milliseconds, in UTC"),
                            .maybe("requestId", .text(format: nil), "Also the header X-Request-ID"),
                            .maybe("truncated", .flag(nil), "Whether books are left out"),
                        ])), "About the answer"),
        ])

    package static let status = ContractObject(
        "JobStatus", "The state of a job",
        [
            .always("success", .flag(true), "The job is known"),
            .always(
                "data",
                .object(
                    ContractObject(
                        nil, "The state of the job",
                        [
                            .always("jobId", .text(format: nil), "The job"),
                            .always("status", Self.jobStatuses, "The state of the job"),
                            .always("progress", .number(0...1), "The share that is done"),
                            .always(
                                "processedCount", .integer(0...Int.max), "Photos, later books, that are done"),
                            .always("totalCount", .integer(0...Int.max), "Photos, later books, in total"),
                        ])), "The state of the job"),
        ])

    package static let canceled = ContractObject(
        "JobCanceled", "The job is canceled, by this request or before it",
        [
            .always("success", .flag(true), "The job is canceled"),
            .always(
                "data",
                .object(
                    ContractObject(
                        nil, "The job",
                        [
                            .always("jobId", .text(format: nil), "The job"),
                            .always("status", .words(["canceled"], name: "canceled"), "The state of the job"),
                        ])), "The job"),
        ])

    /// The codes of problem bodies: those of this program, and those that only the backend of the contract has.
    static let problemCodes =
        ProblemCode.allCases.map(\.rawValue)
        + ["INVALID_ISBN", "INVALID_QUERY", "CLIENT_DISCONNECTED", "API_ERROR"]

    package static let problem = ContractObject(
        "ProblemDetails", "Why a request was refused (RFC 9457)",
        [
            .always("success", .flag(false), "The request failed"),
            .always(
                "type", .text(format: "uri"), "The code in kebab case behind a fixed address",
                example: .text("https://api.oooefam.net/errors/rate-limit-exceeded")),
            .always("title", .text(format: nil), "The code in words", example: .text("Rate Limit Exceeded")),
            .always("status", .integer(400...599), "The status of the answer", example: .integer(429)),
            .always(
                "detail", .text(format: nil), "What is wrong with this request",
                example: .text("Too many requests from device")),
            .maybe(
                "instance", .text(format: "uri-reference"), "The path of the request",
                example: .text("/v3/jobs/scans")),
            .always(
                "code", .words(Self.problemCodes, name: "a code of the contract"),
                "What is wrong, for programs"),
            .always("retryable", .flag(nil), "Whether the same request may succeed later"),
            .maybe(
                "retryAfterMs", .integer(0...Int.max),
                "The wait before the next request in milliseconds; the header Retry-After has seconds",
                example: .integer(60_000)),
            .maybe("metadata", .object(Self.metadata), "About the answer"),
        ])
}
