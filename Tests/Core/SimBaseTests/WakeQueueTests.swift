import SimBase
import Testing

@Suite struct WakeQueueTests {
    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    private func drain(_ queue: inout WakeQueue, until end: Instant) -> [Int] {
        var keys: [Int] = []
        while let (key, _) = queue.popDue(at: end) { keys.append(key) }
        return keys
    }

    @Test func `setting replaces: earlier, later and not at all`() {
        var queue = WakeQueue(keys: 2)
        queue.set(key: 0, at: self.at(5))
        queue.set(key: 1, at: self.at(1))
        queue.set(key: 2, at: self.at(2))
        queue.set(key: 0, at: self.at(3))  // Earlier.
        queue.set(key: 1, at: self.at(4))  // Later.
        queue.set(key: 2, at: nil)
        #expect(queue.nextDue() == self.at(3))
        #expect(self.drain(&queue, until: self.at(9)) == [0, 1])
        #expect(queue.nextDue() == nil)
    }

    @Test func `of equal moments the one that was queued first comes first`() {
        var queue = WakeQueue(keys: 4)
        for key in [2, 0, 3, 1] { queue.set(key: key, at: self.at(1)) }
        #expect(self.drain(&queue, until: self.at(1)) == [2, 0, 3, 1])
    }

    @Test func `a key that is set again while it waits comes once`() {
        var queue = WakeQueue(keys: 1)
        queue.set(key: 0, at: self.at(5))
        queue.set(key: 0, at: nil)
        queue.set(key: 0, at: self.at(7))
        #expect(queue.popDue(at: self.at(6)) == nil)
        #expect(self.drain(&queue, until: self.at(7)) == [0])
    }

    @Test func `ever earlier moments do not fill it`() {
        var queue = WakeQueue(keys: 3)
        for moment in (0..<10_000).reversed() { queue.set(key: moment % 3, at: self.at(Int64(moment))) }
        #expect(queue.entriesHeld <= 64)
        #expect(self.drain(&queue, until: self.at(3)) == [0, 1, 2])
    }
}

private func == (left: (key: Int, due: Instant)?, right: (key: Int, due: Instant)?) -> Bool {
    left?.key == right?.key && left?.due == right?.due
}
