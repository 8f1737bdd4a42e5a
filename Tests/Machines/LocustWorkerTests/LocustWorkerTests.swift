import LocustWorker
import SimBase
import Testing

/// The worker's side of Locust's protocol, event by event.
@Suite struct LocustWorkerTests {
    // MARK: Joining

    @Test func `a worker asks for the scenario, prepares it and reports ready`() {
        var bench = Bench()
        #expect(bench.handle(.started) == [.send(.hello(tool: "x", phonesMax: 100))])
        #expect(bench.handle(.received(.scenario(Bench.offer))) == [.prepare(Bench.offer)])
        #expect(bench.worker.nextWake == nil)
        #expect(bench.handle(.prepared) == [.send(.clientReady)])
        #expect(bench.handle(.received(.acknowledged)) == [])
        let usage = ProcessUsage(processorPercent: 5, residentBytes: 7)
        #expect(bench.handle(.usageMeasured(usage)) == [])
        #expect(bench.handle(.woke) == [.send(.heartbeat(.ready, usage))])
    }

    @Test func `it asks again every five seconds, tells of it once, and gives up after five minutes`() {
        var bench = Bench()
        _ = bench.handle(.started)
        let first = bench.pass(.seconds(20), answering: false)
        let hello = LocustWorkerEffect.send(.hello(tool: "x", phonesMax: 100))
        #expect(first == [hello, .note(.noScenario), hello, hello, hello])
        let rest = bench.pass(.minutes(10), answering: false)
        #expect(rest.count == 56)
        #expect(rest.last == .exit(.noMaster))
        #expect(bench.worker.nextWake == nil)
    }

    @Test func `a scenario that cannot be prepared ends it`() {
        var bench = Bench()
        _ = bench.handle(.started)
        _ = bench.handle(.received(.scenario(Bench.offer)))
        #expect(bench.handle(.preparationFailed) == [.exit(.preparationFailed)])
    }

