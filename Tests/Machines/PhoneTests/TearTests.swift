import Faults
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing

/// A flush is a sequence of records, and a fault may come between any two of them.
@Suite struct TearTests {
    private func stored(_ bench: Bench) -> [UInt32] { (bench.phone.stored ?? []).map(\.scan).sorted() }

    private func booksAdded(_ seen: [PhoneObservation]) -> [Int] {
        seen.compactMap { if case .bookAdded(let ordinal, _) = $0 { ordinal } else { nil } }
    }

    private func booksRepeated(_ seen: [PhoneObservation]) -> [Int] {
        seen.compactMap { if case .bookRepeated(let ordinal, _) = $0 { ordinal } else { nil } }
    }

    /// A phone whose job has just reported this many books; nothing of that is flushed.
    private func completing(books: Int, seed: UInt64 = 7, after trigger: PhoneTrigger? = nil) -> Bench {
        var bench = Bench(seed: seed)
        if let trigger { bench.act(.begins(bench.window(.kill, from: 0, to: 2, after: trigger))) }
        bench.capture()
        bench.flush()
        bench.accept()
        bench.flush()
        bench.complete(books: books)
        return bench
    }

    /// The next process takes the scan up, receives the end of the job once more, and makes everything
    /// durable.
    private func relaunched(_ bench: inout Bench, books: Int) -> [PhoneObservation] {
        _ = bench.take()
        bench.now = bench.now + .seconds(2)
        bench.act(.ends(bench.window(.kill, from: 0, to: 2)))
        bench.complete(books: books)
        bench.flush()
        return bench.seen
    }

