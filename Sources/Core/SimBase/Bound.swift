/// A queue as it is, and the limit that it must keep to, by its name.
public struct Bound: Hashable, Sendable {
    /// The name of the limit in the source.
    public let name: String
    /// The present number.
    public let count: Int
    /// The maximum number.
    public let max: Int

    /// Creates a bound with its present number and its maximum.
    public init(_ name: String, _ count: Int, max: Int) {
        self.name = name
        self.count = count
        self.max = max
    }

    /// Whether there is more than there may be.
    public var isExceeded: Bool { self.count > self.max }
}
