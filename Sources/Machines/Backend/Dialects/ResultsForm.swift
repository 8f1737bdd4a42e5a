import JSON
internal import SimBase
internal import Talaria

/// The response of the results endpoint (Docs/contract.md section 1.3).
struct ResultsForm: Hashable, Sendable {
    /// The key of the books (C5).
    var key = "results"
    /// The form of the books in a v2 body; nil for a v3 body.
    var v2: V2BookForm?
    /// The body has a `processingTimeMs`.
    var hasProcessingTime = false
    /// The format `lite` has only title, author and isbn of a book (C6).
    var isLiteShort = false

    /// What a client asks for by `?format=`.
    enum Detail: Hashable, Sendable {
        /// Nothing: the members of `lite`, and in no dialect fewer.
        case unstated
        case lite
        /// With what the look-up found beside them.
        case full
    }

    /// - Parameter notFound: Books that were asked for and that no provider has.
    /// - Parameter wall: Milliseconds since 1970.
    func body(
        _ job: String, _ books: [Book], notFound: Int, jobTime: Interval, _ detail: Detail, at wall: Int64
    ) -> [UInt8] {
        if let v2 = self.v2 {
            return V2Envelope.success(timestamp: wall) { writer in
                v2.write(books, to: &writer)
                writer.member("jobId", job)
                writer.member("status", JobStatus.completed.rawValue)
                writer.member("totalCount", books.count + notFound)
            }
        }
        let books = self.isLiteShort && detail == .lite ? books.map(Self.short) : books
        var results = ResultsBody(jobId: job, results: books)
        if self.hasProcessingTime { results.data.processingTimeMs = jobTime.wholeMilliseconds }
        let form = detail == .full ? BookForm.full : .contract
        let whole = JSONWriter.bytes { results.write(to: &$0) { form.write($0, to: &$1) } }
        guard self.key != "results", var body = JSONObjectText(whole), let value = body.value("data"),
            var data = JSONObjectText(Array(value))
        else { return whole }
        data.rename("results", to: self.key)
        body.set("data", to: data.bytes)
        return body.bytes
    }

    private static func short(_ book: Book) -> Book {
        Book(
            title: book.title, author: book.author, isbn: book.isbn, confidence: nil, enrichmentStatus: nil,
            coverUrl: nil)
    }
}
