internal import Faults
import JSON

/// The results of a foreign backend as text, with the list of their books: `results` or `books` under `data`, or `results` at the
/// top level.
struct ResultsText {
    private let object: JSONObjectText
    /// The object under `data`; nil for a list at the top level.
    private let inner: JSONObjectText?
    private let key: String
    let books: ArraySlice<UInt8>

    /// Nil for a body without such a list.
    init?(_ body: [UInt8]) {
        guard let object = JSONObjectText(body) else { return nil }
        let inner = object.value("data").flatMap { JSONObjectText(Array($0)) }
        let keys = inner == nil ? ["results"] : ["results", "books"]
        guard let key = keys.first(where: (inner ?? object).contains),
            let books = (inner ?? object).value(key)
        else { return nil }
        (self.object, self.inner, self.key, self.books) = (object, inner, key, books)
    }

    /// Returns the whole body with other books.
    func body(with books: [UInt8]) -> [UInt8] {
        var object = self.object
        guard var inner = self.inner else {
            object.set(self.key, to: books)
            return object.bytes
        }
        inner.set(self.key, to: books)
        object.set("data", to: inner.bytes)
        return object.bytes
    }

    /// Returns the whole body with its books in another order; nil if there is none.
    func reordered(_ draw: UInt64) -> [UInt8]? {
        guard let books = JSONObjectText.elements(of: self.books),
            let reordered = EventDistortion.reordered(books, draw)
        else { return nil }
        return self.body(with: Self.array(of: reordered))
    }

    static func array(of books: [[UInt8]]) -> [UInt8] {
        Array("[".utf8) + books.joined(separator: Array(",".utf8)) + Array("]".utf8)
    }
}
