import SimBase

/// What the backend charges for a book, in millionths of a dollar (`cost` of a scenario). In seed 002 a book costs
/// $0.021 by its photo and $0.001 by its text.
package struct BookPrices: Hashable, Sendable {
    package var photo: Int64 = 0
    package var text: Int64 = 0
    /// The books of a month; nil if the scenario does not state how many.
    package var booksPerMonth: Int?

    package init() {}

    package static let decimals = 6
    /// A thousand dollars.
    package static let priceMax: Int64 = 1_000_000_000
    package static let booksPerMonthMax = 1_000_000_000_000

    /// An amount in dollars, as a scenario has it: `0.021`.
    package static func text(_ microdollars: Int64) -> String {
        DecimalText.text(microdollars, decimals: Self.decimals, shown: 0...Self.decimals)
    }
}

/// The number of books that have a price.
package struct PricedBooks: Hashable, Sendable {
    /// Those that came by a photo.
    package private(set) var photo: Int64
    /// Those whose text was looked up.
    package private(set) var text: Int64

    package init(photo: Int64 = 0, text: Int64 = 0) {
        precondition(photo >= 0 && text >= 0, "books are counted from 0")
        self.photo = photo
        self.text = text
    }

    package mutating func add(_ other: PricedBooks) {
        self.photo = self.photo.addingSaturating(other.photo)
        self.text = self.text.addingSaturating(other.text)
    }
}
