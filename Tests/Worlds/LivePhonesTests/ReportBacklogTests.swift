import EventLoop
import Testing

@testable import LivePhones

@Suite struct ReportBacklogTests {
    /// Waits until something holds that another thread brings about; the limit is only there so that a failure ends.
    private func isReached(_ holds: () -> Bool) -> Bool {
        for _ in 0..<10_000 where !holds() { CurrentThread.pause(milliseconds: 1) }
        return holds()
    }

    @Test func `who has reported too much waits until enough of it is judged`() throws {
        let backlog = ReportBacklog(most: 100)
        let rounds = Guarded(0)
        let thread = try LoopThread.start(name: "reporter") {
            for _ in 0..<5 {
                backlog.add(60)
                backlog.wait()
                rounds.withLock { $0 += 1 }
            }
        }
        #expect(self.isReached { backlog.isFull })
        CurrentThread.pause(milliseconds: 30)
        #expect(rounds.withLock { $0 } == 1, "120 of 100 wait")
        backlog.remove(60)
        #expect(self.isReached { rounds.withLock { $0 } == 2 && backlog.isFull })
        CurrentThread.pause(milliseconds: 30)
        #expect(rounds.withLock { $0 } == 2)
        backlog.abandon()
        thread.join()
        #expect(rounds.withLock { $0 } == 5, "nobody waits for who has gone")
    }
}
