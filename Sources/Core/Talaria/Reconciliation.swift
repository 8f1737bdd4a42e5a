package import SimBase

/// A book of what the phone has read and what the backend has found (seed 002, US-B1).
///
/// Title and author are those of the backend where its confidence is above 0.9 and the similarity of both texts above 0.8. Texts
/// that are too long to be compared count as different: what the phone has read is what the person sees.
package struct Reconciliation: Hashable, Sendable {
    package enum Field: String, CaseIterable, Hashable, Sendable { case title, author }

    package enum Source: String, CaseIterable, Hashable, Sendable {
        case talaria
        /// The reading of the phone.
        case foundationModels = "foundation-models"
    }

    /// A field of which both have different texts.
    package struct Discrepancy: Hashable, Sendable {
        package let field: Field
        package let read: String
        package let verified: String
        /// Nil if a text is too long.
        package let similarity: Levenshtein.Similarity?
        package let taken: Source
    }

    package let title: String
    package let author: String
    /// That of the reading; empty if it has none.
    package let isbn: String
    package let coverUrl: String?
    package let publisher: String?
    package let publicationYear: Int?
    /// The larger of both.
    package let confidence: Double
    /// The backend where its confidence is above 0.9, whichever texts were taken.
    package let source: Source
    /// In the order of the fields.
    package let discrepancies: [Discrepancy]

    /// No arithmetic comes before the comparison, so 0.9 in a body is equal to it.
    private static let confidenceBound = 0.9
    private static let similarityBound = 80

    package init(reading: BookReading, enrichment: Enrichment) {
        let isCertain = enrichment.confidence > Self.confidenceBound
        var discrepancies: [Discrepancy] = []
        func text(_ field: Field, _ read: String, _ verified: String) -> String {
            let similarity = Levenshtein.similarity(read, verified)
            let isSimilar = similarity?.isAbove(percent: Self.similarityBound) ?? false
            let taken: Source = isCertain && isSimilar ? .talaria : .foundationModels
            if read != verified {
                discrepancies.append(
                    Discrepancy(
                        field: field, read: read, verified: verified, similarity: similarity, taken: taken))
            }
            return taken == .talaria ? verified : read
        }
        self.title = text(.title, reading.title, enrichment.verifiedTitle)
        self.author = text(.author, reading.author, enrichment.verifiedAuthor)
        self.isbn = reading.isbn ?? ""
        self.coverUrl = enrichment.coverUrl
        self.publisher = enrichment.publisher
        self.publicationYear = enrichment.publicationYear
        self.confidence = max(reading.confidence, enrichment.confidence)
        self.source = isCertain ? .talaria : .foundationModels
        self.discrepancies = discrepancies
    }

    package var book: Book {
        Book(
            title: self.title, author: self.author, isbn: self.isbn.isEmpty ? nil : self.isbn,
            confidence: self.confidence, enrichmentStatus: .success, coverUrl: self.coverUrl)
    }
}
