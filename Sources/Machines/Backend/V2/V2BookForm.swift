import JSON
internal import SimBase
internal import Talaria

/// The results of v2 where its documents disagree on them (Docs/contract.md section 7, C44 and C45).
struct V2BookForm: Hashable, Sendable {
    var booksKey = V2Rules.BooksKey.books
    var authors = V2Rules.Authors.author

    /// The books, under their key, which comes before all others.
    func write(_ books: [Book], to writer: inout JSONWriter) {
        writer.array(self.booksKey.name, books) { self.write($1, to: &$0) }
    }

    private func write(_ book: Book, to writer: inout JSONWriter) {
        guard self.authors != .author else { return book.write(to: &writer) }
        writer.object { writer in
            self.writeAuthors(of: book, to: &writer)
            writer.member("confidence", book.confidence)
            writer.member("coverUrl", book.coverUrl)
            self.writeEdition(of: book, to: &writer)
            writer.member("enrichmentStatus", book.enrichmentStatus?.text)
            writer.member("isbn", book.isbn)
            writer.member("title", book.title)
            self.writeWork(of: book, to: &writer)
        }
    }

    func writeAuthors(of book: Book, to writer: inout JSONWriter) {
        switch self.authors {
        case .author: writer.member("author", book.author)
        case .names: writer.array("authors", [book.author]) { $0.text($1) }
        case .nested:
            writer.array("authors", [book.author]) { writer, name in
                writer.object { writer in
                    writer.member("key", "/authors/\(Self.number(of: name))")
                    writer.member("name", name)
                }
            }
        }
    }

    func writeEdition(of book: Book, to writer: inout JSONWriter) {
        guard self.authors == .nested, let details = BookDetails(of: book) else { return }
        writer.object("edition") { writer in
            writer.member("id", "/books/\(Self.number(of: book.title))")
            writer.member("numberOfPages", details.pageCount)
            writer.member("physicalFormat", details.format)
            writer.array("publishers", [details.publisher]) { $0.text($1) }
        }
    }

    func writeWork(of book: Book, to writer: inout JSONWriter) {
        guard self.authors == .nested else { return }
        writer.object("work") { writer in
            writer.member("id", "/works/\(Self.number(of: book.title))")
            writer.array("subjects", ["Fiction"]) { $0.text($1) }
            writer.member("title", book.title)
        }
    }

    private static func number(of text: String) -> UInt64 { Digest.of(text) % 10_000_000 }
}