    /// The merge at the end would refuse what it found.
    @Test(arguments: [nil, "y"]) func `a master of another version ends it`(tool: String?) {
        var bench = Bench()
        _ = bench.handle(.started)
        var offer = Bench.offer
        offer.tool = tool
        #expect(
            bench.handle(.received(.scenario(offer))) == [.note(.otherVersion(tool)), .exit(.refused)])
    }

    @Test func `a master that refuses it ends it, while it asks`() {
        var bench = Bench()
        _ = bench.handle(.started)
        #expect(
            bench.handle(.received(.refused(reason: "old"))) == [
                .note(.refused(reason: "old")), .exit(.refused),
            ])
        var other = Bench.testing()
        #expect(other.handle(.received(.refused(reason: "old"))) == [])
    }

    @Test func `heartbeats go every second, and reports every three`() {
        var bench = Bench.idle()
        // Longer than a master may be silent: it answers.
        let effects = bench.pass(.seconds(21), answering: true)
        #expect(effects.count { $0.isHeartbeat } == 22)
        #expect(effects.filter(\.isReport) == Array(repeating: .report(users: []), count: 7))
        #expect(effects.count == 29)
    }

    // MARK: Phones

    @Test func `an order to spawn begins the run, and phones are leased before they are opened`() {
        var bench = Bench.idle()
        _ = bench.handle(.received(.begin(Bench.order)))
        #expect(
            bench.spawn(1, a: 2, b: 1) == [
                .send(.spawning), .beginRun(Bench.order, host: "http://x"),
                .send(.lease(test: "t1", [.init(group: "a", phones: 2), .init(group: "b", phones: 1)])),
            ])
        let phones: [(UInt32, String)] = [(0, "a"), (1, "a"), (20, "b")]
        #expect(
            bench.lease(phones) == [
                .open(Bench.phones(phones)), .send(.spawningComplete(Bench.counts(a: 2, b: 1))),
            ])
    }

    @Test func `the users of a later order are added, and one that arrives late is ignored`() {
        var bench = Bench.testing()
        #expect(
            bench.spawn(3, a: 5) == [
                .send(.spawning), .send(.lease(test: "t1", [.init(group: "a", phones: 3)])),
            ])
        #expect(bench.spawn(2, a: 50) == [.send(.spawning)])
        // More is wanted while the answer is awaited.
        #expect(bench.spawn(4, a: 6) == [.send(.spawning)])
        #expect(
            bench.lease([(2, "a"), (3, "a"), (4, "a")]) == [
                .open(Bench.phones([(2, "a"), (3, "a"), (4, "a")])),
                .send(.lease(test: "t1", [.init(group: "a", phones: 1)])),
            ])
    }

    @Test func `phones that are too many close, the newest first, and their numbers return`() {
        var bench = Bench.testing()
        #expect(
            bench.spawn(2, a: 1) == [
                .send(.spawning), .close([DeviceNumber(1)]),
                .send(.spawningComplete(Bench.counts(a: 1))),
            ])
        let closed = ClosedPhone(number: DeviceNumber(1), lastScan: ScanNumber(7))
        #expect(bench.handle(.closed([closed])) == [.send(.returned(test: "t1", [closed]))])
    }

    @Test func `a worker runs no more phones than it can`() {
        var bench = Bench.idle(phonesMax: 3)
        _ = bench.handle(.received(.begin(Bench.order)))
        let effects = bench.spawn(1, a: 5)
        #expect(effects.contains(.note(.full(phonesMax: 3))))
        #expect(effects.contains(.send(.lease(test: "t1", [.init(group: "a", phones: 3)]))))
        #expect(
            bench.lease([(0, "a"), (1, "a"), (2, "a")]).last
                == .send(.spawningComplete(Bench.counts(a: 3))))
    }

    @Test func `a large order is asked for in parts`() {
        var bench = Bench.idle(phonesMax: 100_000)
        _ = bench.handle(.received(.begin(Bench.order)))
        let most = LeasedPhone.countMax
        #expect(
            bench.spawn(1, a: most - 1, b: 5).last
                == .send(
                    .lease(test: "t1", [.init(group: "a", phones: most - 1), .init(group: "b", phones: 1)])))
        let phones = (0..<UInt32(most)).map { ($0, $0 == 0 ? "b" : "a") }
        #expect(
            bench.lease(phones) == [
                .open(Bench.phones(phones)), .send(.lease(test: "t1", [.init(group: "b", phones: 4)])),
            ])
    }

    @Test func `phones that were not asked for are given back, and not opened`() {
        var bench = Bench.idle()
        _ = bench.handle(.received(.begin(Bench.order)))
        _ = bench.spawn(1, a: 1)
        let unwanted = [1, 20, 30].map { ClosedPhone(number: DeviceNumber($0), lastScan: .none) }
        #expect(
            bench.lease([(0, "a"), (1, "a"), (20, "b"), (30, "strangers")]) == [
                .send(.returned(test: "t1", unwanted)), .open(Bench.phones([(0, "a")])),
                .send(.spawningComplete(Bench.counts(a: 1))),
            ])
    }

    @Test func `what the master has no number for is not asked for again`() {
        var bench = Bench.idle()
        _ = bench.handle(.received(.begin(Bench.order)))
        _ = bench.spawn(1, a: 3)
        let effects = bench.lease([(0, "a")])
        #expect(effects.first == .note(.outOfNumbers(group: "a")))
        #expect(effects.last == .send(.spawningComplete(Bench.counts(a: 1))))
    }

    @Test func `phones that nobody wants any more are returned`() {
        var bench = Bench.testing()
        _ = bench.spawn(2, a: 3)
        _ = bench.handle(.received(.finish(test: "t1")))
        #expect(
            bench.lease([(2, "a")]) == [
                .send(.returned(test: "t1", [ClosedPhone(number: DeviceNumber(2), lastScan: .none)]))
            ])
    }

    @Test func `a master without the plugin is told of, and gets its answer`() {
        var bench = Bench.idle()
        #expect(
            bench.spawn(1, a: 2) == [
                .send(.spawning), .note(.spawnedWithoutTest), .send(.spawningComplete([])),
            ])
    }

    // MARK: The end of a test

    @Test func `the plugin asks for the evidence, then the master says stop, and the worker is ready again`()
    {
        var bench = Bench.testing()
        #expect(bench.handle(.received(.finish(test: "t1"))) == [.endRun(.drained)])
        #expect(bench.handle(.received(.finish(test: "t1"))) == [])
        #expect(bench.handle(.runEnded) == [.report(users: []), .handOver(test: "t1")])
        #expect(bench.handle(.received(.stop)) == [.send(.clientStopped), .send(.clientReady)])
        _ = bench.handle(.received(.acknowledged))
        var next = Bench.order
        next.test = "t2"
        _ = bench.handle(.received(.begin(next)))
        // The clock of the same master may have been set back.
        #expect(bench.spawn(1, a: 1).contains(.beginRun(next, host: "http://x")))
    }

    @Test func `a stop without a word of the plugin ends the run, too`() {
        var bench = Bench.testing()
        #expect(bench.handle(.received(.stop)) == [.endRun(.drained)])
        #expect(
            bench.handle(.runEnded) == [
                .report(users: []), .handOver(test: "t1"), .send(.clientStopped), .send(.clientReady),
            ])
    }

    @Test func `quit ends a run at once, also in its drain, and then the worker`() {
        var bench = Bench.testing()
        _ = bench.handle(.received(.finish(test: "t1")))
        #expect(bench.handle(.received(.quit)) == [.endRun(.atOnce)])
        #expect(bench.handle(.runEnded) == [.report(users: []), .exit(.quitByMaster)])
        var idle = Bench.idle()
        #expect(idle.handle(.received(.quit)) == [.exit(.quitByMaster)])
    }

    @Test func `a run that ended by itself is handed over when the test ends`() {
        var bench = Bench.testing()
        #expect(bench.handle(.runEnded) == [.report(users: [])])
        #expect(bench.spawn(2, a: 5) == [.send(.spawning)])
        #expect(bench.handle(.received(.finish(test: "t1"))) == [.handOver(test: "t1")])
        #expect(bench.handle(.received(.quit)) == [.exit(.quitByMaster)])
    }

    @Test func `Ctrl-C hands over what there is and tells the master`() {
        var bench = Bench.testing()
        #expect(bench.handle(.interrupted) == [.endRun(.atOnce)])
        #expect(
            bench.handle(.runEnded) == [
                .report(users: []), .handOver(test: "t1"), .send(.quit), .exit(.interrupted),
            ])
        var idle = Bench.idle()
        #expect(idle.handle(.interrupted) == [.send(.quit), .exit(.interrupted)])
    }

    // MARK: Masters that go away

    @Test func `a silent master stops the phones, and the worker asks for another`() {
        var bench = Bench.testing()
        let effects = bench.pass(.seconds(30), answering: false)
        #expect(effects.suffix(2) == [.note(.masterSilent), .endRun(.atOnce)])
        #expect(effects.count { $0.isHeartbeat } == 10)
        #expect(
            bench.handle(.runEnded) == [
                .report(users: []), .resetConnection, .send(.hello(tool: "x", phonesMax: 100)),
            ])
        // The photos are read already.
        #expect(bench.handle(.received(.scenario(Bench.offer))) == [.send(.clientReady)])
        // A master that was only slow still gets what it asks for.
        #expect(bench.handle(.received(.finish(test: "t1"))) == [.handOver(test: "t1")])
    }

    @Test func `an idle worker looks for a master that is silent`() {
        var bench = Bench.idle()
        #expect(
            bench.pass(.seconds(10), answering: false).suffix(3) == [
                .note(.masterSilent), .resetConnection, .send(.hello(tool: "x", phonesMax: 100)),
            ])
    }

    @Test func `reconnect resets the connection, and asks again for what may be lost`() {
        var bench = Bench.testing()
        #expect(bench.handle(.received(.reconnect)) == [.resetConnection])
        _ = bench.spawn(2, a: 3)
        #expect(
            bench.handle(.received(.reconnect)) == [
                .resetConnection, .send(.lease(test: "t1", [.init(group: "a", phones: 1)])),
            ])
    }

    @Test func `what cannot be read is noted`() {
        var bench = Bench.idle()
        #expect(bench.handle(.receivedMalformed) == [.note(.malformedMessage)])
        #expect(bench.handle(.received(.other("update_user_class"))) == [])
    }
}
