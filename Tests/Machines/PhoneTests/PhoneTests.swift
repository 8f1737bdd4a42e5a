import Faults
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing

@Suite struct PhoneTests {
    // MARK: Storage and kills

    /// The record of a scan without a job.
    private static let kept = PhoneObservation.recordKept(job: nil, lastEventID: nil, decided: false)

    @Test func `what was flushed survives a kill`() {
        var bench = Bench()
        bench.capture()
        bench.flush()
        bench.now = .zero + .seconds(1)
        _ = bench.take()
        let window = bench.window(.kill, from: 1, to: 3)
        bench.act(.begins(window))
        #expect(bench.seen == [.killed, Self.kept])
        #expect(bench.wanted == ["park", "forget process", "schedule 3000"])
        #expect(!bench.phone.isAlive)
        _ = bench.take()
        bench.now = window.to
        bench.act(.ends(window))
        #expect(bench.seen == [.launched(restored: 1), .queued(.captured)])
        #expect(bench.wanted == ["hang up", "prepare"])
    }

    @Test func `a write that nobody acknowledged is kept or lost by a draw, and both happen`() {
        func restored(seed: UInt64) -> Int {
            var bench = Bench(seed: seed)
            bench.capture()
            _ = bench.take()
            let window = bench.window(.kill, from: 1, to: 3)
            bench.act(.begins(window))
            let isKept = bench.wanted.contains("flush now")
            #expect(isKept == bench.seen.contains(.queued(.captured)), "what is durable has been seen")
            bench.act(.ends(window))
            #expect(bench.seen.contains(.launched(restored: isKept ? 1 : 0)))
            return isKept ? 1 : 0
        }
        let outcomes = (UInt64(0)..<40).map(restored)
        #expect((10...30).contains(outcomes.reduce(0, +)))
    }

    @Test func `a process hears nothing of what an earlier one wrote or wanted`() {
        var bench = Bench(seed: 2)
        bench.capture()
        let window = bench.window(.kill, from: 1, to: 3)
        bench.act(.begins(window))
        _ = bench.take()
        bench.handle(.flushing)
        bench.handle(.flushed)
        bench.handle(app: .woke)
        #expect(bench.effects.isEmpty)
        bench.act(.ends(window))
        _ = bench.take()
        bench.handle(.app(.photoPrepared(scan: ScanNumber(1), bytes: 1_000, took: nil), process: 1))
        #expect(bench.effects.isEmpty)
    }

    @Test func `a phone that does not remember hands every write over at once`() {
        var bench = Bench(remembers: false)
        bench.capture()
        #expect(bench.wanted == ["use 1", "write", "flush", "prepare"])
        #expect(bench.phone.stored == nil)
    }

    @Test func `one that remembers hands them over when they are flushed`() {
        var bench = Bench()
        bench.capture()
        #expect(bench.wanted == ["use 1", "flush", "prepare"])
        #expect(bench.phone.stored == [])
        _ = bench.take()
        bench.flush()
        #expect(bench.wanted == ["write"])
        #expect(bench.seen == [.queued(.captured)])
        #expect(bench.phone.stored?.map(\.scan) == [1])
    }

    @Test func `a reinstalled phone has nothing, says how much it had, and is another device`() {
        var bench = Bench()
        bench.capture()
        bench.flush()
        let before = bench.phone.identity
        _ = bench.take()
        let window = bench.window(.reinstall, from: 1, to: 2)
        bench.act(.begins(window))
        #expect(bench.seen == [.killed, Self.kept, .reinstalled(discarded: 1)])
        #expect(bench.phone.identity != before)
        bench.act(.ends(window))
        #expect(bench.seen.contains(.launched(restored: 0)))
        _ = bench.take()
        bench.capture()
        #expect(bench.wanted.first == "use 2", "numbers do not start over")
    }

    @Test func `without room a capture is refused, and what waits is written when there is room`() {
        var bench = Bench()
        let window = bench.window(.storageFull, from: 1, to: 4)
        bench.act(.begins(window))
        bench.capture()
        #expect(bench.seen.last == .refused(code: "STORAGE_FULL", cause: .storage))
        #expect(!bench.wanted.contains("flush"))
        _ = bench.take()
        bench.act(.ends(window))
        #expect(bench.seen == [.storageFreed])
        #expect(bench.wanted == ["flush"])
        _ = bench.take()
        bench.flush()
        #expect(bench.wanted == ["write"], "the refusal, and no record that a kill could leave without it")
        #expect(bench.phone.stored == [])
    }

    // MARK: The user

