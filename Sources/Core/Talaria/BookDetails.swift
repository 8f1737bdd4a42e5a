internal import JSON
internal import SimBase

/// What a look-up finds of a book beside its cover: the members that only the format `full` has (Docs/contract.md section
/// 1.3). They are a function of the title: no client decodes them, and none of them is stored.
package struct BookDetails: Hashable, Sendable {
    package let publisher: String
    package let publishedDate: String
    package let pageCount: Int
    package let format: String

    /// With their series, as catalogs name them: a full book has about half as many bytes more than a lean one
    /// (Docs/contract.md section 2.3).
    private static let publishers = [
        "Penguin Books Ltd, Penguin Classics", "Oxford University Press, Oxford World's Classics",
        "Éditions Gallimard, Bibliothèque de la Pléiade", "岩波書店, 岩波文庫",
        "Suhrkamp Verlag, Suhrkamp Taschenbuch", "Издательство «Эксмо», Всемирная литература",
        "Alfred A. Knopf, Everyman's Library", "Editorial Anagrama, Panorama de narrativas",
    ]
    package static let formats = ["hardcover", "paperback", "ebook", "audiobook"]

    /// Nil for a book that was not found: it has no cover either.
    package init?(of book: Book) {
        guard book.coverUrl != nil else { return nil }
        var draw = Digest.of(book.title)
        func below(_ count: UInt64) -> Int {
            defer { draw /= count }
            return Int(draw % count)
        }
        self.publisher = Self.publishers[below(UInt64(Self.publishers.count))]
        self.format = Self.formats[below(UInt64(Self.formats.count))]
        self.pageCount = 80 + below(1_200)
        let (year, month, day) = (1900 + below(125), 1 + below(12), 1 + below(28))
        self.publishedDate = ByteBuilder.text { date in
            Decimal.append(UInt64(year), digits: 4, to: &date)
            date.append(UInt8(ascii: "-"))
            Decimal.append(UInt64(month), digits: 2, to: &date)
            date.append(UInt8(ascii: "-"))
            Decimal.append(UInt64(day), digits: 2, to: &date)
        }
    }
}
