/// A queue as it is, and the limit that it must keep to, by its name.
public struct Bound: Hashable, Sendable {
    /// Of the limit, as it stands in the source.
    public let name: String
    /// What there is.
    public let count: Int
    /// What there may be.
    public let max: Int

    /// So many, and at most so many.
    public init(_ name: String, _ count: Int, max: Int) {
        self.name = name
        self.count = count
        self.max = max
    }

    /// Whether there is more than there may be.
    public var isExceeded: Bool { self.count > self.max }
}
