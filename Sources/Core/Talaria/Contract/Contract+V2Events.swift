// The data of the events of v2 (Docs/contract.md section 3.3). Where the documents disagree, all of their members are known.

extension Contract {
    private static let v2Job = ContractMember.always("jobId", .text(format: nil), "The job of the stream")

    private static func count(_ key: String, _ summary: String) -> ContractMember {
        .maybe(key, .integer(0...Int.max), summary)
    }

    /// Where a job is that has ended, for clients that show it.
    private static let v2Ending: [ContractMember] = [
        .maybe("progress", .number(0...1), "The share that was done"),
        Self.count("processedCount", "Photos, books or rows that were done"),
        Self.count("totalCount", "Photos, books or rows, in total"),
    ]

    /// `initialized`, `processing` and `timeout`.
    static let v2Progress = ContractObject(
        "V2ProgressEvent", "Where the job is",
        [
            Self.v2Job, .always("status", Self.jobStatuses, "The state of the job"),
            .always("progress", .number(0...1), "The share that is done"),
            .always("processedCount", .integer(0...Int.max), "Photos, books or rows that are done"),
            .always("totalCount", .integer(0...Int.max), "Photos, books or rows, in total"),
        ])

    static let v2Completed = ContractObject(
        "V2CompletedEvent", "The job is completed, and the stream ends",
        [
            .maybe("jobId", .text(format: nil), "The job of the stream"),
            .maybe("type", .words(["job_complete"], name: "job_complete"), "The kind of the message"),
            .maybe(
                "pipeline",
                .words(
                    ["ai_scan", "batch_enrichment", "csv_import"], name: "a pipeline of the contract"),
                "The kind of the job"),
            .maybe(
                "summary",
                .object(
                    ContractObject(
                        nil, "What became of it",
                        [
                            Self.count("totalProcessed", "Photos, books or rows, in total"),
                            Self.count("successCount", "Those that were found or taken"),
                            Self.count("failureCount", "Those that were not"),
                            Self.count("photosProcessed", "Photos of a scan"),
                            Self.count("booksDetected", "Books on the photos"),
                            Self.count("booksUnique", "Different ones of them"),
                            Self.count("booksEnriched", "Those that were looked up"),
                            Self.count("totalDetected", "Books on the photos, in a message of a WebSocket"),
                            Self.count("approved", "Those that need no review"),
                            Self.count("needsReview", "Those that do"),
                            Self.count("duration", "Milliseconds"),
                            .maybe("resourceId", .text(format: nil), "The key of the results"),
                        ])), "What became of it"),
            .maybe("expiresAt", .text(format: "date-time"), "When the results are gone"),
            .maybe("status", .words(["completed"], name: "completed"), "The state of the job"),
            .maybe("completedAt", .text(format: "date-time"), "When it was completed"),
        ] + Self.v2Ending)

    private static let v2Failure: [ContractMember] = [
        .always("code", .text(format: nil), "What has failed, for programs"),
        .always("message", .text(format: nil), "What has failed, for people"),
        .always("retryable", .flag(nil), "Whether a new upload may succeed"),
        .maybe("details", .object(ContractObject(nil, "More about it", [])), "More about it"),
    ]

    static let v2Failed = ContractObject(
        "V2FailedEvent", "The job has failed or was canceled, and the stream ends",
        [
            Self.v2Job,
            .always(
                "status", .words(["failed", "canceled"], name: "failed or canceled"), "The state of the job"),
            .always(
                "error", .object(ContractObject(nil, "What has failed", Self.v2Failure)), "What has failed"),
        ] + Self.v2Ending)

    /// An `error` event, of which the documents give only the name.
    static let v2ErrorEvent = ContractObject(
        "V2ErrorEvent", "The stream ends with an error",
        [
            .maybe("jobId", .text(format: nil), "The job of the stream"),
            .maybe("status", Self.jobStatuses, "The state of the job"),
            .maybe(
                "error", .object(ContractObject(nil, "What has failed", Self.v2Failure)), "What has failed"),
            .maybe("code", .text(format: nil), "What has failed, for programs"),
            .maybe("message", .text(format: nil), "What has failed, for people"),
            .maybe("retryable", .flag(nil), "Whether a new upload may succeed"),
        ] + Self.v2Ending)

    /// The data of each event, in the order of the file.
    static let v2Events: [(names: [String], data: ContractObject)] = [
        ([V2EventName.initialized, V2EventName.processing, V2EventName.timeout], Self.v2Progress),
        ([V2EventName.completed], Self.v2Completed), ([V2EventName.failed], Self.v2Failed),
        ([V2EventName.error], Self.v2ErrorEvent),
    ]
}
