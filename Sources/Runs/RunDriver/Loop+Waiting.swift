package import EventLoop
package import SimBase

/// Holds a value that is known later than the closure that needs it.
package final class Box<Value> {
    package var value: Value
    package init(_ value: Value) { self.value = value }
}

extension Loop {
    /// Turns the loop until something holds or the time is over; returns whether it held.
    package func turn(until holds: () -> Bool, atMost time: Interval) -> Bool {
        let end = self.now() + time
        let timer = LoopTimer(loop: self) { _ in }
        while !holds() {
            guard self.now() < end else { return false }
            timer.arm(at: min(end, self.now() + .milliseconds(50)))
            self.runOnce()
        }
        return true
    }
}
