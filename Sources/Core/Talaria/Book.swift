/// One recognized book (Docs/contract.md section 1.3). `title` and `author` are required; a body in which
/// either is null or missing does not decode.
package struct Book: Codable, Hashable, Sendable {
    package var title: String
    package var author: String
    package var isbn: String?
    /// 0 to 1.
    package var confidence: Double?
    package var enrichmentStatus: EnrichmentStatus?
    package var coverUrl: String?

    package init(
        title: String, author: String, isbn: String?, confidence: Double?,
        enrichmentStatus: EnrichmentStatus?,
        coverUrl: String?
    ) {
        self.title = title
        self.author = author
        self.isbn = isbn
        self.confidence = confidence
        self.enrichmentStatus = enrichmentStatus
        self.coverUrl = coverUrl
    }

    /// The book as it comes when it could not be looked up: what was read from its spine, without what a lookup adds
    /// (Docs/contract.md section 2.1, `enrichment_degraded` with the fallback source `raw`).
    package var degraded: Book {
        var book = self
        book.coverUrl = nil
        book.enrichmentStatus = .circuitOpen
        return book
    }
}
