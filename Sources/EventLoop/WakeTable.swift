package import SimBase

/// Wake-ups for thousands of keys (small integers, such as a phone's place in its shard), on one timer of the loop.
///
/// Each key has at most one moment; setting replaces. Pushing a wake-up back, as every event of a stream does to
/// its idle timeout, costs no heap operation: the entry in the heap stays where it is and is put back when it comes up.
package final class WakeTable {
    /// Called with the key, the moment it was due at, and how late that is.
    package typealias Handler = (_ key: Int, _ due: Instant, _ lateness: Interval) -> Void

    private struct Slot {
        /// When the handler is to be called.
        var wanted: Instant?
        /// When the key's live entry in the heap comes up; never after `wanted`.
        var queued: Instant?
        /// Entries with another generation are stale.
        var generation: UInt32 = 0
    }

    private struct Entry {
        var key: Int
        var generation: UInt32
    }

    /// Wake-ups handled in one turn, so that keys that are always due do not starve the sockets.
    private static let wakesPerTurnMax = 1_024
    /// The heap is rebuilt when it holds this many entries for each key (and at least `staleMin`).
    private static let entriesPerKeyMax = 4
    private static let staleMin = 64

    private let loop: Loop
    private let handler: Handler
    private var timer: LoopTimer?
    private var slots: [Slot]
    private var heap = EventHeap<Entry>()
    private var isFiring = false

    /// `keys` is how many keys there are, numbered from 0; the table grows when a higher one is set.
    package init(loop: Loop, keys: Int, handler: @escaping Handler) {
        self.loop = loop
        self.handler = handler
        self.slots = Array(repeating: Slot(), count: keys)
        self.timer = LoopTimer(loop: loop) { [unowned self] _ in self.fire() }
    }

    /// Arms the key for a moment, or disarms it with nil.
    package func set(key: Int, at moment: Instant?) {
        precondition(key >= 0, "keys are numbered from 0")
        while key >= self.slots.count { self.slots.append(Slot()) }
        self.slots[key].wanted = moment
        guard let moment else { return }
        if let queued = self.slots[key].queued, queued <= moment { return }
        self.queue(key, at: moment)
        self.armTimer()
    }

    /// When the key is due.
    package subscript(key: Int) -> Instant? {
        self.slots.indices.contains(key) ? self.slots[key].wanted : nil
    }

    /// Entries in the heap, stale ones included.
    package var entriesHeld: Int { self.heap.count }

    private func queue(_ key: Int, at moment: Instant) {
        self.slots[key].generation &+= 1
        self.slots[key].queued = moment
        self.heap.insert(Entry(key: key, generation: self.slots[key].generation), at: moment)
        let entriesMax = max(Self.staleMin, self.slots.count * Self.entriesPerKeyMax)
        if self.heap.count > entriesMax { self.rebuild() }
    }

    /// Leaves out the stale entries, which only ever-earlier arming makes.
    private func rebuild() {
        self.heap = EventHeap()
        for key in self.slots.indices {
            self.slots[key].queued = self.slots[key].wanted
            guard let wanted = self.slots[key].wanted else { continue }
            self.heap.insert(Entry(key: key, generation: self.slots[key].generation), at: wanted)
        }
    }

    private func armTimer() {
        // While firing, the timer is armed once at the end.
        guard !self.isFiring, let next = self.heap.nextAt else { return }
        if let armed = self.timer?.armedFor, armed <= next { return }
        self.timer?.arm(at: next)
    }

    private func fire() {
        self.isFiring = true
        let now = self.loop.now()
        var fired = 0
        while fired < Self.wakesPerTurnMax, let (at, entry) = self.heap.popDue(at: now) {
            guard self.slots[entry.key].generation == entry.generation else { continue }
            self.slots[entry.key].queued = nil
            guard let wanted = self.slots[entry.key].wanted else { continue }
            // Pushed back meanwhile: it takes its place anew, also when that is due, so that the order is kept.
            guard wanted <= at else {
                self.queue(entry.key, at: wanted)
                continue
            }
            self.slots[entry.key].wanted = nil
            fired += 1
            self.handler(entry.key, wanted, self.loop.now() - wanted)
        }
        self.isFiring = false
        self.armTimer()
    }
}
