import SimBase

/// Counters by name, in the order in which the names were declared or first counted.
package struct Counters: Sendable {
    private var table = SlotMap<String, Int64>()

    package init() {}

    /// Zero for a name that was never counted.
    package subscript(name: String) -> Int64 { self.table[name] ?? 0 }

    /// Declares a name before anything is counted, so that it is listed with 0 and in a known order.
    package mutating func declare(_ name: String) {
        if self.table[name] == nil { self.table[name] = 0 }
    }

    package mutating func add(_ count: Int64, to name: String) {
        if self.table.update(name, { $0 = $0.addingSaturating(count) }) == nil { self.table[name] = count }
    }

    /// Names that only the other one has follow in its order.
    package mutating func add(_ other: Counters) {
        for (name, count) in other.entries { self.add(count, to: name) }
    }

    /// Back to 0; names keep their indexes.
    package mutating func reset() {
        for name in self.table.keys { self.table[name] = 0 }
    }

    package var entries: [(name: String, count: Int64)] {
        self.table.entries.map { (name: $0.key, count: $0.value) }
    }

    package var names: [String] { self.table.keys }
}

/// Equal when they list the same names in the same order with the same counts.
extension Counters: Equatable {
    package static func == (left: Counters, right: Counters) -> Bool {
        left.entries.elementsEqual(right.entries) { $0.name == $1.name && $0.count == $1.count }
    }
}
