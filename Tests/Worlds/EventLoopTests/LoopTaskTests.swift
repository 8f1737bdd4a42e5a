import EventLoop
import SimBase
import SystemIO
import Testing

@Suite struct LoopTaskTests {
    @Test func `a task runs once, at the end of the turn that scheduled it`() throws {
        let loop = try Loop(clock: .startingNow())
        let order = Box<[String]>([])
        let task = LoopTask(loop: loop) { order.value.append("task") }
        let timers = (0..<3).map { number in
            LoopTimer(loop: loop) { _ in
                order.value.append("timer \(number)")
                task.schedule()
            }
        }
        for timer in timers { timer.arm(at: .zero) }
        loop.poll()
        #expect(order.value.count == 4)
        #expect(order.value.last == "task")
        loop.poll()
        #expect(order.value.count == 4)
    }

    @Test func `a loop that has a task does not wait`() throws {
        let loop = try Loop(clock: .startingNow())
        let runs = Box(0)
        let task = LoopTask(loop: loop) { runs.value += 1 }
        task.schedule()
        // Nothing else would ever end the wait.
        loop.runOnce()
        #expect(runs.value == 1)
    }

    @Test func `a task that always schedules itself leaves the sockets and timers their turn`() throws {
        let loop = try Loop(clock: .startingNow())
        let task = Box<LoopTask?>(nil)
        task.value = LoopTask(loop: loop) { task.value?.schedule() }
        task.value?.schedule()
        let pipe = try Pipe()
        _ = DescriptorIO.write(pipe.writing.number, [1])
        let (read, fired) = (Box(0), Box(0))
        let watch = loop.watch(pipe.reading.number, .read) { _ in read.value += 1 }
        let timer = LoopTimer(loop: loop) { _ in fired.value += 1 }
        timer.arm(at: .zero)
        loop.poll()
        loop.poll()
        #expect(read.value == 2)
        #expect(fired.value == 1)
        watch.cancel()
        task.value = nil
    }

    @Test func `a task that is let go does not run`() throws {
        let loop = try Loop(clock: .startingNow())
        let runs = Box(0)
        var task: LoopTask? = LoopTask(loop: loop) { runs.value += 1 }
        task?.schedule()
        task = nil
        loop.poll()
        #expect(task == nil)
        #expect(runs.value == 0)
    }

    @Test func `a timer that always fires at once leaves the sockets their turn`() throws {
        let loop = try Loop(clock: .startingNow())
        let fired = Box(0)
        let timer = Box<LoopTimer?>(nil)
        timer.value = LoopTimer(loop: loop) { _ in
            fired.value += 1
            timer.value?.arm(at: .zero)
        }
        timer.value?.arm(at: .zero)
        for _ in 0..<5 { loop.poll() }
        #expect((5...10).contains(fired.value))
        timer.value = nil
    }
}
