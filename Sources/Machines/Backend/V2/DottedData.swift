internal import Faults
import JSON
internal import SimBase
internal import Talaria

/// The data of the events with dotted names, which SSEClient of books-v3 expects (Docs/contract.md section 3.3).
enum DottedData {
    /// The provider of a book. The contract names none.
    static let provider = "auto"

    // MARK: Scans

    /// Returns the data of a progress event. The recognized books grow in proportion to the processed photos.
    static func scan(
        _ facts: Job.Facts, _ stage: JobCourse.Stage, _ number: Int, _ progress: JobProgress
    ) -> [UInt8] {
        let script = facts.script
        let photos = stage.counts == .photos ? progress.processed : script.photos
        return JSON.object { writer in
            writer.member("jobId", facts.id)
            writer.member("message") { script.append(stage.message, number, to: &$0) }
            writer.member("processedPhotos", photos)
            writer.member("progress", thousandths: progress.thousandths)
            writer.member("recognizedBooks", script.books * photos / max(1, script.photos))
            writer.member("status", stage.status)
            writer.member("totalPhotos", script.photos)
        }
    }

    /// Returns the data of the event that ends a scan.
    static func completedScan(_ facts: CompletedForm.Facts) -> [UInt8] {
        JSON.object { writer in
            writer.member("jobId", facts.job)
            writer.member("resultsUrl", facts.resultsURL)
            writer.member("status", JobStatus.completed.rawValue)
            writer.object("summary") { writer in
                writer.member("approved", facts.found)
                writer.member("duration", facts.jobTime.wholeMilliseconds)
                writer.member("enrichedCount", facts.found)
                writer.member("needsReview", facts.books.count - facts.found)
                writer.member("totalDetected", facts.books.count)
            }
        }
    }

    // MARK: Batches

    /// Returns the data of an event of a batch. The contract describes the lookup of one ISBN, so the event has the ISBN of the
    /// current book.
    ///
    /// - Parameter thousandths: The progress of the batch. The event has it in percent.
    /// - Parameter detail: Writes `provider` or `data`.
    static func enrichment(
        isbn: String, _ status: String, _ thousandths: Int, _ detail: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        JSON.object { writer in
            detail(&writer)
            writer.member("isbn", isbn)
            writer.member("progress", thousandths / 10)
            writer.member("status", status)
        }
    }

    /// Returns the data of the event that ends a batch. The contract does not define them; these are the counts of the batch and the
    /// address of its books.
    static func completedEnrichment(_ facts: CompletedForm.Facts) -> [UInt8] {
        Self.enrichment(isbn: facts.books.last?.isbn ?? "", JobStatus.completed.rawValue, 1_000) { writer in
            writer.object("data") { writer in
                writer.member("failureCount", facts.notFound)
                writer.member("jobId", facts.job)
                writer.member("resultsUrl", facts.resultsURL)
                writer.member("successCount", facts.books.count)
                writer.member("totalProcessed", facts.books.count + facts.notFound)
            }
        }
    }
}