    @Test func `of the writes under way a kill leaves none, some or all, and what is left was seen`() {
        var kept: [Int] = []
        for seed in UInt64(0)..<80 {
            var bench = Bench(seed: seed)
            for _ in 0..<3 { bench.capture() }
            _ = bench.take()
            bench.act(.begins(bench.window(.kill, from: 1, to: 3)))
            let stored = self.stored(bench)
            #expect(stored == Array([1, 2, 3].prefix(stored.count)), "in the order of the writes")
            #expect(bench.seen.count { $0 == .queued(.captured) } == stored.count)
            #expect(bench.wanted.count { $0 == "write" } == stored.count)
            #expect(!bench.wanted.contains("send upload"), "a process that is gone asks for nothing")
            kept.append(stored.count)
        }
        for count in 0...3 { #expect((8...32).contains(kept.count { $0 == count }), "\(count)") }
    }

    @Test func `of the writes under way a storage that runs full takes none, some or all`() {
        var kept: [Int] = []
        for seed in UInt64(0)..<80 {
            var bench = Bench(seed: seed)
            for _ in 0..<3 { bench.capture() }
            _ = bench.take()
            let window = bench.window(.storageFull, from: 1, to: 3)
            bench.act(.begins(window))
            bench.flush()
            let stored = self.stored(bench)
            #expect(stored == Array([1, 2, 3].prefix(stored.count)))
            #expect(bench.seen.count { $0 == .queued(.captured) } == stored.count)
            let refused = PhoneObservation.refused(code: "STORAGE_FULL", cause: .storage)
            #expect(bench.seen.count { $0 == refused } == 3 - stored.count)
            bench.act(.ends(window))
            bench.flush()
            #expect(self.stored(bench) == stored, "what was refused does not come back")
            kept.append(stored.count)
        }
        for count in 0...3 { #expect((8...32).contains(kept.count { $0 == count }), "\(count)") }
    }

    @Test func `a kill after so many records comes directly behind the last of them`() {
        var bench = Bench()
        bench.act(.begins(bench.window(.kill, from: 0, to: 2, after: .afterRecords(3))))
        #expect(bench.phone.isAlive)
        bench.capture()
        bench.flush()
        bench.now = .zero + .seconds(5)
        for _ in 0..<3 { bench.capture() }
        _ = bench.take()
        bench.handle(.flushing)
        #expect(self.stored(bench) == [1, 2, 3])
        let kept = PhoneObservation.recordKept(job: nil, lastEventID: nil, decided: false)
        #expect(bench.seen == [.queued(.captured), .queued(.captured), .killed, kept, kept, kept])
        #expect(
            bench.wanted == ["write", "write", "flush now", "park", "forget process", "schedule 7000"],
            "it is dead for as long as its window is")
        bench.handle(.flushed)
        #expect(!bench.phone.isAlive)
    }

    @Test func `the records of an earlier process do not count, and one kill is one kill`() {
        var bench = Bench()
        let first = bench.window(.kill, from: 0, to: 2, after: .afterRecords(1))
        bench.act(.begins(first))
        bench.act(.begins(bench.window(.kill, from: 0, to: 2, after: .afterRecords(2))))
        bench.capture()
        bench.flush()
        #expect(!bench.phone.isAlive)
        bench.act(.ends(first))
        bench.capture()
        bench.flush()
        #expect(bench.phone.isAlive, "this process has written one")
        bench.capture()
        bench.flush()
        #expect(!bench.phone.isAlive)
        bench.act(.ends(first))
        for _ in 0..<5 { bench.capture() }
        bench.flush()
        #expect(bench.phone.isAlive, "each of the two has come")
    }

    @Test func `a storage that runs full after so many records holds the rest of the flush back`() {
        var bench = Bench()
        let window = bench.window(.storageFull, from: 0, to: 2, after: .afterRecords(2))
        bench.act(.begins(window))
        for _ in 0..<3 { bench.capture() }
        _ = bench.take()
        bench.flush()
        #expect(self.stored(bench) == [1, 2])
        #expect(bench.seen.contains(.storageFilled))
        #expect(bench.seen.contains(.refused(code: "STORAGE_FULL", cause: .storage)))
        #expect(bench.seen.count { $0 == .queued(.captured) } == 2)
    }

    @Test func `a kill behind the 202 leaves a scan without a job`() {
        var bench = Bench()
        bench.act(.begins(bench.window(.kill, from: 0, to: 2, after: .afterStep(.accepted))))
        bench.capture()
        bench.flush()
        _ = bench.take()
        bench.accept()
        #expect(!bench.phone.isAlive)
        #expect(bench.seen.contains { if case .uploadAccepted = $0 { true } else { false } })
        #expect(bench.phone.stored?.map { $0.job == nil } == [true])
        bench.act(.ends(bench.window(.kill, from: 0, to: 2)))
        _ = bench.take()
        bench.accept()
        #expect(bench.wanted.contains("send upload"))
    }

    @Test func `a kill between two books of a result keeps those before it, and none is added twice`() {
        var kept: Set<Int> = []
        for seed in UInt64(0)..<40 {
            var bench = self.completing(books: 4, seed: seed, after: .afterStep(.book))
            _ = bench.take()
            bench.flush()
            let before = self.booksAdded(bench.seen)
            #expect(bench.seen.dropLast().last == .killed, "what is said after it is what it leaves")
            #expect(before == Array(0..<before.count) && (1...3).contains(before.count))
            #expect(bench.phone.stored?.first?.booksApplied.count == before.count)
            #expect(bench.phone.stored?.first?.completed == false)
            let seen = self.relaunched(&bench, books: 4)
            #expect(self.booksRepeated(seen) == before)
            #expect(self.booksAdded(seen) == Array(before.count..<4))
            kept.insert(before.count)
        }
        #expect(kept == [1, 2, 3])
    }

    @Test func `a kill behind the last book leaves a scan that is not completed`() {
        var bench = self.completing(books: 3, after: .afterStep(.lastBook))
        bench.flush()
        #expect(self.booksAdded(bench.seen) == [0, 1, 2])
        #expect(!bench.phone.isAlive)
        #expect(bench.phone.stored?.first?.completed == false)
        let seen = self.relaunched(&bench, books: 3)
        #expect(self.booksRepeated(seen) == [0, 1, 2])
        #expect(self.booksAdded(seen) == [])
        #expect(seen.contains { if case .completed = $0 { true } else { false } })
    }

    @Test func `a kill behind the completion comes before the DELETE, which the next process sends`() {
        var bench = self.completing(books: 3, after: .afterStep(.completed))
        bench.flush()
        #expect(bench.seen.contains { if case .completed = $0 { true } else { false } })
        #expect(bench.phone.stored?.first?.completed == true)
        #expect(bench.request(.cleanup) == nil)
        #expect(!bench.seen.contains { if case .requestSent(.cleanup, _, _, _) = $0 { true } else { false } })
        _ = bench.take()
        bench.act(.ends(bench.window(.kill, from: 0, to: 2)))
        #expect(bench.wanted.contains("send cleanup"))
        #expect(!bench.seen.contains { if case .completed = $0 { true } else { false } }, "that was seen")
    }

    @Test func `wherever a result is torn, every book is in the library once and completion comes last`() {
        // The capture, its upload, its job, four books and the completion.
        for tear in 1...8 {
            var bench = self.completing(books: 4, after: .afterRecords(tear))
            bench.flush()
            #expect(!bench.phone.isAlive, "\(tear)")
            var added = self.booksAdded(bench.seen)
            let isCompleted = bench.seen.contains { if case .completed = $0 { true } else { false } }
            #expect(!isCompleted || added.count == 4, "\(tear)")
            if bench.phone.stored?.first?.job != nil, !isCompleted {
                added += self.booksAdded(self.relaunched(&bench, books: 4))
                #expect(added == [0, 1, 2, 3], "\(tear)")
            }
        }
    }

    @Test func `a photo that cannot be used is refused once that is durable, and never comes back`() {
        for seed in UInt64(0)..<20 {
            var bench = Bench(seed: seed)
            bench.capture()
            bench.flush()
            _ = bench.take()
            bench.handle(app: .photoRejected(scan: ScanNumber(1), reason: "too dark"))
            let refused = PhoneObservation.refused(code: "PHOTO_UNUSABLE", cause: .photo)
            #expect(!bench.seen.contains(refused))
            bench.act(.begins(bench.window(.kill, from: 1, to: 3)))
            #expect(bench.seen.contains(refused) == self.stored(bench).isEmpty)
        }
    }

    @Test func `nothing that waits comes once the run is over, or the phone is healed`() {
        for ends in [PhoneEvent.runEnded, .faultsEnded] {
            var bench = Bench()
            bench.act(.begins(bench.window(.kill, from: 0, to: 2, after: .afterRecords(1))))
            bench.capture()
            bench.handle(ends)
            bench.flush()
            #expect(bench.phone.isAlive)
        }
    }
}
