/// The wake-up times of keys (small integers, such as a phone's index in a fleet).
///
/// Each key has at most one time; setting replaces it. Pushing a time back, as every event of a stream does
/// with its idle timeout, costs no heap operation: the entry stays in the heap and is reinserted when it
/// comes up. Of equal times, that of the key with the lowest tie comes first, and of these the one whose
/// entry was queued first.
public struct WakeQueue: Sendable {
    @usableFromInline struct Slot: Sendable {
        /// The time at which the key is due.
        @usableFromInline var wanted: Instant?
        /// The time of the key's live entry in the heap; never after `wanted`.
        @usableFromInline var queued: Instant?
        /// Entries with another generation are stale.
        @usableFromInline var generation: UInt32 = 0
        /// What decides between equal times: 24 bits of it count.
        @usableFromInline var tie: UInt64 = 0

        @inlinable init() {}
    }

    @usableFromInline struct Entry: Sendable {
        /// The key, in half the room: the heap is as large as a fleet.
        @usableFromInline var number: UInt32
        @usableFromInline var generation: UInt32

        @inlinable init(key: Int, generation: UInt32) {
            self.number = UInt32(key)
            self.generation = generation
        }

        @inlinable var key: Int { Int(self.number) }
    }

    /// The heap is rebuilt when it holds this many entries for each key (and at least `staleMin`).
    @usableFromInline static let entriesPerKeyMax = 4
    @usableFromInline static let staleMin = 64

    @usableFromInline var slots: [Slot]
    @usableFromInline var heap = EventHeap<Entry>()

    /// `keys` is how many keys there are, numbered from 0; the table grows when a higher one is set.
    @inlinable public init(keys: Int) {
        self.slots = Array(repeating: Slot(), count: keys)
    }

    /// Arms the key for a time, or disarms it with nil.
    @inlinable public mutating func set(key: Int, at moment: Instant?) {
        precondition(key >= 0, "keys are numbered from 0")
        while key >= self.slots.count { self.slots.append(Slot()) }
        self.slots[key].wanted = moment
        guard let moment else { return }
        if let queued = self.slots[key].queued, queued <= moment { return }
        self.queue(key, at: moment)
    }

    /// Arms the key, and has it come behind those of the same time with a lower tie: the order in which
    /// entries are queued is not one to rely on.
    @inlinable public mutating func set(key: Int, at moment: Instant?, tie: UInt64) {
        precondition(key >= 0, "keys are numbered from 0")
        while key >= self.slots.count { self.slots.append(Slot()) }
        if self.slots[key].tie != tie {
            // The entry of another tie is none of this one's.
            self.slots[key].tie = tie
            self.slots[key].queued = nil
        }
        self.set(key: key, at: moment)
    }

    /// The time at which the key is due.
    @inlinable public subscript(key: Int) -> Instant? {
        self.slots.indices.contains(key) ? self.slots[key].wanted : nil
    }

    /// Entries in the heap, stale ones included.
    @inlinable public var entriesHeld: Int { self.heap.count }

    /// The latest time for the next check: no key is due earlier. It may be too early.
    @inlinable public var nextAt: Instant? { self.heap.nextAt }

    /// Returns the time at which the first key is due, and drops stale entries.
    @inlinable public mutating func nextDue() -> Instant? {
        while let (at, entry) = self.heap.next {
            guard self.slots[entry.key].generation == entry.generation,
                let wanted = self.slots[entry.key].wanted
            else {
                _ = self.heap.popFirst()
                if self.slots[entry.key].generation == entry.generation {
                    self.slots[entry.key].queued = nil
                }
                continue
            }
            if wanted <= at { return at }
            _ = self.heap.popFirst()
            self.slots[entry.key].queued = nil
            self.queue(entry.key, at: wanted)
        }
        return nil
    }

    /// Takes the first key that is due at `now` or before, and disarms it.
    @inlinable public mutating func popDue(at now: Instant) -> (key: Int, due: Instant)? {
        guard let next = self.nextDue(), next <= now, let (_, entry) = self.heap.popFirst() else {
            return nil
        }
        let due = self.slots[entry.key].wanted ?? next
        self.slots[entry.key].queued = nil
        self.slots[entry.key].wanted = nil
        return (entry.key, due)
    }

    @inlinable mutating func queue(_ key: Int, at moment: Instant) {
        self.slots[key].generation &+= 1
        self.slots[key].queued = moment
        self.heap.insert(
            Entry(key: key, generation: self.slots[key].generation), at: moment, tie: self.slots[key].tie)
        let entriesMax = max(Self.staleMin, self.slots.count * Self.entriesPerKeyMax)
        if self.heap.count > entriesMax { self.rebuild() }
    }

    /// Leaves out the stale entries, which only ever-earlier arming makes.
    @inlinable mutating func rebuild() {
        self.heap = EventHeap()
        for key in self.slots.indices {
            self.slots[key].queued = self.slots[key].wanted
            guard let wanted = self.slots[key].wanted else { continue }
            self.heap.insert(
                Entry(key: key, generation: self.slots[key].generation), at: wanted,
                tie: self.slots[key].tie)
        }
    }
}
