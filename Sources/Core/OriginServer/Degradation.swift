package import Faults
package import SimBase

/// The books of a job that a fault keeps from being looked up.
package struct Degradation: Hashable, Sendable {
    package let books: Odds
    /// The random bits of the firing.
    package let draw: UInt64

    /// Creates the degradation of a fault; nil for a fault of another kind.
    package init?(_ fault: ArmedFault) {
        guard case .degraded(let books) = fault.kind else { return nil }
        self.books = books
        self.draw = fault.draw
    }

    /// Whether the book with this index is degraded.
    package func takes(_ ordinal: Int) -> Bool {
        self.books.happens(KeyedRandom(seed: self.draw).draw(.cut, UInt64(ordinal)))
    }
}
