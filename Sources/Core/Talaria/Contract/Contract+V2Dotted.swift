// The data of the events of v2 with a point in their names, which a backend may send instead (Docs/contract.md section 3.3).

extension Contract {
    private static let dottedJob = ContractMember.always(
        "jobId", .text(format: nil), "The job of the stream")
    private static let dottedStatus = ContractMember.always(
        "status", Self.jobStatuses, "The state of the job")
    private static let dottedResults = ContractMember.always(
        "resultsUrl", .text(format: nil), "Where the books are")

    private static func number(_ key: String, _ summary: String) -> ContractMember {
        .always(key, .integer(0...Int.max), summary)
    }

    /// `photoscan.progress`.
    private static let photoscanProgress = ContractObject(
        "V2PhotoscanProgressEvent", "Where the scan is",
        [
            Self.dottedJob, Self.dottedStatus,
            .always("progress", .number(0...1), "The share that is done"),
            Self.number("processedPhotos", "Photos that are done"),
            Self.number("totalPhotos", "Photos, in total"),
            Self.number("recognizedBooks", "Books on the photos that are done"),
            .maybe("message", .text(format: nil), "What is done, for people"),
        ])

    /// `photoscan.completed`.
    private static let photoscanCompleted = ContractObject(
        "V2PhotoscanCompletedEvent", "The scan is completed, and the stream ends",
        [
            Self.dottedJob, Self.dottedStatus, Self.dottedResults,
            .always(
                "summary",
                .object(
                    ContractObject(
                        nil, "What was found",
                        [
                            Self.number("totalDetected", "Books on the photos"),
                            Self.number("approved", "Those that need no review"),
                            Self.number("needsReview", "Those that do"),
                            Self.number("enrichedCount", "Those that were looked up"),
                            Self.number("duration", "Milliseconds"),
                        ])), "What was found"),
        ])

    /// `photoscan.failed`.
    private static let photoscanFailed = ContractObject(
        "V2PhotoscanFailedEvent", "The scan has failed or was canceled, and the stream ends",
        [
            Self.dottedJob, Self.dottedStatus,
            .always("error", .text(format: nil), "What has failed, for people"),
            .maybe("retryable", .flag(nil), "Whether a new upload may succeed"),
        ])

    /// What all events of a batch have.
    private static let dottedBatch: [ContractMember] = [
        .always("isbn", .text(format: nil), "The book that the batch has come to"), Self.dottedStatus,
        .always("progress", .integer(0...100), "Per cent of the batch that are done"),
    ]

    /// `enrichment.progress`.
    private static let enrichmentProgress = ContractObject(
        "V2EnrichmentProgressEvent", "Where the batch is",
        Self.dottedBatch + [.maybe("provider", .text(format: nil), "Who looks the book up")])

    /// `enrichment.completed`.
    private static let enrichmentCompleted = ContractObject(
        "V2EnrichmentCompletedEvent", "The batch is completed, and the stream ends",
        Self.dottedBatch + [
            .maybe(
                "data",
                .object(
                    ContractObject(
                        nil, "What became of the batch",
                        [
                            Self.dottedJob, Self.dottedResults,
                            Self.number("totalProcessed", "Books that were asked for"),
                            Self.number("successCount", "Those that were found"),
                            Self.number("failureCount", "Those that were not"),
                        ])), "What became of the batch")
        ])

    /// `enrichment.failed`.
    private static let enrichmentFailed = ContractObject(
        "V2EnrichmentFailedEvent", "The batch has failed or was canceled, and the stream ends",
        Self.dottedBatch + [
            .always(
                "error",
                .object(
                    ContractObject(
                        nil, "What has failed",
                        [
                            .always("code", .text(format: nil), "What has failed, for programs"),
                            .always("message", .text(format: nil), "What has failed, for people"),
                            .always("retryable", .flag(nil), "Whether a new upload may succeed"),
                        ])), "What has failed")
        ])

    /// The data of each event, in the order of the file.
    static let v2DottedEvents: [(names: [String], data: ContractObject)] = [
        ([DottedEventName.Subject.photoscan.progress], Self.photoscanProgress),
        ([DottedEventName.Subject.photoscan.completed], Self.photoscanCompleted),
        ([DottedEventName.Subject.photoscan.failed], Self.photoscanFailed),
        ([DottedEventName.Subject.enrichment.progress], Self.enrichmentProgress),
        ([DottedEventName.Subject.enrichment.completed], Self.enrichmentCompleted),
        ([DottedEventName.Subject.enrichment.failed], Self.enrichmentFailed),
    ]
}
