import Observations
import Phone
import SimBase
import Talaria
import Testing

/// A phone that is killed at any step and launched again loses nothing and adds nothing twice.
struct KillTests {
    /// A phone, its store and a backend, one step after the other.
    private struct World {
        var phone: App
        var backend: StubTalaria
        var now = Instant.zero
        /// All writes ever made, and how many of them are durable.
        var journal: [StoreChange] = []
        var durable = 0
        /// Tickets of this process count from here.
        var journalAtLaunch = 0
        /// The events that the phone receives next, in order.
        var pending: [AppEvent] = []
        var seen: [PhoneObservation] = []
        var steps = 0
        /// Writes for which there is no room; nil while there is.
        var held: [(change: StoreChange, writeID: WriteID)]?

        init(_ backend: StubTalaria, scans: UInt32) {
            self.backend = backend
            self.phone = TestPhone.app()
            self.handle(.launched(restored: [], pathAvailable: true))
            for scan in 1...scans {
                self.handle(.captured(scan: ScanNumber(scan), photo: PhotoReference(0), scheduled: .zero))
            }
        }

        mutating func handle(_ event: AppEvent) {
            let effects = self.phone.handle(event, at: self.now)
            for effect in effects {
                switch effect {
                case .preparePhoto(let scan, _):
                    self.pending.append(.photoPrepared(scan: scan, bytes: 10, took: .zero))
                case .releasePhoto, .readSpine: break
                case .send(let request): self.pending += self.backend.steps(request)
                case .transmit, .abort: break  // Late answers keep coming; the phone does not mind.
                case .store(let change, let writeID) where self.held != nil:
                    self.held?.append((change, writeID))
                    self.pending.append(.storeFailed(writeID))
                case .store(let change, let writeID):
                    self.journal.append(change)
                    self.pending.append(.stored(writeID))
                case .observe(let observation):
                    if case .phone(let payload) = observation.what { self.seen.append(payload) }
                }
            }
        }

        /// One event, or the passing of time if there is none. False once nothing happens any more.
        mutating func step() -> Bool {
            if !self.pending.isEmpty {
                let event = self.pending.removeFirst()
                if case .stored(let writeID) = event {
                    self.durable = self.journalAtLaunch + Int(writeID.raw)
                }
                self.handle(event)
            } else if let wake = self.phone.nextWake {
                self.now = max(self.now, wake)
                self.handle(.woke)
            } else {
                return false
            }
            self.steps += 1
            return true
        }

        /// The process ends. With `losing`, writes that were not acknowledged never reached the disk; without, all did.
        mutating func killAndRelaunch(losing: Bool) {
            if losing {
                self.journal.removeLast(self.journal.count - self.durable)
            } else {
                self.durable = self.journal.count
                // What is durable is reported first, and of what that causes only the observations are kept.
                let writeID = WriteID(UInt64(self.durable - self.journalAtLaunch))
                let effects = self.phone.handle(.stored(writeID), at: self.now)
                for case .observe(let observation) in effects {
                    if case .phone(let payload) = observation.what { self.seen.append(payload) }
                }
            }
            self.pending = []
            self.journalAtLaunch = self.journal.count
            self.phone = TestPhone.app()
            self.handle(.launched(restored: self.store.scans, pathAvailable: true))
        }

        /// There is room again: what was held back is written, in its order.
        mutating func free() {
            let held = self.held ?? []
            self.held = nil
            self.journal += held.map(\.change)
            if let last = held.last { self.pending.append(.stored(last.writeID)) }
        }

        /// Everything that happens until only the outside world can go on.
        mutating func settle() {
            let limit = self.steps + 1_000
            while self.steps < limit, self.step() {}
        }

        var store: DurableState {
            var state = DurableState()
            for change in self.journal { state.apply(change) }
            return state
        }

        /// Every scan is settled as completed and every book is in the library and was seen to enter it, once.
        func check(scans: UInt32, _ when: String) {
            let store = self.store
            #expect(store.scans == [], "\(when): unsettled")
            #expect(store.settled.map(\.scan.raw).sorted() == Array(1...scans), "\(when): settled")
            #expect(store.settled.allSatisfy { $0.outcome == .completed }, "\(when)")
            #expect(store.books.count == Int(scans) * self.backend.booksPerScan, "\(when): books")
            #expect(store.booksDoubled == 0, "\(when): doubled")
            let added = self.seen.count { if case .bookAdded = $0 { true } else { false } }
            #expect(added == store.books.count, "\(when): seen")
            let completed = self.seen.count { if case .completed = $0 { true } else { false } }
            #expect(completed == Int(scans), "\(when): completions seen")
            #expect(self.phone.isQuiescent, "\(when): not done")
        }
    }

