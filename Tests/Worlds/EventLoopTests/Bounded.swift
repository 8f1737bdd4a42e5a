import EventLoop
import SimBase

/// Runs the loop until `condition` holds, or for ten seconds; says whether it held.
func run(_ loop: Loop, until condition: () -> Bool) -> Bool {
    let deadline = loop.now() + .seconds(10)
    let tick = Ticker(loop: loop)
    defer { tick.stop() }
    while !condition() {
        guard loop.now() < deadline else { return false }
        loop.runOnce()
    }
    return true
}

/// Lets the loop go round for a length of time.
func run(_ loop: Loop, for length: Interval) {
    let end = loop.now() + length
    _ = run(loop, until: { loop.now() >= end })
}

/// Wakes the loop, so that a deadline is looked at.
private final class Ticker {
    private var timer: LoopTimer?

    init(loop: Loop) {
        let timer = LoopTimer(loop: loop) { [unowned self] _ in self.timer?.arm(after: .milliseconds(5)) }
        self.timer = timer
        timer.arm(after: .milliseconds(5))
    }

    func stop() { self.timer = nil }
}

/// Something that a handler changes.
final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}