    @Test func `a capture that is due while the app is away is made when it is back, with its own time`() {
        var bench = Bench()
        let window = bench.window(.background, from: 1, to: 5)
        bench.act(.begins(window))
        bench.now = .zero + .seconds(2)
        bench.capture()
        #expect(bench.phone.deferred.count == 1)
        #expect(bench.phone.isBusy)
        bench.now = window.to
        _ = bench.take()
        bench.act(.ends(window))
        #expect(bench.seen == [.resumed, .captured(scheduled: .zero + .seconds(2))])
        #expect(bench.phone.deferred.isEmpty)
    }

    @Test func `the time of a deferred capture outlives the process that made it`() throws {
        var bench = Bench()
        bench.act(.begins(bench.window(.background, from: 1, to: 5)))
        bench.now = .zero + .seconds(2)
        bench.capture()
        bench.now = .zero + .seconds(5)
        bench.act(.ends(bench.window(.background, from: 1, to: 5)))
        bench.flush()
        bench.act(.begins(bench.window(.kill, from: 5, to: 6)))
        let record = try #require(bench.phone.stored?.first)
        #expect(record.capturedUnixMs == Bench.zero + 5_000)
        #expect(record.scheduledUnixNs == (Bench.zero + 2_000) * 1_000_000)
        #expect(record.uploadDueUnixNs == record.scheduledUnixNs)
    }

    @Test func `an app that two windows keep away comes back with the end of the last`() {
        var bench = Bench()
        let (away, dead) = (bench.window(.background, from: 1, to: 5), bench.window(.kill, from: 2, to: 3))
        bench.act(.begins(away))
        bench.act(.begins(dead))
        bench.act(.ends(dead))
        #expect(!bench.phone.isAlive)
        bench.act(.ends(away))
        #expect(bench.phone.isAlive)
        #expect(bench.phone.process == 2)
    }

    @Test func `nobody takes the phone up again once the run is over`() {
        var bench = Bench()
        let dead = bench.window(.kill, from: 1, to: 3)
        bench.act(.begins(dead))
        bench.handle(.runEnded)
        bench.act(.ends(dead))
        #expect(!bench.phone.isAlive)
        _ = bench.take()
        bench.act(.begins(bench.window(.background, from: 4, to: 5)))
        #expect(bench.effects.isEmpty)
    }

    @Test func `the user of a closed group hears once that the scan is settled`() {
        var bench = Bench()
        bench.capture()
        bench.handle(app: .photoRejected(scan: ScanNumber(1), reason: "too dark"))
        bench.flush()
        #expect(bench.wanted.filter { $0 == "awaited settled" }.count == 1)
    }

    // MARK: The path

    @Test func `two tunnels at once are one, and the way out says goodbye to what was left`() {
        var bench = Bench()
        _ = bench.take()
        bench.act(.entersTunnel)
        bench.act(.begins(bench.window(.offline, from: 1, to: 2)))
        bench.act(.leavesTunnel)
        #expect(!bench.phone.hasPath)
        bench.act(.ends(bench.window(.offline, from: 1, to: 2)))
        #expect(bench.phone.hasPath)
        #expect(bench.seen == [.pathLost, .pathReturned])
        #expect(bench.wanted == ["park", "schedule 2000", "hang up"])
    }

    @Test func `a handover leaves the connections of the old network open for a while`() {
        var bench = Bench()
        _ = bench.take()
        let window = bench.window(.handover, from: 1, to: 2)
        bench.now = window.from
        bench.act(.begins(window))
        #expect(bench.wanted == ["park", "schedule 31000", "schedule 2000"])
        #expect(bench.seen == [.pathChanged, .pathLost])
        _ = bench.take()
        bench.act(.ends(window))
        #expect(bench.seen == [.pathReturned])
        #expect(bench.wanted == [])
        bench.act(.oldPathGone)
        #expect(bench.wanted == ["hang up"])
    }

    @Test func `clocks that are set wrong one after the other add up, and a fresh process is told`() {
        var bench = Bench()
        bench.act(.begins(bench.window(.clockSkew(by: .seconds(5)), from: 0)))
        bench.act(.begins(bench.window(.clockSkew(by: .seconds(-2)), from: 0)))
        #expect(bench.seen.suffix(2) == [.clockSet(ahead: .seconds(5)), .clockSet(ahead: .seconds(3))])
        let dead = bench.window(.kill, from: 1, to: 2)
        bench.act(.begins(dead))
        bench.act(.ends(dead))
        #expect(bench.seen.last == .clockSet(ahead: .seconds(3)))
    }
}
