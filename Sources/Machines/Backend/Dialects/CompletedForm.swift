internal import Faults
import JSON
internal import SimBase
internal import Talaria

/// The data of a `completed` event.
enum CompletedForm: Hashable, Sendable {
    /// The members of S0, with this `type` (C3).
    case contract(type: String)
    /// The members of a `progress` event in addition to the books, with this progress (C7).
    case stateful(progress: Int, Summary, BookForm, hasResultsURL: Bool)
    /// The address of the books, and not the books.
    case address(Summary)
    /// The number of books, in `booksFound` (Docs/apps.md section 6.1).
    case count
    /// The members of v2, with this `pipeline` (Docs/contract.md section 3.3, C25).
    case pipeline(String)
    /// `photoscan.completed` (Docs/contract.md section 3.3).
    case photoscan
    /// `enrichment.completed`.
    case enrichment
    /// What was captured.
    case captured(CapturedData)

    /// The members of `summary`, which clients treat as opaque (C38).
    enum Summary: Hashable, Sendable {
        /// totalDetected, totalUnique, approved, needsReview, and the times in `duration`.
        case camelCase
        /// total_processed, enriched, failed and, where it is whole, review_needed, degraded_count and errors.
        case snakeCase(isWhole: Bool)
    }

    /// What a job says at its end.
    struct Facts {
        var job: String
        var resultsURL: String
        var books: [Book]
        /// Milliseconds since 1970.
        var completedAt: Int64
        var jobTime: Interval
        var photos: Int
        /// Milliseconds since 1970 at which the results are gone.
        var expiresAt: Int64
        /// Books that were asked for and that no provider has.
        var notFound = 0
        /// The outcomes of the rows of an import; nil for a job that finds books.
        var rows: RowCounts?
        /// The books have the members of the format `full`.
        var isFull = false

        var found: Int { self.books.count { $0.enrichmentStatus == .success } }
    }

    /// The value of `type`, and the value that second terminal events have instead.
    private static let alias = "complete"

    func data(_ facts: Facts, stripped: StrippedForm?) -> [UInt8] {
        let whole =
            switch self {
            case .contract(let type): Self.contract(type, facts)
            case .stateful(let progress, let summary, let form, let hasResultsURL):
                JSON.object { writer in
                    writer.array("books", facts.books) { (facts.isFull ? .full : form).write($1, to: &$0) }
                    writer.member("completedAt", timestamp: facts.completedAt)
                    writer.member("jobId", facts.job)
                    writer.member("processedCount", facts.books.count)
                    writer.member("progress", progress)
                    if hasResultsURL { writer.member("resultsUrl", facts.resultsURL) }
                    writer.member("status", JobStatus.completed.rawValue)
                    writer.object("summary") { summary.write(facts, to: &$0) }
                    writer.member("totalCount", facts.books.count)
                    writer.member("type", EventKind.completed.rawValue)
                }
            case .address(let summary):
                JSON.object { writer in
                    writer.member("jobId", facts.job)
                    writer.member("resultsUrl", facts.resultsURL)
                    writer.object("summary") { summary.write(facts, to: &$0) }
                    writer.member("type", Self.alias)
                }
            case .count:
                JSON.object { writer in
                    writer.member("booksFound", facts.books.count)
                    writer.member("jobId", facts.job)
                }
            case .pipeline(let name): Self.pipeline(name, facts)
            case .photoscan: DottedData.completedScan(facts)
            case .enrichment: DottedData.completedEnrichment(facts)
            case .captured(let data): data.bytes(job: facts.job, resultsURL: facts.resultsURL)
            }
        guard let stripped else { return whole }
        return EventDistortion.stripped(whole, as: stripped) ?? whole
    }

    private static func pipeline(_ name: String, _ facts: Facts) -> [UInt8] {
        JSON.object { writer in
            writer.member("expiresAt", timestamp: facts.expiresAt)
            writer.member("jobId", facts.job)
            writer.member("pipeline", name)
            writer.object("summary") { writer in
                let (failed, found) =
                    facts.rows.map { ($0.failed, $0.total - $0.failed) } ?? (
                        facts.notFound, facts.books.count
                    )
                if facts.rows == nil {
                    writer.member("booksDetected", found)
                    writer.member("booksEnriched", facts.found)
                    writer.member("booksUnique", found)
                }
                writer.member("duration", facts.jobTime.wholeMilliseconds)
                writer.member("failureCount", failed)
                if facts.rows == nil { writer.member("photosProcessed", facts.photos) }
                writer.member("resourceId") {
                    $0.append(literal: "job-results:")
                    $0.append(text: facts.job)
                }
                writer.member("successCount", found)
                writer.member("totalProcessed", failed + found)
            }
            writer.member("type", "job_complete")
        }
    }

    private static func contract(_ type: String, _ facts: Facts) -> [UInt8] {
        let summary = CompletedSummary(
            totalDetected: facts.books.count, approved: facts.found,
            needsReview: facts.books.count - facts.found)
        var data = CompletedData(
            jobId: facts.job, resultsUrl: facts.resultsURL, summary: summary, books: facts.books)
        data.type = type
        let form = facts.isFull ? BookForm.full : .contract
        return JSONWriter.bytes { data.write(to: &$0) { form.write($0, to: &$1) } }
    }
}

extension CompletedForm.Summary {
    fileprivate func write(_ facts: CompletedForm.Facts, to writer: inout JSONWriter) {
        let count = facts.books.count
        switch self {
        case .camelCase:
            writer.member("approved", facts.found)
            writer.object("duration") { writer in
                // Three fifths of a job are the identification of its books.
                let identified = facts.jobTime.wholeMilliseconds / 5 * 3
                writer.member("cleanupMs", 0)
                writer.member("enrichmentMs", facts.jobTime.wholeMilliseconds - identified)
                writer.member("geminiMs", identified)
                writer.member("totalMs", facts.jobTime.wholeMilliseconds)
                writer.member("uploadMs", 0)
            }
            writer.member("needsReview", count - facts.found)
            writer.member("totalDetected", count)
            writer.member("totalUnique", count)
        case .snakeCase(let isWhole):
            let degraded = facts.books.count { $0.enrichmentStatus == .circuitOpen }
            let failed = facts.books.count { $0.enrichmentStatus == .error }
            if isWhole { writer.member("degraded_count", degraded) }
            writer.member("enriched", facts.found)
            if isWhole { writer.array("errors", [String]()) { $0.text($1) } }
            writer.member("failed", failed)
            if isWhole { writer.member("review_needed", count - facts.found - degraded - failed) }
            writer.member("total_processed", count)
        }
    }
}
