/// A count for each case of an enumeration, in the order of its cases.
package struct EnumCounts<Key: CaseIterable & Hashable & Sendable>: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: Key.allCases.count)

    package init() {}

    package subscript(key: Key) -> Int {
        get { self.counts[Self.index(of: key)] }
        set { self.counts[Self.index(of: key)] = newValue }
    }

    package var total: Int { self.counts.reduce(0, +) }

    package mutating func add(_ other: Self) {
        for index in self.counts.indices { self.counts[index] += other.counts[index] }
    }

    private static func index(of key: Key) -> Int {
        for (index, other) in Key.allCases.enumerated() where other == key { return index }
        preconditionFailure("allCases lacks \(key)")
    }
}
