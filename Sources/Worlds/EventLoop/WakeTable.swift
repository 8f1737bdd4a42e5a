package import SimBase

/// Wake-ups for thousands of keys (small integers, such as a phone's index in its shard), on one timer of the loop.
///
/// Each key has at most one time; setting replaces, and pushing back costs next to nothing: see `WakeQueue`.
package final class WakeTable {
    /// Called with the key, the time it was due at, and how late that is.
    package typealias Handler = (_ key: Int, _ due: Instant, _ lateness: Interval) -> Void

    /// Wake-ups handled in one turn, so that keys that are always due do not starve the sockets.
    private static let wakesPerTurnMax = 1_024

    private let loop: Loop
    private let handler: Handler
    private var timer: LoopTimer?
    private var queue: WakeQueue
    private var isFiring = false

    /// `keys` is how many keys there are, numbered from 0; the table grows when a higher one is set.
    package init(loop: Loop, keys: Int, handler: @escaping Handler) {
        self.loop = loop
        self.handler = handler
        self.queue = WakeQueue(keys: keys)
        self.timer = LoopTimer(loop: loop) { [unowned self] _ in self.fire() }
    }

    /// Arms the key for a time, or disarms it with nil.
    package func set(key: Int, at moment: Instant?) {
        self.queue.set(key: key, at: moment)
        guard let moment else { return }
        // Nearly always the timer is armed for another key, which is due before this one.
        if let armed = self.timer?.armedFor, armed <= moment { return }
        self.armTimer()
    }

    /// The time at which the key is due.
    package subscript(key: Int) -> Instant? { self.queue[key] }

    /// Entries in the heap, stale ones included.
    package var entriesHeld: Int { self.queue.entriesHeld }

    private func armTimer() {
        // While firing, the timer is armed once at the end.
        guard !self.isFiring, let next = self.queue.nextAt else { return }
        if let armed = self.timer?.armedFor, armed <= next { return }
        self.timer?.arm(at: next)
    }

    private func fire() {
        self.isFiring = true
        let now = self.loop.now()
        var fired = 0
        while fired < Self.wakesPerTurnMax, let (key, due) = self.queue.popDue(at: now) {
            fired += 1
            self.handler(key, due, self.loop.now() - due)
        }
        self.isFiring = false
        self.armTimer()
    }
}
