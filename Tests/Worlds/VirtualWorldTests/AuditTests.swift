import Faults
import HTTPServer
import Ledger
import Metrics
import Observations
import Plan
import SimBase
import Talaria
import Testing

@testable import Phone
@testable import VirtualWorld

/// What a world says of itself: every byte is accounted for, or it is reported.
@Suite struct AuditTests {
    private static let slow = LinkProfile(
        up: LinkDirection(delay: .milliseconds(20), bitsPerSecond: 2_000_000),
        down: LinkDirection(delay: .milliseconds(20), bitsPerSecond: 2_000_000))

    private static func scenario(_ faults: [FaultSpec] = []) -> Scenario {
        Bench.scenario(groups: [Bench.group(devices: 6, link: Self.slow)], faults: faults)
    }

    @Test func `what does not arrive has been lost by a cause that has a name`() throws {
        func lost(_ names: String...) throws -> [LossOfBytes] {
            let faults = Kinds.all.filter { names.contains($0.name) }.flatMap(\.faults)
            #expect(!faults.isEmpty)
            let run = try Bench.run(Bench.scenario(groups: [Bench.group(devices: 6)], faults: faults))
            #expect(run.broken == [])
            return LossOfBytes.allCases.filter { run.world.lostBytes[$0] > 0 }
        }
        let quiet = try Bench.run(Self.scenario())
        #expect(quiet.broken == [] && quiet.world.lostBytes == LostBytes())
        let (reset, silence) = (try lost("reset-upload-request"), try lost("silence-upload-request"))
        let offline = try lost("offline")
        #expect(reset == [.fault])
        #expect(silence == [.fault, .silence])
        #expect(offline == [.parked])
    }

    /// Runs a world up to some time, then lets something go wrong with it that it knows nothing of.
    private func findings(
        after events: Int, _ change: (inout World) -> Void
    ) throws -> [AuditFinding.What] {
        try self.found(after: events, change).map(\.what)
    }

    private func found(after events: Int, _ change: (inout World) -> Void) throws -> [AuditFinding] {
        var world = World(Bench.plan(Self.scenario()))
        #expect(try world.steps(events))
        change(&world)
        while try world.step() {}
        world.checkConservation()
        return world.takeFindings()
    }

