import EventLoop
import Faults
import Foundation
import Ledger
import LivePhones
import Metrics
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing

/// Each fault of a phone on real sockets, against a real server, judged by the ledger.
@Suite(.serialized) struct PhoneFaultTests {
    private func fault(
        _ kind: FaultKind, at: Interval, spread: Interval = .zero, for length: Interval?,
        after trigger: FaultTrigger = .atOnce, scope: FaultScope = .everyone, id: String = "fault"
    ) -> FaultSpec {
        FaultSpec(
            id: id, kind: kind, target: .app, chance: .always, window: FaultWindow(at: at, length: length),
            spread: spread, trigger: trigger, count: .oncePerScan, scope: scope)
    }

    /// A run to its end. Every invariant holds, and every scan is in one class.
    private func run(
        devices: Int = 6, scans: Int = 2, load: LoadModel? = nil, threads: Int = 2,
        jobTime: Interval = .milliseconds(300), drain: Interval = .seconds(8), _ faults: [FaultSpec],
        state: String
    ) throws -> (seen: [Observation], scans: ScanTotals, jobs: JobTotals, outcome: FleetOutcome) {
        let bench =
            try load.map {
                try FleetBench(
                    devices: devices, scans: scans, load: $0, threads: threads, state: state,
                    jobTime: jobTime,
                    faults: faults, drain: drain)
            }
            ?? FleetBench(
                devices: devices, scans: scans, threads: threads, state: state, jobTime: jobTime,
                faults: faults,
                drain: drain)
        try bench.start()
        let outcome = try bench.finish()
        #expect(outcome.failure == nil)
        let (merged, ledger) = try bench.judge()
        for verdict in ledger.verdicts where verdict.standing != .held {
            Issue.record("\(verdict.invariant.rawValue): \(verdict.examples.first?.text ?? "")")
        }
        #expect(ledger.totals.scans.isConserved)
        #expect(ledger.totals.books.duplicated == 0)
        #expect(ledger.totals.books.missing == 0)
        return (merged, ledger.totals.scans, ledger.totals.jobs, outcome)
    }

    private func count(_ seen: [Observation], _ matches: (PhoneObservation) -> Bool) -> Int {
        seen.count { if case .phone(let payload) = $0.what { matches(payload) } else { false } }
    }

    // MARK: Kill

    @Test func `a phone that is killed at a drawn moment goes on from its records`() throws {
        let folder = TemporaryFolder()
        let kills = (0..<4).map {
            self.fault(
                .phone(.kill), at: .milliseconds(20 + 150 * Int64($0)), spread: .milliseconds(150),
                for: .milliseconds(40), id: "kill-\($0)")
        }
        let (seen, scans, _, _) = try self.run(kills, state: folder.path)
        #expect(self.count(seen) { $0 == .killed } >= 12)
        #expect(self.count(seen) { if case .launched = $0 { true } else { false } } >= 18)
        #expect(scans.captured == 12)
        #expect(scans.completed + scans.discardedByCause[.notStored] == 12)
        #expect(scans.lost == 0)
        #expect(try StateFolder(path: folder.path).unsettled().isEmpty)
        let resumed = self.count(seen) {
            if case .streamOpened(_, _, .some, _) = $0 { true } else { false }
        }
        #expect(resumed > 0, "some stream went on after its last durable event")
    }

    @Test func `phones that are killed at the steps of a scan lose nothing and add no book twice`() throws {
        let folder = TemporaryFolder()
        let kills = ScanStep.allCases.map {
            self.fault(
                .phone(.kill), at: .zero, for: .milliseconds(40), after: .afterStep($0),
                id: "kill-\($0.rawValue)")
        }
        let (seen, scans, _, _) = try self.run(scans: 6, kills, state: folder.path)
        #expect(scans.completed == 36)
        #expect(self.count(seen) { $0 == .killed } == 24)
        #expect(self.count(seen) { if case .bookRepeated = $0 { true } else { false } } > 12)
        #expect(try StateFolder(path: folder.path).unsettled().isEmpty)
    }

    @Test func `a flush is torn behind any number of records, and the journal holds the same`() throws {
        let folder = TemporaryFolder()
        let kills = (0..<4).map {
            self.fault(
                .phone(.kill), at: .zero, for: .milliseconds(30), after: .afterRecords(1...12),
                id: "kill-\($0)")
        }
        let full = self.fault(
            .phone(.storageFull), at: .zero, for: .milliseconds(100), after: .afterRecords(3...9), id: "full")
        let (seen, scans, _, _) = try self.run(scans: 4, kills + [full], state: folder.path)
        #expect(self.count(seen) { $0 == .killed } > 18)
        #expect(self.count(seen) { $0 == .storageFilled } > 3)
        #expect(scans.captured == 24)
        #expect(scans.completed + scans.refused + scans.discardedByCause[.notStored] == 24)
        #expect(try StateFolder(path: folder.path).unsettled().isEmpty)
    }

