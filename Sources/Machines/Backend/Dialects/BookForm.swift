import JSON
internal import Talaria

/// The members of a book in an event or in results.
enum BookForm: Hashable, Sendable {
    /// Those of Docs/contract.md section 1.3 that have a value.
    case contract
    /// The same, and what the look-up found beside them.
    case full
    /// Those of `contract`, and `isbn` even where it is null.
    case withISBN
    /// title, author, isbn and enrichmentStatus (Docs/contract.md section 2.4).
    case identity

    func write(_ book: Book, to writer: inout JSONWriter) {
        switch self {
        case .contract: return book.write(to: &writer)
        case .full: return book.writeFull(to: &writer)
        case .withISBN, .identity: break
        }
        writer.object { writer in
            writer.member("author", book.author)
            if self == .withISBN {
                writer.member("confidence", book.confidence)
                writer.member("coverUrl", book.coverUrl)
            }
            writer.member("enrichmentStatus", book.enrichmentStatus?.text)
            writer.key("isbn")
            if let isbn = book.isbn { writer.text(isbn) } else { writer.null() }
            writer.member("title", book.title)
        }
    }
}
