/// What a backend did with the barcode of one request (Docs/contract.md section 3.2).
package struct BookLookup: Hashable, Sendable {
    /// The idempotency key of the request; nil without one.
    package let key: String?
    /// Thirteen digits.
    package let barcode: String
    /// Whether a provider has the book.
    package let isFound: Bool
    /// A provider was asked, which costs money; otherwise the answer is that of an earlier request with the key.
    package let isBilled: Bool

    package init(key: String?, barcode: String, isFound: Bool, isBilled: Bool) {
        self.key = key
        self.barcode = barcode
        self.isFound = isFound
        self.isBilled = isBilled
    }
}