    @Test func `a phone that is never started again leaves its scans for the next run`() throws {
        let folder = TemporaryFolder()
        let kill = self.fault(.phone(.kill), at: .milliseconds(150), for: nil)
        let (_, scans, _, _) = try self.run(
            scans: 1, jobTime: .seconds(30), drain: .milliseconds(300), [kill], state: folder.path)
        #expect(scans.waiting + scans.discardedByCause[.notStored] == 6)
        #expect(scans.waitingByCause[.interrupted] > 0)
        let left = try StateFolder(path: folder.path).unsettled().count
        let (_, next, _, _) = try self.run(scans: 1, [], state: folder.path)
        #expect(next.restored == left)
        #expect(next.completed == left + 6)
    }

    @Test func `killed in a tunnel, it is started there and goes on outside`() throws {
        let folder = TemporaryFolder()
        let (seen, scans, _, _) = try self.run(
            scans: 1,
            [
                self.fault(.phone(.offline), at: .milliseconds(100), for: .milliseconds(400), id: "offline"),
                self.fault(.phone(.kill), at: .milliseconds(200), for: .milliseconds(100), id: "kill"),
            ], state: folder.path)
        #expect(scans.completed == 6)
        #expect(self.count(seen) { $0 == .pathReturned } == 6)
    }

