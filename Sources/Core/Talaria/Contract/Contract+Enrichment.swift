// The look-up of a book by the text of its spine (Docs/contract.md section 1.5).

extension Contract {
    static let textRequest = ContractObject(
        "TextRequest", "What was read from the spine of a book",
        [
            .always("text", .text(format: nil), "All of its text"),
            .maybe("isbn", .text(format: nil), "An ISBN", isNullable: true),
            .maybe("title", .text(format: nil), "The title", isNullable: true),
            .maybe("author", .text(format: nil), "The author", isNullable: true),
        ])

    private static let enrichment = ContractObject(
        "Enrichment", "What was found of a book",
        [
            .maybe("coverUrl", .text(format: "uri"), "A picture of the cover", isNullable: true),
            .maybe("publisher", .text(format: nil), "The publisher", isNullable: true),
            .maybe("publicationYear", .integer(0...9_999), "The year of the edition", isNullable: true),
            .always("verifiedTitle", .text(format: nil), "The title"),
            .always("verifiedAuthor", .text(format: nil), "The author"),
            .maybe("genre", .text(format: nil), "The genre", isNullable: true),
            .maybe("pageCount", .integer(0...Int.max), "The number of pages", isNullable: true),
        ])

    /// It has no envelope.
    static let enriched = ContractObject(
        "Enriched", "What was found of a book, without a job to follow",
        [
            .always("jobId", .text(format: nil), "Names the request"),
            .always("enrichment", .object(Self.enrichment), "What was found"),
            .always("source", .words(["talaria"], name: "talaria"), "Who found it"),
            .always(
                "confidence", .number(0...1), "How certain the title and the author are",
                example: .number(0.95)),
        ])
}

extension ContractNotes {
    /// The deviations of the body of a text enrichment. A body that is not a JSON object has none: it is refused.
    package init(text bytes: [UInt8]) {
        self.init()
        var unread = ContractNotes()
        LeanObject(bytes, into: &unread)?.compare(with: Contract.textRequest, into: &self)
    }
}