    @Test func `bytes that vanish before they come to the link are told`() throws {
        var vanished = 0
        let found = try self.found(after: 1) { world in
            while vanished == 0 {
                guard (try? world.step()) == true else { return }
                // A request on its way is the last thing that was scheduled.
                var queue = world.queue
                var kept = EventHeap<WorldEvent>()
                while let (at, event) = queue.popFirst() {
                    if vanished == 0, case .bytes(_, let bytes) = event, bytes.first == UInt8(ascii: "G") {
                        vanished = bytes.count
                    } else {
                        kept.insert(event, at: at)
                    }
                }
                world.queue = kept
            }
        }
        #expect(vanished > 0)
        #expect(found.map(\.device) == [nil])  // Their owners are not known.
        #expect(
            found.map(\.what) == [
                .leak(.everywhere, LeakedBytes(sent: vanished, delivered: 0, destroyed: 0, underway: 0))
            ])
    }

    @Test func `bytes that are lost on the phone's side without a cause are told`() throws {
        let found = try self.findings(after: 400) { world in
            for phone in world.phones.indices {
                for wire in world.phones[phone].wires { world.wires.update(wire) { $0.down.delivered -= 1 } }
            }
        }
        #expect(!found.isEmpty)
        let legs = found.map { if case .leak(let leg, _) = $0 { leg } else { LinkLeg.everywhere } }
        #expect(legs.allSatisfy { $0 == .linkToPhone })
    }

    @Test func `a phone's side that is told of fewer bytes than the link gave out is told`() throws {
        let found = try self.findings(after: 400) { world in
            for phone in world.phones.indices {
                for wire in world.phones[phone].wires {
                    world.wires.update(wire) { state in
                        state.down.sent -= 5
                        state.down.delivered -= 5
                    }
                }
            }
        }
        let legs = found.map { if case .leak(let leg, _) = $0 { leg } else { LinkLeg.everywhere } }
        #expect(!legs.isEmpty && legs.allSatisfy { $0 == .outOfLink })
    }

    // MARK: Queues

    @Test func `a phone that holds more than it may is told with the limit's name`() throws {
        let found = try self.findings(after: 40) { world in
            let write = PendingWrite(
                change: .lastEventID(ScanNumber(1), ""), writeID: WriteID(0))
            world.phones[0].machine.held = Array(
                repeating: write, count: PhoneLimits.heldWritesMax + 1)
            world.send(.faultsEnded, to: 0)
        }
        #expect(
            Set(found) == [
                .overLimit(
                    Bound(
                        "PhoneLimits.heldWritesMax", PhoneLimits.heldWritesMax + 1,
                        max: PhoneLimits.heldWritesMax))
            ])
    }

    @Test func `a queue of scans has its limit, and so have slots and remembered events`() {
        var app = App(
            number: DeviceNumber(1), identity: DeviceIdentity.draw(KeyedRandom(seed: 1), DeviceNumber(1)),
            profile: .contract, random: KeyedRandom(seed: 1), run: 1, clockZero: 0, wallClockAtZero: 0)
        func bounds() -> [Bound] {
            var bounds: [Bound] = []
            app.eachBound { bounds.append($0) }
            return bounds
        }
        let (unsettled, slots) = ("AppLimits.unsettledMax", "ClientProfile.stream.slots")
        #expect(
            bounds() == [
                Bound(unsettled, 0, max: 1_000), Bound(slots, 0, max: 5),
                Bound("AppLimits.rememberedEventsMax", 0, max: 1_024),
            ])
        let record = DurableScan(
            scan: 1, photo: 0, capturedUnixMs: 0, job: nil, booksApplied: [], cause: "captured",
            attempts: DurableAttempts(), tokenExpiries: 0, retryableErrors: 0, completed: false, refusal: nil)
        for number in 1...1_001 {
            var scan = Scan(record: record, scheduled: .zero)
            scan.record.scan = UInt32(number)
            if number <= 6 {
                app.active.append(ActiveScan(scan: scan, stage: .uploading))
            } else {
                app.queue.insert(
                    WaitingScan(
                        scan: scan, cause: .captured, hold: .none, floor: .zero, writeID: WriteID(0),
                        isAnnounced: true))
            }
        }
        let exceeded = bounds().filter(\.isExceeded)
        #expect(exceeded == [Bound(unsettled, 1_001, max: 1_000), Bound(slots, 6, max: 5)])
    }

    // MARK: Tokens

    @Test func `a token on the request of another job is told`() throws {
        var swapped = false
        let found = try self.findings(after: 1) { world in
            while !swapped, (try? world.step()) == true {
                for phone in world.phones.indices {
                    for index in world.phones[phone].machine.app.active.indices {
                        guard case .streaming = world.phones[phone].machine.app.active[index].stage else {
                            continue
                        }
                        let foreign = String(repeating: "0", count: 64)
                        world.phones[phone].machine.app.active[index].scan.record.job?.authToken =
                            foreign
                        swapped = true
                    }
                }
            }
        }
        #expect(swapped)
        #expect(found.contains(.strayToken(.cleanup)))
    }

    @Test(arguments: Kinds.all) func `no observation of a run has a token in it`(
        sample: Kinds.Sample
    ) throws {
        var world = World(Bench.plan(Self.scenario(sample.faults)))
        var tokens: Set<String> = []
        var seen: [Observation] = []
        var batch: [Observation] = []
        while try world.step() {
            world.take(&batch)
            seen += batch
            guard !batch.isEmpty else { continue }
            for phone in world.phones {
                for record in phone.machine.stored ?? [] {
                    if let token = record.job?.authToken { tokens.insert(token) }
                }
            }
        }
        #expect(!tokens.isEmpty && tokens.allSatisfy { $0.utf8.count == 64 })
        let text = seen.map { "\($0)" }.joined()
        let leaked = tokens.filter(text.contains)
        #expect(leaked.isEmpty)
        #expect(world.takeFindings().isEmpty)
        // What would be found.
        let told = "\(PhoneObservation.jobAbandoned(job: tokens.first ?? "", cause: .scanRefused))"
        #expect(tokens.contains(where: told.contains))
    }

    // MARK: Requests

    /// A world, and what happens to it after each of its events.
    private func reported(
        _ scenario: Scenario = Self.scenario(), _ change: @escaping (inout World) -> Void
    ) throws -> [Invariant] {
        try self.judged(Bench.plan(scenario), change).broken
    }

    /// Each job while its phone writes it down, once.
    private static func eachNewJob(
        _ world: inout World, _ change: (inout World, Int, Int, WriteID) -> Void
    ) {
        for phone in world.phones.indices {
            for index in world.phones[phone].machine.app.active.indices {
                guard case .recording(let writeID) = world.phones[phone].machine.app.active[index].stage
                else { continue }
                change(&world, phone, index, writeID)
            }
        }
    }

    @Test func `requests have the contract's form, unless a phone makes them otherwise`() throws {
        #expect(try self.reported { _ in } == [])
        let address = try self.reported { world in
            Self.eachNewJob(&world) { world, phone, index, _ in
                let job = world.phones[phone].machine.app.active[index].scan.record.job
                world.phones[phone].machine.app.active[index].scan.record.job?.sseUrl =
                    "/v3/jobs/scans/\(job?.jobId ?? "")/stream?again"
            }
        }
        #expect(address == [.requestWellFormed])
        let token = try self.reported { world in
            Self.eachNewJob(&world) { world, phone, index, _ in
                world.phones[phone].machine.app.active[index].scan.record.job?.authToken = nil
            }
        }
        #expect(token.contains(.requestWellFormed))
        let group = Bench.group { profile in
            profile.results.format = "full"
            profile.results.usesInlineBooks = false
        }
        #expect(try self.reported(Bench.scenario(groups: [group])) { _ in } == [])
    }

    @Test func `a stream that its phone closes for nothing is told`() throws {
        var isClosed = false
        let broken = try self.reported { world in
            guard !isClosed else { return }
            for phone in world.phones.indices {
                for wire in world.phones[phone].wires {
                    let isOpen = world.wires.ask(wire) {
                        $0.stream.map { $0.isOpen && $0.bytes > 0 } ?? false
                    }
                    guard isOpen == true, !isClosed, let id = world.wires.ask(wire, { $0.request }) ?? nil
                    else { continue }
                    world.abort(id, of: phone)
                    isClosed = true
                }
            }
        }
        #expect(isClosed && broken.contains(.streamDeadDetected))
    }

    @Test func `a stream that is asked for before its record is durable is told`() throws {
        var early = 0
        let broken = try self.reported { world in
            Self.eachNewJob(&world) { world, phone, _, writeID in
                guard early == 0 else { return }
                early += 1
                // The storage has taken nothing, and says that it has.
                world.phones[phone].machine.unacknowledged = writeID
                world.send(.flushed, to: phone)
            }
        }
        #expect(early == 1 && broken == [.jobOrphansBounded])
    }

    @Test func `a phone that gives up a photo that still goes up is told`() throws {
        var slow = Self.slow
        slow.up.bitsPerSecond = 40_000
        func broken(_ requestTimeout: Interval) throws -> [Invariant] {
            let group = Bench.group(devices: 4, scans: 1, link: slow) { $0.requestTimeout = requestTimeout }
            return try self.reported(Bench.scenario(groups: [group], drain: .minutes(4))) { _ in }
        }
        #expect(try broken(.seconds(30)) == [])
        #expect(try broken(.seconds(10)).contains(.requestOneFate))
    }

    @Test func `an answer comes no sooner than two round trips after its connection was asked for`() throws {
        let broken = try self.reported { world in
            for phone in world.phones.indices {
                for wire in world.phones[phone].wires {
                    // As if it had been asked for only now.
                    let now = world.now
                    world.wires.update(wire) { state in
                        guard let asked = state.asked, !state.hasAnswer else { return }
                        state.asked = RequestOnWire(
                            operation: asked.operation, scan: asked.scan, attempt: asked.attempt, sentAt: now)
                    }
                }
            }
        }
        #expect(broken == [.timeSane])
    }

    // MARK: Herds and neighbours

    /// A whole run, as `SimulationInvariants` judges it.
    private func judged(
        _ plan: WorldPlan, _ change: (inout World) -> Void = { _ in }
    ) throws -> (world: World, broken: [Invariant]) {
        var settings = LedgerSettings.embedded
        settings.fleet = PhoneGroups(
            groups: plan.run.groups.map(\.spec.name),
            groupOfDevice: plan.run.groups.indices.flatMap { index in
                plan.run.groups[index].devices.map { _ in UInt16(index) }
            })
        var rules = SimulationInvariantSettings(
            idleTimeout: plan.run.idleTimeout, isSettled: plan.settle != nil,
            herdTime: ClientProfile.contract.pathReturnJitter)
        rules.resultsFormats = plan.run.groups.compactMap(\.profile.results.format)
        var invariants = SimulationInvariants(rules, ledger: settings)
        var world = World(plan)
        var batch: [Observation] = []
        while try world.step() {
            change(&world)
            for silence in world.takeSilences() { invariants.record(silence) }
            for form in world.takeForms() { invariants.record(form) }
            for request in world.takeGivenUp() { invariants.record(request) }
            world.take(&batch)
            for observation in batch { invariants.record(observation) }
        }
        world.checkConservation()
        for finding in world.takeFindings() { invariants.record(finding) }
        invariants.finish(world.remains)
        return (world, invariants.verdicts.filter { $0.violations > 0 }.map(\.invariant))
    }

    @Test func `a fleet whose path returns comes back spread by its jitter, and without it as a herd`() throws
    {
        func broken(jitter: Interval) throws -> [Invariant] {
            let outage = Bench.fault(
                .phone(.offline), on: .link, window: FaultWindow(at: .seconds(2), length: .seconds(2)),
                count: .eachAttempt)
            let rate = ArrivalRate(arrivals: 100, per: .seconds(1))
            return try self.judged(
                Bench.plan(
                    Bench.scenario(
                        groups: [
                            Bench.group(
                                devices: 150, scans: 1, load: .open(.constant(rate), .uniform),
                                change: { $0.pathReturnJitter = jitter })
                        ], faults: [outage], jobTime: .seconds(4)...(.seconds(5))))
            ).broken
        }
        let spread = try broken(jitter: ClientProfile.contract.pathReturnJitter)
        #expect(spread == [])
        let herd = try broken(jitter: .zero)
        #expect(herd == [.herdBounded])
    }

    private static func halfBroken(jobsMax: Int) -> WorldPlan {
        var plan = Bench.plan(
            Bench.scenario(
                groups: [Bench.group(devices: 12, scans: 2)], jobTime: .seconds(4)...(.seconds(6)),
                drain: .seconds(1), change: { $0.backend.jobsMax = jobsMax }))
        plan.settle = .minutes(2)
        plan.staysOffline = .percent(50)
        return plan
    }

    @Test func `phones that stay broken keep no healthy one from settling`() throws {
        let (world, broken) = try self.judged(Self.halfBroken(jobsMax: 1_000))
        #expect(broken == [])
        #expect((3...9).contains(world.remains.broken.count))
        #expect(world.remains.stuck.isEmpty)
        #expect(world.waitingOnDisk.map(\.device).allSatisfy(world.remains.broken.contains))
        #expect(!world.waitingOnDisk.isEmpty)
    }

    @Test func `broken phones that hold all the jobs there are harm the others, and that is told`() throws {
        let (world, broken) = try self.judged(Self.halfBroken(jobsMax: 3))
        #expect(broken.contains(.othersUnharmed))
        #expect(!world.remains.stuck.isEmpty)
        #expect(!world.remains.stuck.contains(where: world.remains.broken.contains))
    }
}
