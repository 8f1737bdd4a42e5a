/// A table that answers by key and iterates in an order that is the same in every process: that of its indexes.
///
/// An index is taken by insertion; removing frees it in O(1) and the next insertion takes it again.
public struct SlotMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline struct Slot: Sendable {
        @usableFromInline var key: Key
        @usableFromInline var value: Value

        @inlinable init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }

        @inlinable mutating func change<Result>(_ change: (inout Value) -> Result) -> Result {
            change(&self.value)
        }

        @inlinable func look<Result>(_ look: (borrowing Value) -> Result) -> Result { look(self.value) }
    }

    @usableFromInline var indexes: [Key: Int] = [:]
    @usableFromInline var slots: [Slot?] = []
    @usableFromInline var free: [Int] = []
    /// The index that was last changed: what is done to a value comes in a row, and to look for its key costs more.
    @usableFromInline var recent: (key: Key, index: Int)?

    /// Creates an empty map.
    @inlinable public init() {}

    /// The number of keys.
    @inlinable public var count: Int { self.indexes.count }
    /// Whether there is not a key.
    @inlinable public var isEmpty: Bool { self.indexes.isEmpty }

    /// The value of a key; nil takes it out.
    @inlinable public subscript(key: Key) -> Value? {
        get { self.index(of: key).flatMap { self.slots[$0]?.value } }
        set {
            switch (self.index(of: key), newValue) {
            case (let index?, let value?):
                self.slots[index]?.value = value
            case (let index?, nil):
                self.slots[index] = nil
                self.indexes[key] = nil
                self.recent = nil
                self.free.append(index)
            case (nil, let value?):
                let index = self.free.popLast() ?? self.slots.count
                if index == self.slots.count { self.slots.append(nil) }
                self.slots[index] = Slot(key: key, value: value)
                self.indexes[key] = index
            case (nil, nil):
                break
            }
        }
    }

    /// Changes a value in place, without copying it; returns nil when the key is absent.
    @discardableResult
    @inlinable public mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let index = self.index(of: key) else { return nil }
        if self.recent?.index != index { self.recent = (key, index) }
        return self.slots[index]?.change(change)
    }

    /// Reads a value in place, without copying it; returns nil if the key is absent.
    @inlinable public func with<Result>(_ key: Key, _ look: (borrowing Value) -> Result) -> Result? {
        guard let index = self.index(of: key) else { return nil }
        return self.slots[index]?.look(look)
    }

    @inlinable func index(of key: Key) -> Int? {
        if let recent = self.recent, recent.key == key { return recent.index }
        return self.indexes[key]
    }

    /// Keys and values in the table's order.
    @inlinable public var entries: [(key: Key, value: Value)] {
        self.slots.compactMap { slot in slot.map { ($0.key, $0.value) } }
    }
    /// Keys in the table's order.
    @inlinable public var keys: [Key] { self.slots.compactMap { $0?.key } }
    /// Values in the table's order.
    @inlinable public var values: [Value] { self.slots.compactMap { $0?.value } }
}
