internal import Faults
import JSON
internal import OriginServer
internal import Talaria

/// A foreign backend's books, some of which a fault has degraded: what a lookup adds is removed from them.
struct DegradedBooks {
    struct Taken: Hashable {
        var title: String
        var isbn: String?
    }

    /// The whole body or event data, with its books as they are now.
    let body: [UInt8]
    /// Which were degraded, in their order.
    let taken: [Taken]

    /// Reads the books of a `completed` event; nil if there are none.
    init?(event data: [UInt8], by degradation: Degradation) {
        guard var object = JSONObjectText(data), let array = object.value(EventDistortion.booksKey),
            let (books, taken) = Self.degrade(array, by: degradation)
        else { return nil }
        object.set(EventDistortion.booksKey, to: books)
        self.body = object.bytes
        self.taken = taken
    }

    /// Reads the books of a results response.
    init?(results data: [UInt8], by degradation: Degradation) {
        guard let results = ResultsText(data),
            let (books, taken) = Self.degrade(results.books, by: degradation)
        else { return nil }
        self.body = results.body(with: books)
        self.taken = taken
    }

    private static func degrade(
        _ array: ArraySlice<UInt8>, by degradation: Degradation
    ) -> (books: [UInt8], taken: [Taken])? {
        guard let books = JSONObjectText.elements(of: array) else { return nil }
        var taken: [Taken] = []
        var rewritten: [[UInt8]] = []
        for (ordinal, book) in books.enumerated() {
            guard degradation.takes(ordinal), var object = JSONObjectText(book) else {
                rewritten.append(book)
                continue
            }
            taken.append(Taken(title: object.text("title") ?? "", isbn: object.text("isbn")))
            object.remove("coverUrl")
            object.set("enrichmentStatus", to: Array("\"\(EnrichmentStatus.circuitOpen.text)\"".utf8))
            rewritten.append(object.bytes)
        }
        return (ResultsText.array(of: rewritten), taken)
    }
}
