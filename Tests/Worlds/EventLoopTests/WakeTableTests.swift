import EventLoop
import SimBase
import SystemIO
import Testing

@Suite struct WakeTableTests {
    private struct Wake: Equatable {
        var key: Int
        var due: Instant
    }

    @Test func `thousands of keys come up in the order of their moments, none early`() throws {
        let loop = try Loop(clock: .startingNow())
        let wakes = Box<[Wake]>([])
        let early = Box(0)
        let table = WakeTable(loop: loop, keys: 3_000) { key, due, lateness in
            wakes.value.append(Wake(key: key, due: due))
            if lateness < .zero || due > loop.now() { early.value += 1 }
        }
        let start = loop.now()
        let random = KeyedRandom(seed: 7)
        let expected = (0..<3_000).map { key in
            Wake(key: key, due: start + .microseconds(Int64(random.below(60_000, .test, UInt64(key)))))
        }
        for wake in expected { table.set(key: wake.key, at: wake.due) }
        #expect(run(loop, until: { wakes.value.count == 3_000 }))
        #expect(early.value == 0)
        #expect(wakes.value.sorted { $0.key < $1.key } == expected)
        #expect(zip(wakes.value, wakes.value.dropFirst()).allSatisfy { $0.due <= $1.due })
    }

    @Test func `the handler is told how late it is`() throws {
        let loop = try Loop(clock: .startingNow())
        let seen = Box<Interval?>(nil)
        let table = WakeTable(loop: loop, keys: 1) { _, _, lateness in seen.value = lateness }
        table.set(key: 0, at: loop.now() - .seconds(3))
        loop.poll()
        let lateness = try #require(seen.value)
        #expect(lateness >= .seconds(3) && lateness < .seconds(13))
    }

    @Test func `setting replaces: earlier, later and not at all`() throws {
        let loop = try Loop(clock: .startingNow())
        let wakes = Box<[Wake]>([])
        let table = WakeTable(loop: loop, keys: 0) { key, due, _ in
            wakes.value.append(Wake(key: key, due: due))
        }
        let start = loop.now()
        let at = { (milliseconds: Int64) in start + .milliseconds(milliseconds) }
        table.set(key: 1, at: at(30))
        table.set(key: 1, at: at(10))  // Earlier.
        table.set(key: 2, at: at(5))
        table.set(key: 2, at: at(20))  // Later.
        table.set(key: 3, at: at(5))
        table.set(key: 3, at: nil)
        table.set(key: 4, at: at(5))
        table.set(key: 4, at: nil)
        table.set(key: 4, at: at(40))
        #expect((0...5).map { table[$0] } == [nil, at(10), at(20), nil, at(40), nil])
        #expect(run(loop, until: { wakes.value.count == 3 }))
        run(loop, for: .milliseconds(10))
        #expect(
            wakes.value == [
                Wake(key: 1, due: at(10)), Wake(key: 2, due: at(20)), Wake(key: 4, due: at(40)),
            ])
        #expect(table[1] == nil)
    }

    @Test func `a key may set itself and others while it fires`() throws {
        let loop = try Loop(clock: .startingNow())
        let wakes = Box<[Int]>([])
        let table = Box<WakeTable?>(nil)
        table.value = WakeTable(loop: loop, keys: 3) { key, _, _ in
            wakes.value.append(key)
            if key == 0, wakes.value.count < 3 { table.value?.set(key: 0, at: loop.now()) }
            if key == 0 { table.value?.set(key: 1, at: nil) }
        }
        table.value?.set(key: 0, at: .zero)
        table.value?.set(key: 1, at: .zero + .nanoseconds(1))
        table.value?.set(key: 2, at: .zero + .nanoseconds(2))
        #expect(run(loop, until: { wakes.value.count == 3 }))
        run(loop, for: .milliseconds(5))
        table.value = nil
        #expect(wakes.value == [0, 2, 0])
    }

    @Test func `keys that are always due starve no socket`() throws {
        let loop = try Loop(clock: .startingNow())
        let table = Box<WakeTable?>(nil)
        table.value = WakeTable(loop: loop, keys: 2_000) { key, _, _ in
            table.value?.set(key: key, at: .zero)
        }
        for key in 0..<2_000 { table.value?.set(key: key, at: .zero) }
        let pipe = try Pipe()
        let isReady = Box(false)
        let watch = loop.watch(pipe.reading.number, .read) { _ in isReady.value = true }
        _ = DescriptorIO.write(pipe.writing.number, [1])
        #expect(run(loop, until: { isReady.value }))
        watch.cancel()
        table.value = nil
    }

    @Test func `moving wake-ups back and forth keeps the heap small and loses none`() throws {
        let loop = try Loop(clock: .startingNow())
        let wakes = Box<[Int]>([])
        let table = WakeTable(loop: loop, keys: 4) { key, _, _ in wakes.value.append(key) }
        let far = loop.now() + .hours(1)
        // Ever earlier: every step leaves a stale entry.
        for step in 0..<10_000 {
            for key in 0..<4 { table.set(key: key, at: far - .microseconds(Int64(step))) }
        }
        #expect(table.entriesHeld <= 64)
        for key in 0..<4 { table.set(key: key, at: loop.now() + .milliseconds(Int64(2 * key))) }
        #expect(run(loop, until: { wakes.value.count == 4 }))
        run(loop, for: .milliseconds(5))
        #expect(wakes.value == [0, 1, 2, 3])
    }
}