    @Test func `what is written is what a fresh process would find, whatever was written and wiped`() throws {
        let folder = TemporaryFolder()
        var state = try StateFolder(path: folder.path)
        let journal = try StateJournal(try #require(try state.journals(threads: 1).first))
        let phone = DeviceNumber(0)
        var kept = DurableState()
        let random = KeyedRandom(seed: 5)
        for step in 0..<400 {
            let draw = { (bound: UInt64, what: UInt64) in random.below(bound, .test, UInt64(step), what) }
            let scan = UInt32(draw(6, 0)) + 1
            var change: StoreChange?
            switch draw(8, 1) {
            case 0...2:
                change = .put(
                    DurableScan(
                        scan: scan, photo: 0, capturedUnixMs: Int64(scan),
                        job: DurableJob(jobId: "j", authToken: nil, sseUrl: "/", lastEventID: ""),
                        booksApplied: kept.scans.first { $0.scan == scan }?.booksApplied ?? [],
                        cause: "captured", attempts: DurableAttempts(), tokenExpiries: 0,
                        retryableErrors: 0, completed: false, refusal: nil))
            case 3: change = .lastEventID(ScanNumber(scan), "\(step)")
            case 4: change = .settled(ScanNumber(scan), .completed)
            case 6 where draw(4, 2) == 0:
                journal.wipe(phone, newIdentity: "id-\(step)", hasReview: false)
                kept = DurableState()
            default: try journal.flush()
            }
            if let change {
                journal.store(change, of: phone)
                kept.apply(change)
            }
            guard step % 20 == 19 else { continue }
            try journal.flush()
            let found = kept.scans.sorted { $0.scan < $1.scan }
            #expect(try StateFolder(path: folder.path).restored(phone).scans == found, "step \(step)")
        }
    }

    // MARK: Background

    @Test func `in the background jobs are deleted and nothing is sent, and on return scans go up again`()
        throws
    {
        let folder = TemporaryFolder()
        let away = self.fault(.phone(.background), at: .milliseconds(150), for: .milliseconds(500))
        let (seen, scans, jobs, _) = try self.run(
            scans: 1, jobTime: .milliseconds(400), [away], state: folder.path)
        #expect(scans.completed == 6)
        #expect(jobs.cleaned == jobs.accepted, "every job was deleted, the given up ones as well")
        #expect(jobs.accepted == 12)
        for phone in 0..<UInt32(6) {
            let own = seen.filter { $0.device == DeviceNumber(phone) }
            let left = try #require(own.first { $0.what == .phone(.suspended) }?.at)
            let back = try #require(own.first { $0.what == .phone(.resumed) }?.at)
            #expect(back > left)
            let sent = own.filter { left < $0.at && $0.at < back }.filter {
                if case .phone(.requestSent(let operation, _, _, _)) = $0.what {
                    operation != .cleanup
                } else {
                    false
                }
            }
            #expect(sent.isEmpty)
        }
    }

    @Test func `a capture that is due in the background is made on return, and counts from when it was due`()
        throws
    {
        let folder = TemporaryFolder()
        let away = self.fault(.phone(.background), at: .zero, for: .milliseconds(400))
        let (seen, scans, _, outcome) = try self.run(
            scans: 1, jobTime: .milliseconds(50), [away], state: folder.path)
        #expect(scans.completed == 6)
        #expect(outcome.capturesDeferred == 0)
        for observation in seen {
            if case .phone(.captured(let scheduled)) = observation.what {
                #expect(observation.at >= .zero + .milliseconds(400))
                #expect(scheduled < .zero + .milliseconds(400))
            }
            if case .phone(.completed(let took)) = observation.what { #expect(took > .milliseconds(350)) }
        }
    }

    @Test func `a capture for a phone that never comes back is left out and counted`() throws {
        let folder = TemporaryFolder()
        let away = self.fault(.phone(.background), at: .zero, for: nil)
        let (_, scans, _, outcome) = try self.run(scans: 1, [away], state: folder.path)
        #expect(scans.captured == 0)
        #expect(outcome.captured == 0)
        #expect(outcome.capturesDeferred == 6)
    }

    @Test func `an app that is killed in the background is started when it is opened`() throws {
        let folder = TemporaryFolder()
        let (seen, scans, _, _) = try self.run(
            scans: 1,
            [
                self.fault(.phone(.background), at: .milliseconds(100), for: .milliseconds(400), id: "away"),
                self.fault(.phone(.kill), at: .milliseconds(200), for: .milliseconds(50), id: "kill"),
            ], state: folder.path)
        #expect(scans.completed == 6)
        #expect(self.count(seen) { $0 == .resumed } == 0)
        for phone in 0..<UInt32(6) {
            let launches = seen.filter { $0.device == DeviceNumber(phone) }.filter {
                if case .phone(.launched) = $0.what { true } else { false }
            }
            #expect(launches.count == 2)
            #expect(launches.last.map { $0.at >= .zero + .milliseconds(500) } == true)
        }
    }

    // MARK: Reinstallation

    @Test func `a reinstalled phone has another device id, and what it had is named`() throws {
        let folder = TemporaryFolder()
        func identities() throws -> [String?] {
            let state = try StateFolder(path: folder.path)
            return (0..<6).map { state.restored(DeviceNumber($0)).identity }
        }
        _ = try self.run(scans: 1, jobTime: .milliseconds(20), [], state: folder.path)
        let before = try identities()
        let reinstall = self.fault(.phone(.reinstall), at: .milliseconds(200), for: .milliseconds(50))
        let (seen, scans, _, _) = try self.run(
            scans: 1, jobTime: .seconds(1), [reinstall], state: folder.path)
        #expect(scans.discardedByCause[.reinstalled] == 6)
        #expect(scans.lost == 0)
        let discarded = seen.reduce(0) {
            if case .phone(.reinstalled(let count)) = $1.what { $0 + count } else { $0 }
        }
        #expect(discarded == 6)
        #expect(try StateFolder(path: folder.path).unsettled().isEmpty)
        let after = try identities()
        #expect(zip(before, after).allSatisfy { $0 != nil && $1 != nil && $0 != $1 })
        #expect(Set(before + after).count == 12)
        // The new id is kept, and the number of scans never starts over.
        let (_, next, _, _) = try self.run(scans: 1, jobTime: .milliseconds(20), [], state: folder.path)
        #expect(next.completed == 6)
        #expect(try identities() == after)
        #expect(try StateFolder(path: folder.path).restored(DeviceNumber(0)).lastScan == ScanNumber(3))
    }

    @Test func `after a reinstallation the phone scans on`() throws {
        let folder = TemporaryFolder()
        let reinstalls = (0..<2).map {
            self.fault(
                .phone(.reinstall), at: .milliseconds(30 + 200 * Int64($0)), spread: .milliseconds(100),
                for: .milliseconds(30), id: "reinstall-\($0)")
        }
        let (_, scans, _, _) = try self.run(scans: 3, reinstalls, state: folder.path)
        #expect(scans.captured == 18)
        #expect(scans.completed + scans.discarded == 18)
    }

    // MARK: Storage

    @Test func `a full storage refuses captures by name and loses nothing that it has`() throws {
        let folder = TemporaryFolder()
        // Twelve captures in 600 ms: half of them before, the others while it is full.
        let full = self.fault(.phone(.storageFull), at: .milliseconds(300), for: .milliseconds(700))
        let (seen, scans, jobs, _) = try self.run(
            scans: 2, load: .open(.constant(ArrivalRate(arrivals: 20, per: .seconds(1))), .uniform),
            jobTime: .milliseconds(400), [full], state: folder.path)
        let refused = self.count(seen) { $0 == .refused(code: "STORAGE_FULL", cause: .storage) }
        #expect(scans.captured == 12)
        #expect(scans.refused == refused)
        #expect(refused > 0)
        #expect(scans.completed == 12 - refused)
        #expect(scans.completed > 0)
        #expect(jobs.cleaned == jobs.accepted)
        for observation in seen {
            if case .phone(.completed) = observation.what {
                #expect(
                    observation.at >= .zero + .milliseconds(1_000),
                    "no outcome is durable before there is room"
                )
            }
        }
    }

    @Test func `killed while its storage is full, the phone has what it had before`() throws {
        let folder = TemporaryFolder()
        let (_, scans, _, _) = try self.run(
            scans: 1, jobTime: .milliseconds(500),
            [
                self.fault(.phone(.storageFull), at: .milliseconds(250), for: .milliseconds(500), id: "full"),
                self.fault(.phone(.kill), at: .milliseconds(400), for: .milliseconds(50), id: "kill"),
            ], state: folder.path)
        #expect(scans.completed + scans.refused + scans.discardedByCause[.notStored] == 6)
        #expect(scans.completed > 0)
    }

    // MARK: Closed loops

    @Test func `in a closed loop a phone captures on after every fault of its app`() throws {
        let folder = TemporaryFolder()
        let think = LoadModel.closed(
            ThinkTime(think: .milliseconds(10)...(.milliseconds(20)), start: .zero ... .milliseconds(10)))
        let (_, scans, _, outcome) = try self.run(
            scans: 6, load: think, jobTime: .milliseconds(80),
            [
                self.fault(
                    .phone(.kill), at: .milliseconds(60), spread: .milliseconds(80), for: .milliseconds(40),
                    id: "k"),
                self.fault(
                    .phone(.reinstall), at: .milliseconds(200), spread: .milliseconds(80),
                    for: .milliseconds(40),
                    id: "r"),
                self.fault(.phone(.storageFull), at: .milliseconds(350), for: .milliseconds(60), id: "s"),
                self.fault(.phone(.background), at: .milliseconds(450), for: .milliseconds(60), id: "b"),
            ], state: folder.path)
        #expect(outcome.captured == 36, "no phone stopped for a scan that was gone")
        #expect(scans.captured == scans.completed + scans.refused + scans.discarded)
    }

    // MARK: Clock and network

    @Test func `a wrong clock is set, set right again, and survives a relaunch`() throws {
        let folder = TemporaryFolder()
        let (seen, scans, _, _) = try self.run(
            scans: 2,
            [
                self.fault(
                    .phone(.clockSkew(by: .minutes(-5))), at: .milliseconds(30), for: .milliseconds(150),
                    id: "skew"),
                self.fault(.phone(.kill), at: .milliseconds(100), for: .milliseconds(30), id: "kill"),
            ], state: folder.path)
        #expect(scans.completed + scans.discardedByCause[.notStored] == 12)
        #expect(self.count(seen) { $0 == .clockSet(ahead: .minutes(-5)) } == 12)
        #expect(self.count(seen) { $0 == .clockSet(ahead: .zero) } == 6)
        for observation in seen {
            if case .phone(.completed(let took)) = observation.what { #expect(took < .seconds(20)) }
        }
    }

    @Test(arguments: [Int64(0), 120]) func `another network takes every connection, and streams go on`(
        gap: Int64
    ) throws {
        let folder = TemporaryFolder()
        let handover = self.fault(.phone(.handover), at: .milliseconds(150), for: .milliseconds(gap))
        let (seen, scans, _, _) = try self.run(
            scans: 1, jobTime: .milliseconds(600), [handover], state: folder.path)
        #expect(scans.completed == 6)
        #expect(self.count(seen) { $0 == .pathChanged } == 6)
        #expect(self.count(seen) { $0 == .pathReturned } == (gap == 0 ? 0 : 6))
        let reconnected = self.count(seen) {
            if case .reconnected(_, .handover, _, _, _) = $0 { true } else { false }
        }
        #expect(reconnected > 0)
    }
}
