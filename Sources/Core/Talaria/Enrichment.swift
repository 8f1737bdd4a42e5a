import JSON

/// What a phone has read on the spine of a book by itself (seed 002).
package struct BookReading: Hashable, Sendable {
    package var title: String
    package var author: String
    package var isbn: String?
    /// All that was read.
    package var text: String
    /// 0 to 1.
    package var confidence: Double
    /// In whole percent, rounded down.
    package var confidencePercent: Int { Int(self.confidence * 100) }

    package init(title: String, author: String, isbn: String?, text: String, confidence: Double) {
        self.title = title
        self.author = author
        self.isbn = isbn
        self.text = text
        self.confidence = confidence
    }

    /// The book as the phone has it without the backend.
    package var book: Book {
        Book(
            title: self.title, author: self.author, isbn: self.isbn, confidence: self.confidence,
            enrichmentStatus: nil, coverUrl: nil)
    }
}

/// What the backend has found of a book by its text (Docs/contract.md section 1.5).
package struct Enrichment: Hashable, Sendable {
    /// The form of the answer (Docs/contract.md section 7, C24).
    package enum Form: String, CaseIterable, Hashable, Sendable {
        /// That of the contract of seed 002: all but the confidence is under `enrichment`.
        case nested
        /// What the client of seed 002 decodes: all is at the top, and there is no job.
        case flat
    }

    package var coverUrl: String?
    package var publisher: String?
    package var publicationYear: Int?
    package var verifiedTitle: String
    package var verifiedAuthor: String
    package var genre: String?
    package var pageCount: Int?
    /// 0 to 1.
    package var confidence: Double

    package init(verifiedTitle: String, verifiedAuthor: String, confidence: Double) {
        self.verifiedTitle = verifiedTitle
        self.verifiedAuthor = verifiedAuthor
        self.confidence = confidence
    }
}

extension Enrichment {
    package func body(_ form: Form, jobId: String) -> [UInt8] {
        JSON.object { writer in
            writer.member("confidence", self.confidence)
            switch form {
            case .flat: self.write(members: &writer)
            case .nested:
                writer.object("enrichment") { self.write(members: &$0) }
                writer.member("jobId", jobId)
                writer.member("source", Reconciliation.Source.talaria.rawValue)
            }
        }
    }

    private func write(members writer: inout JSONWriter) {
        writer.member("coverUrl", self.coverUrl)
        writer.member("genre", self.genre)
        writer.member("pageCount", self.pageCount)
        writer.member("publicationYear", self.publicationYear)
        writer.member("publisher", self.publisher)
        writer.member("verifiedAuthor", self.verifiedAuthor)
        writer.member("verifiedTitle", self.verifiedTitle)
    }

    /// Reads the answer as a client that expects this form. Returns nil without a title, an author, or a confidence from 0 to 1.
    package static func read(
        _ bytes: [UInt8], _ form: Form, into notes: inout ContractNotes
    ) -> Enrichment? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        switch form {
        case .flat: return self.read(body, of: body, into: &notes)
        case .nested:
            let members = body.object("enrichment", .required, into: &notes)
            let found = self.read(members, of: body, into: &notes)
            body.compare(with: Contract.enriched, into: &notes)
            return found
        }
    }

    private static func read(
        _ members: LeanObject?, of body: LeanObject, into notes: inout ContractNotes
    ) -> Enrichment? {
        let title = members?.text("verifiedTitle", .required, into: &notes)
        let author = members?.text("verifiedAuthor", .required, into: &notes)
        let confidence = body.decimal("confidence", .required, into: &notes)
        guard let members, let title, let author, let confidence else { return nil }
        // A number of per cent would decide whose text is taken.
        guard (0...1).contains(confidence) else {
            notes.add(
                body.path("confidence"), expected: "0 to 1", seen: "another number",
                excerpt: "\(confidence)", isDecisive: true)
            return nil
        }
        var found = Enrichment(verifiedTitle: title, verifiedAuthor: author, confidence: confidence)
        found.coverUrl = members.text("coverUrl", .optional, into: &notes)
        found.publisher = members.text("publisher", .optional, into: &notes)
        found.publicationYear = members.integer("publicationYear", .optional, into: &notes)
        found.genre = members.text("genre", .optional, into: &notes)
        found.pageCount = members.integer("pageCount", .optional, into: &notes)
        return found
    }
}
