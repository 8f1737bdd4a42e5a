/// What is due when: a binary heap ordered by (moment, order of insertion), so that ties are broken the same way
/// in every process.
public struct EventHeap<Element: Sendable>: Sendable {
    @usableFromInline struct Entry: Sendable {
        @usableFromInline var at: Instant
        @usableFromInline var sequence: UInt64
        @usableFromInline var element: Element

        @inlinable init(at: Instant, sequence: UInt64, element: Element) {
            self.at = at
            self.sequence = sequence
            self.element = element
        }

        @inlinable func comes(before other: Entry) -> Bool {
            self.at != other.at ? self.at < other.at : self.sequence < other.sequence
        }
    }

    @usableFromInline var entries: [Entry] = []
    @usableFromInline var inserted: UInt64 = 0

    /// Of nothing.
    @inlinable public init() {}

    /// How many entries wait.
    @inlinable public var count: Int { self.entries.count }
    /// Whether none waits.
    @inlinable public var isEmpty: Bool { self.entries.isEmpty }
    /// When the first entry is due.
    @inlinable public var nextAt: Instant? { self.entries.isEmpty ? nil : self.entries[0].at }
    /// What `popFirst` would take.
    @inlinable public var next: (at: Instant, element: Element)? {
        self.entries.isEmpty ? nil : (self.entries[0].at, self.entries[0].element)
    }

    /// Adds an entry behind those of the same moment.
    @inlinable public mutating func insert(_ element: Element, at: Instant) {
        self.entries.append(Entry(at: at, sequence: self.inserted, element: element))
        self.inserted += 1
        self.siftUp(from: self.entries.count - 1)
    }

    /// Adds an entry behind those of the same moment with the same tie or a lower one: 24 bits of it count. No heap is
    /// told of more than 2^40 entries.
    @inlinable public mutating func insert(_ element: Element, at: Instant, tie: UInt64) {
        let sequence = (tie & 0xFF_FFFF) << 40 | self.inserted
        self.entries.append(Entry(at: at, sequence: sequence, element: element))
        self.inserted += 1
        self.siftUp(from: self.entries.count - 1)
    }

    /// Takes the first entry if it is due at `now` or before.
    @inlinable public mutating func popDue(at now: Instant) -> (at: Instant, element: Element)? {
        guard !self.entries.isEmpty, self.entries[0].at <= now else { return nil }
        return self.popFirst()
    }

    /// Takes the first entry.
    @inlinable public mutating func popFirst() -> (at: Instant, element: Element)? {
        guard !self.entries.isEmpty else { return nil }
        // To the end and off it: moved, where a copy would count references.
        if self.entries.count > 1 { self.entries.swapAt(0, self.entries.count - 1) }
        let first = self.entries.removeLast()
        if self.entries.count > 1 { self.siftDown(from: 0) }
        return (first.at, first.element)
    }

    @inlinable mutating func siftUp(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.entries[child].comes(before: self.entries[parent]) else { return }
            self.entries.swapAt(child, parent)
            child = parent
        }
    }

    @inlinable mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            let left = 2 * parent + 1
            guard left < self.entries.count else { return }
            let right = left + 1
            var least = left
            if right < self.entries.count, self.entries[right].comes(before: self.entries[left]) {
                least = right
            }
            guard self.entries[least].comes(before: self.entries[parent]) else { return }
            self.entries.swapAt(least, parent)
            parent = least
        }
    }
}
