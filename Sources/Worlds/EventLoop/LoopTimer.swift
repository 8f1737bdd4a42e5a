package import SimBase

/// A one-shot timer that can be armed again and again; arming replaces.
///
/// Never early; how late it is depends on the loop's other work.
package final class LoopTimer {
    private let loop: Loop
    private let key: Int

    /// `handler` receives the time that the timer was armed for.
    package init(loop: Loop, handler: @escaping (Instant) -> Void) {
        self.loop = loop
        self.key = loop.addTimer(handler)
    }

    deinit { self.loop.removeTimer(self.key) }

    /// The time that the timer is armed for.
    package var armedFor: Instant? { self.loop.moment(ofTimer: self.key) }

    /// A time in the past fires at the end of this turn of the loop, or in the next one.
    package func arm(at moment: Instant) { self.loop.setTimer(self.key, at: moment) }

    package func arm(after delay: Interval) { self.arm(at: self.loop.now() + delay) }

    package func disarm() { self.loop.setTimer(self.key, at: nil) }
}
