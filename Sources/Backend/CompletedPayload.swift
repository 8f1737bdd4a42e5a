internal import Faults
internal import Talaria

/// The `data` of a `completed` event, with its books or without.
enum CompletedPayload {

    static func data(job: String, resultsURL: String, books: [Book], stripped: StrippedForm?) -> [UInt8] {
        guard let stripped else {
            return JSON.encode(
                CompletedData(
                    jobId: job, resultsUrl: resultsURL, summary: Self.summary(books), books: books))
        }
        let whole = CompletedData(
            jobId: job, resultsUrl: resultsURL, summary: Self.summary(books), books: nil)
        return JSON.encode(Stripped(whole: whole, books: books, form: stripped))
    }

    private static func summary(_ books: [Book]) -> CompletedSummary {
        let found = books.count { $0.enrichmentStatus == .success }
        return CompletedSummary(
            totalDetected: books.count, approved: found, needsReview: books.count - found)
    }

    private struct Stripped: Encodable {
        var whole: CompletedData
        var books: [Book]
        var form: StrippedForm

        /// Renamed, the books stand under the key of the results endpoint.
        enum Key: String, CodingKey { case books, renamed = "results" }

        func encode(to encoder: any Encoder) throws {
            try self.whole.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            switch self.form {
            case .absent: break
            case .null: try container.encodeNil(forKey: .books)
            case .empty: try container.encode([Book](), forKey: .books)
            case .renamed: try container.encode(self.books, forKey: .renamed)
            }
        }
    }
}