    private func backend(_ kind: String) -> StubTalaria {
        var backend = StubTalaria()
        switch kind {
        case "stripped": backend.isStripped = true
        case "expired": backend.expiresFirstToken = true
        case "failing": backend.failsFirst = true
        case "reset": backend.resetsAfter = 1
        default: break
        }
        return backend
    }

    private static let kinds = ["plain", "stripped", "expired", "failing", "reset"]

    @Test(arguments: kinds)
    func `undisturbed, every scan completes and every job is deleted`(kind: String) {
        var world = World(backend(kind), scans: 7)
        while world.steps < 2_000, world.step() {}
        world.check(scans: 7, kind)
        // A job whose token expired is not the phone's to delete.
        #expect(world.backend.liveJobs == (kind == "expired" ? 7 : 0))
    }

    @Test(arguments: kinds, [true, false])
    func `killed at any step, it loses nothing and adds nothing twice`(kind: String, losing: Bool) {
        var step = 0
        while true {
            var world = World(backend(kind), scans: 2)
            while world.steps < step, world.step() {}
            guard world.steps == step else { break }
            // A capture whose record never reached the disk is the shutter's loss, not the phone's.
            let recorded = losing ? world.durable >= 2 : true
            world.killAndRelaunch(losing: losing)
            while world.steps < 2_000, world.step() {}
            if recorded { world.check(scans: 2, "\(kind), killed at step \(step)") }
            step += 1
        }
        #expect(step > 30)
    }

    @Test(arguments: kinds)
    func `killed every few steps, it still gets there`(kind: String) {
        for every in [9, 14, 23] {
            var world = World(backend(kind), scans: 3)
            var sinceKill = 0
            var kills = 0
            while world.steps < 4_000, world.step() {
                sinceKill += 1
                if sinceKill == every * (kills + 1), kills < 12 {
                    world.killAndRelaunch(losing: kills.isMultiple(of: 2) && world.durable >= 3)
                    sinceKill = 0
                    kills += 1
                }
            }
            world.check(scans: 3, "\(kind), every \(every)")
        }
    }

    /// Runs two scans to the end, with something done to the phone before every step in turn.
    private func disturb(_ kind: String, _ what: String, _ disturbance: (inout World) -> Void) {
        var step = 0
        while true {
            var world = World(backend(kind), scans: 2)
            while world.steps < step, world.step() {}
            guard world.steps == step else { break }
            disturbance(&world)
            world.settle()
            world.check(scans: 2, "\(kind), \(what) at step \(step)")
            step += 1
        }
        #expect(step > 30)
    }

    @Test(arguments: kinds, [0, 3, 1_000])
    func `sent to the background at any step, it gets there after its return`(kind: String, steps: Int) {
        disturb(kind, "in the background for \(steps) steps") { world in
            world.handle(.suspended)
            let end = world.steps + steps
            while world.steps < end, world.step() {}
            world.handle(.resumed)
        }
    }

    @Test(arguments: kinds, [true, false])
    func `with its network changed at any step, it goes on over the new one`(kind: String, isThere: Bool) {
        disturb(kind, "another network") { world in
            world.handle(.pathChanged(isAvailable: isThere))
            // What was under way on the old path never comes.
            world.pending.removeAll { event in
                switch event {
                case .replyHead, .replyBytes, .replyEnded, .replyFailed: true
                default: false
                }
            }
            if !isThere {
                world.settle()
                world.handle(.pathReturned)
            }
        }
    }

    @Test(arguments: kinds, [false, true])
    func `with its storage full from any step on, it waits for room, and a kill costs it nothing`(
        kind: String, isKilled: Bool
    ) {
        disturb(kind, "full") { world in
            guard world.durable >= 2 else { return }  // The captures themselves have room.
            world.held = []
            world.settle()
            if kind != "failing" {
                let durable = world.store.settled.count + world.store.scans.count { $0.completed }
                #expect(
                    world.backend.effectiveDeletes <= durable, "a job was deleted before its books had room")
            }
            if isKilled {
                world.held = nil
                world.killAndRelaunch(losing: true)
            } else {
                world.free()
            }
        }
    }
}
