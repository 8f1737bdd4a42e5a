/// A queue of elements by time: a heap ordered by (time, order of insertion), so that ties are broken the
/// same way in every process.
///
/// The heap orders small keys, with four children each: half as many levels as with two, and the children of
/// a key are adjacent. The elements stay where they were put.
public struct EventHeap<Element: Sendable>: Sendable {
    @usableFromInline struct Key: Sendable {
        @usableFromInline var at: Instant
        @usableFromInline var sequence: UInt64
        /// The slot of its element.
        @usableFromInline var slot: Int

        @inlinable init(at: Instant, sequence: UInt64, slot: Int) {
            self.at = at
            self.sequence = sequence
            self.slot = slot
        }

        @inlinable func comes(before other: Key) -> Bool {
            self.at != other.at ? self.at < other.at : self.sequence < other.sequence
        }
    }

    @usableFromInline static var children: Int { 4 }
    /// The heap, and after it keys of the past, whose slots are vacant.
    @usableFromInline var keys: [Key] = []
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var inserted: UInt64 = 0
    @usableFromInline var waiting = 0

    /// Creates an empty heap.
    @inlinable public init() {}

    /// The number of pending entries.
    @inlinable public var count: Int { self.waiting }
    /// Whether none waits.
    @inlinable public var isEmpty: Bool { self.waiting == 0 }
    /// The time at which the first entry is due.
    @inlinable public var nextAt: Instant? { self.isEmpty ? nil : self.keys[0].at }
    /// The entry that `popFirst` would take.
    @inlinable public var next: (at: Instant, element: Element)? {
        guard !self.isEmpty, let element = self.elements[self.keys[0].slot] else { return nil }
        return (self.keys[0].at, element)
    }

    /// Adds an entry behind those of the same time.
    @inlinable public mutating func insert(_ element: consuming Element, at: Instant) {
        self.insert(element, at: at, sequence: self.inserted)
    }

    /// Adds an entry behind those of the same time with the same tie or a lower one: 24 bits of it count. No
    /// heap receives more than 2^40 entries.
    @inlinable public mutating func insert(_ element: consuming Element, at: Instant, tie: UInt64) {
        self.insert(element, at: at, sequence: (tie & 0xFF_FFFF) << 40 | self.inserted)
    }

    @inlinable mutating func insert(_ element: consuming Element, at: Instant, sequence: UInt64) {
        self.inserted += 1
        if self.waiting == self.keys.count {
            self.keys.append(Key(at: at, sequence: sequence, slot: self.elements.count))
            self.elements.append(element)
        } else {
            self.elements[self.keys[self.waiting].slot] = element
        }
        self.waiting += 1
        self.siftUp(Key(at: at, sequence: sequence, slot: self.keys[self.waiting - 1].slot))
    }

    /// Takes the first entry if it is due at `now` or before.
    @inlinable public mutating func popDue(at now: Instant) -> (at: Instant, element: Element)? {
        guard !self.isEmpty, self.keys[0].at <= now else { return nil }
        return self.popFirst()
    }

    /// Takes the first entry.
    @inlinable public mutating func popFirst() -> (at: Instant, element: Element)? {
        guard let at = self.nextAt, let element = self.takeFirst() else { return nil }
        return (at, element)
    }

    /// Removes and returns the first element without its time.
    @inlinable public mutating func takeFirst() -> Element? {
        guard !self.isEmpty else { return nil }
        let first = self.keys[0]
        self.waiting -= 1
        let last = self.keys.take(self.waiting, leaving: first)
        if self.waiting > 0 { self.siftDown(last) }
        return self.elements.take(first.slot, leaving: nil)
    }

    /// Moves a key from the last slot up to its position.
    @inlinable mutating func siftUp(_ key: Key) {
        var hole = self.waiting - 1
        var keys = self.keys.mutableSpan
        while hole > 0 {
            let parent = (hole - 1) / Self.children
            guard key.comes(before: keys[parent]) else { break }
            keys[hole] = keys[parent]
            hole = parent
        }
        keys[hole] = key
    }

    /// Moves a key from the first slot down to its position.
    @inlinable mutating func siftDown(_ key: Key) {
        let count = self.waiting
        var hole = 0
        var keys = self.keys.mutableSpan
        while true {
            var least = Self.children * hole + 1
            guard least < count else { break }
            let end = min(least + Self.children, count)
            var child = least + 1
            while child < end {
                if keys[child].comes(before: keys[least]) { least = child }
                child += 1
            }
            guard keys[least].comes(before: key) else { break }
            keys[hole] = keys[least]
            hole = least
        }
        keys[hole] = key
    }
}
