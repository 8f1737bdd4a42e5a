import EventLoop
import SimBase
import Testing

@Suite struct LoopTimerTests {
    @Test func `a timer is never early and soon enough`() throws {
        let loop = try Loop(clock: .startingNow())
        let lateness = Box<[Interval]>([])
        let timer = Box<LoopTimer?>(nil)
        timer.value = LoopTimer(loop: loop) { due in
            lateness.value.append(loop.now() - due)
            if lateness.value.count < 40 { timer.value?.arm(after: .microseconds(1_300)) }
        }
        timer.value?.arm(after: .microseconds(1_300))
        #expect(run(loop, until: { lateness.value.count == 40 }))
        timer.value = nil
        #expect(lateness.value.allSatisfy { $0 >= .zero })
        // Some must be precise even on a busy machine; with libevent's usual timer none is.
        let sorted = lateness.value.sorted()
        #expect(sorted[4] < .microseconds(600))
    }

    @Test func `arming replaces and disarming forgets`() throws {
        let loop = try Loop(clock: .startingNow())
        let fired = Box<[String]>([])
        let moved = LoopTimer(loop: loop) { _ in fired.value.append("moved") }
        let dropped = LoopTimer(loop: loop) { _ in fired.value.append("dropped") }
        let fixed = LoopTimer(loop: loop) { _ in fired.value.append("fixed") }
        let start = loop.now()
        moved.arm(at: start + .milliseconds(5))
        dropped.arm(at: start + .milliseconds(5))
        fixed.arm(at: start + .milliseconds(10))
        moved.arm(at: start + .milliseconds(20))
        dropped.disarm()
        #expect(moved.armedFor == start + .milliseconds(20))
        #expect(dropped.armedFor == nil)
        #expect(run(loop, until: { moved.armedFor == nil }))
        #expect(fired.value == ["fixed", "moved"])
    }

    @Test func `a moment in the past comes up in the next turn`() throws {
        let loop = try Loop(clock: .startingNow())
        let seen = Box<Instant?>(nil)
        let timer = LoopTimer(loop: loop) { seen.value = $0 }
        timer.arm(at: Instant(nanoseconds: -5))
        #expect(seen.value == nil)
        loop.poll()
        #expect(seen.value == Instant(nanoseconds: -5))
    }

    @Test func `a timer that was due and is put off does not fire`() throws {
        let loop = try Loop(clock: .startingNow())
        let fired = Box(0)
        let timer = LoopTimer(loop: loop) { _ in fired.value += 1 }
        timer.arm(at: .zero)
        timer.arm(after: .seconds(60))
        loop.poll()
        #expect(fired.value == 0)
        timer.arm(at: .zero)
        loop.poll()
        #expect(fired.value == 1)
    }

    @Test func `a timer let go while armed does not fire`() throws {
        let loop = try Loop(clock: .startingNow())
        let fired = Box(0)
        var timer: LoopTimer? = LoopTimer(loop: loop) { _ in fired.value += 1 }
        timer?.arm(at: .zero)
        timer = nil
        loop.poll()
        #expect(fired.value == 0)
    }

    @Test func `a stopped loop stays stopped`() throws {
        let loop = try Loop(clock: .startingNow())
        let fired = Box(0)
        let timer = LoopTimer(loop: loop) { _ in
            fired.value += 1
            loop.stop()
        }
        timer.arm(at: .zero)
        loop.run()
        timer.arm(at: .zero)
        loop.run()
        #expect(loop.runOnce() == false)
        #expect(fired.value == 1)
    }
}
