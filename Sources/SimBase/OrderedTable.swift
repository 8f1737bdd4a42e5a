/// A table that answers by key and iterates in an order that is the same in every process: that of its places.
///
/// A place is taken by insertion; removing frees it in O(1) and the next insertion takes it again.
package struct OrderedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline struct Slot {
        @usableFromInline var key: Key
        @usableFromInline var value: Value

        @inlinable init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }
    }

    @usableFromInline var places: [Key: Int] = [:]
    @usableFromInline var slots: [Slot?] = []
    @usableFromInline var free: [Int] = []

    @inlinable package init() {}

    @inlinable package var count: Int { self.places.count }
    @inlinable package var isEmpty: Bool { self.places.isEmpty }

    @inlinable package subscript(key: Key) -> Value? {
        get { self.places[key].flatMap { self.slots[$0]?.value } }
        set {
            switch (self.places[key], newValue) {
            case (let place?, let value?):
                self.slots[place]?.value = value
            case (let place?, nil):
                self.slots[place] = nil
                self.places[key] = nil
                self.free.append(place)
            case (nil, let value?):
                let place = self.free.popLast() ?? self.slots.count
                if place == self.slots.count { self.slots.append(nil) }
                self.slots[place] = Slot(key: key, value: value)
                self.places[key] = place
            case (nil, nil):
                break
            }
        }
    }

    /// Changes a value where it stands, without copying it; returns nil when the key is absent.
    @discardableResult
    @inlinable package mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result?
    {
        guard let place = self.places[key] else { return nil }
        return self.slots[place].updated { change(&$0.value) }
    }

    /// Keys and values in the table's order.
    @inlinable package var entries: [(key: Key, value: Value)] {
        self.slots.compactMap { slot in slot.map { ($0.key, $0.value) } }
    }
    @inlinable package var keys: [Key] { self.slots.compactMap { $0?.key } }
    @inlinable package var values: [Value] { self.slots.compactMap { $0?.value } }
}

extension Optional {
    @inlinable mutating func updated<Result>(_ change: (inout Wrapped) -> Result) -> Result? {
        switch self {
        case .none: return nil
        case .some(var value):
            self = .none  // So that `value` is the only owner while it changes.
            let result = change(&value)
            self = .some(value)
            return result
        }
    }
}
