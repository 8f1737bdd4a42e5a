import CEvent
package import SimBase

/// A one-shot timer that can be armed again and again; arming replaces.
///
/// Never early; how late it is depends on the loop's other work.
package final class LoopTimer {
    private let loop: Loop
    private let handler: (Instant) -> Void
    private var event: EventHandle?
    private var due: Instant?

    /// `handler` is told the moment that the timer was armed for.
    package init(loop: Loop, handler: @escaping (Instant) -> Void) {
        self.loop = loop
        self.handler = handler
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        self.event = unsafe loop.base.makeEvent(
            -1, 0, { _, _, context in unsafe LoopTimer.fired(context) }, context)
    }

    /// The moment that the timer is armed for.
    package var armedFor: Instant? { self.due }

    /// A moment in the past fires in the next turn of the loop.
    package func arm(at moment: Instant) {
        self.due = moment
        // Also what is due already goes through libevent's heap, which is looked at once a turn: an event that is
        // activated by hand runs again in the same turn, and one that always does so starves everything else.
        self.event?.add(after: moment - self.loop.now())
    }

    package func arm(after delay: Interval) { self.arm(at: self.loop.now() + delay) }

    package func disarm() {
        self.due = nil
        self.event?.remove()
    }

    @unsafe private static func fired(_ context: UnsafeMutableRawPointer?) {
        guard let context = unsafe context else { return }
        let timer = unsafe Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue()
        withExtendedLifetime(timer) { timer.fire() }
    }

    private func fire() {
        guard let due = self.due else { return }
        // Early only if the base's clock and ours ever differ.
        guard due <= self.loop.now() else { return self.arm(at: due) }
        self.due = nil
        self.handler(due)
    }
}
