internal import Faults
import JSON
internal import Talaria

/// The `data` of a `completed` event, with its books or without.
enum CompletedPayload {

    static func data(job: String, resultsURL: String, books: [Book], stripped: StrippedForm?) -> [UInt8] {
        let whole = JSON.encode(
            CompletedData(jobId: job, resultsUrl: resultsURL, summary: Self.summary(books), books: books))
        guard let stripped else { return whole }
        return EventDistortion.stripped(whole, as: stripped) ?? whole
    }

    private static func summary(_ books: [Book]) -> CompletedSummary {
        let found = books.count { $0.enrichmentStatus == .success }
        return CompletedSummary(
            totalDetected: books.count, approved: found, needsReview: books.count - found)
    }
}
