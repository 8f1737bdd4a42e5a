import JSON
internal import SimBase
internal import Talaria

/// The response of the results endpoint (Docs/contract.md section 1.3).
struct ResultsForm: Hashable, Sendable {
    /// The key of the books (C5).
    var key = "results"
    /// The body has a `processingTimeMs`.
    var hasProcessingTime = false
    /// The format `lite` has only title, author and isbn of a book (C6).
    var isLiteShort = false

    func body(_ job: String, _ books: [Book], jobTime: Interval, isLite: Bool) -> [UInt8] {
        let books = self.isLiteShort && isLite ? books.map(Self.short) : books
        var results = ResultsBody(jobId: job, results: books)
        if self.hasProcessingTime { results.data.processingTimeMs = jobTime.wholeMilliseconds }
        let whole = JSON.encode(results)
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
