import Histories
import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// Histories without sense: whatever comes in whatever order, nothing traps and the sum holds.
@Suite struct RandomHistoryTests {
    private struct Dice {
        let random: KeyedRandom
        var rolls: UInt64 = 0

        mutating func below(_ bound: Int) -> Int {
            self.rolls += 1
            return Int(self.random.below(UInt64(bound), .test, self.rolls))
        }

        mutating func pick<Element>(_ elements: [Element]) -> Element { elements[self.below(elements.count)] }

        /// A number that somebody may have got wrong.
        mutating func number() -> Int { self.pick([0, 1, 2, 3, 4, 5, -1, 1_000, .max, .min]) }

        mutating func interval() -> Interval {
            self.pick([.zero, .milliseconds(1), .seconds(3), .seconds(-1), Interval(nanoseconds: .max)])
        }
    }

    private func phone(_ dice: inout Dice, book: Book) -> PhoneObservation {
        let job = "job-\(dice.below(2))"
        let id = dice.below(5) == 0 ? nil : "event-\(dice.below(6))"
        let kind = dice.pick(EventKind.allCases)
        let operation = dice.pick(Operation.allCases)
        let attempt = UInt32(dice.below(3))
        switch dice.below(49) {
        case 0: return .launched(restored: dice.number())
        case 1: return .killed
        case 2: return .suspended
        case 3: return .resumed
        case 4: return .pathLost
        case 5: return .pathReturned
        case 6, 7, 8: return .captured(scheduled: .zero)
        case 9: return .photoPrepared(took: dice.interval(), bytes: dice.number())
        case 10: return .queued(dice.pick(WaitingCause.allCases))
        case 11: return .slotTaken
        case 12: return .slotGiven
        case 13, 14: return .bookAdded(ordinal: dice.number(), book: book)
        case 15: return .bookRepeated(ordinal: dice.number(), book: dice.below(2) == 0 ? book : nil)
        case 16: return .completed(took: dice.interval())
        case 42: return .bookPending(ordinal: dice.number(), entry: dice.number(), book: book)
        case 43: return .bookEdited(entry: dice.number(), title: job, author: id)
        case 44: return .bookApproved(entry: dice.number(), book: book)
        case 45: return .bookRejected(entry: dice.number())
        case 46: return .bookMerged(entry: dice.number(), intoScan: attempt, intoEntry: dice.number())
        case 47:
            return dice.below(2) == 0
                ? .bookKept(entry: dice.number(), book: book) : .reviewRestored(entries: dice.number())
        case 48:
            return dice.below(2) == 0
                ? .readingKept(dice.pick(WaitingCause.allCases))
                : .photoInstead(dice.pick(PhotoReason.allCases))
        case 18, 39: return .refused(code: job, cause: .photo)
        case 19, 20: return .requestSent(operation, attempt: attempt, job: job, lastEventID: id)
        case 21: return .replied(operation, attempt: attempt, status: dice.number(), took: dice.interval())
        case 22:
            return .requestFailed(
                operation, attempt: attempt, dice.pick(TransportFailure.allCases), took: dice.interval())
        case 23: return .uploadAccepted(job: job, took: dice.interval(), service: dice.interval())
        case 24: return .rateLimited(operation, retryAfter: dice.interval())
        case 25: return .resultsDecoded(job: job, books: dice.number(), took: dice.interval())
        case 26: return .cleanupAnswered(job: job, status: dice.number(), took: dice.interval())
        case 27: return .jobAbandoned(job: job, cause: .status(100 + dice.below(100)))
        case 28: return .streamOpened(job: job, attempt: attempt, after: id, took: dice.interval())
        case 17, 29, 30: return .eventApplied(job: job, id: id, kind: kind, latency: nil, replayed: false)
        case 31: return .eventIgnored(job: job, id: id, name: "x", malformed: true)
        case 32: return .terminalApplied(job: job, kind: kind, inline: .books)
        case 33: return .filePrepared(LibraryContent(rows: dice.below(4)))
        case 34: return .rowsRead(job: job, self.rows(&dice))
        case 35:
            let barcode = EnrichmentRequest.key(barcode: "9780306406157")
            return .keySent(attempt: attempt, key: dice.below(2) == 0 ? job : barcode)
        case 36:
            return .lookupAnswered(
                found: dice.below(2) == 0, repeated: dice.below(2) == 0, took: dice.interval(),
                service: dice.interval())
        case 37: return .canceled(job: job)
        case 41: return .bookShown(job: job, book: book)
        case 38: return .booksListed(job: job, count: dice.below(4))
        case 40: return .booksNotFound(job: job, BookFailures(failed: dice.below(3), total: dice.below(4)))
        default: return .ping(id: id, gap: nil)
        }
    }

    private func rows(_ dice: inout Dice) -> RowCounts {
        var rows = RowCounts()
        rows.created = dice.below(3)
        rows.pending = dice.below(2)
        return rows
    }

    private func backend(_ dice: inout Dice) -> BackendObservation {
        let job = "job-\(dice.below(2))"
        let kind = dice.pick(EventKind.allCases)
        switch dice.below(11) {
        case 0: return .accepted(job: job, books: dice.number())
        case 1: return .streamOpened(job: job, attempt: UInt32(dice.below(3)), after: dice.number())
        case 2, 3:
            let index = dice.below(6)
            return .eventWritten(
                job: job, id: "event-\(index)", position: dice.below(4) == 0 ? dice.number() : index,
                kind: kind, replayed: false)
        case 4: return .finished(job: job, kind: kind, books: dice.number())
        case 5: return .cleaned(job: job, effective: dice.below(2) == 0)
        case 6: return .expired(job: job)
        case 7: return .vanished(job: job)
        case 8: return .rowsTaken(job: job, self.rows(&dice))
        case 9:
            return .bookLookedUp(
                BookLookup(
                    key: job, barcode: "\(dice.below(2))", isFound: dice.below(2) == 0,
                    isBilled: dice.below(2) == 0))
        default: return .tokenRevoked(job: job)
        }
    }

    private func fault(_ dice: inout Dice) -> FaultObservation {
        switch dice.below(3) {
        case 0: .began(fault: dice.number())
        case 1: .ended(fault: dice.number())
        default: .fired(fault: dice.number(), dice.pick(Operation.allCases), attempt: 1)
        }
    }

    private func observations(seed: UInt64, count: Int) -> [Observation] {
        var dice = Dice(random: KeyedRandom(seed: seed))
        var now = Instant.zero
        return (0..<count).map { _ in
            // Mostly forward, sometimes the same instant, sometimes back, and once in a while out of all bounds.
            switch dice.below(40) {
            case 0: now = dice.pick([.zero, .distantFuture, Instant(nanoseconds: .min)])
            case 1...10: break
            default: now = Instant(nanoseconds: now.nanoseconds &+ 1_000_000)
            }
            let device = DeviceNumber(dice.pick([0, 0, 0, 1, .max]))
            let scan = ScanNumber(dice.pick([0, 1, 2, 3, 4, .max]))
            // Some books are of the shelf of another scan.
            let shelved = dice.below(3) == 0 ? ScanNumber(9) : scan
            let what: ObservationPayload =
                switch dice.below(11) {
                case 0...5:
                    .phone(
                        self.phone(&dice, book: History.shelf.book(device: device, scan: shelved, ordinal: 0))
                    )
                case 6...8: .backend(self.backend(&dice))
                default: .fault(self.fault(&dice))
                }
            return Observation(at: now, device: device, scan: scan, what: what)
        }
    }

    private func records(seed: UInt64) -> [WaitingRecord] {
        var dice = Dice(random: KeyedRandom(seed: seed ^ 0xFF))
        return (0..<dice.below(12)).map { _ in
            WaitingRecord(
                device: DeviceNumber(dice.pick([0, 1, 2, 3, .max])),
                scan: ScanNumber(dice.pick([0, 1, 2, 3, 4, .max])), cause: dice.pick(WaitingCause.allCases))
        }
    }

    @Test(arguments: [true, false]) func `the sum holds at every moment and at the end`(hasView: Bool) {
        for seed: UInt64 in 0..<150 {
            var settings = LedgerSettings.embedded
            settings.hasBackendView = hasView
            settings.clockTolerance = seed.isMultiple(of: 2) ? .zero : .milliseconds(2)
            var ledger = Ledger(shelf: History.shelf, settings: settings)
            for observation in self.observations(seed: seed, count: 300) {
                ledger.record(observation)
                #expect(ledger.totals.scans.isConserved, "seed \(seed)")
            }
            ledger.finish(waitingOnDisk: self.records(seed: seed), at: .distantFuture)
            let totals = ledger.totals
            #expect(totals.scans.isConserved, "seed \(seed)")
            #expect(totals.scans.open == 0, "seed \(seed)")
            let books = totals.books
            #expect(!hasView || books.expected == books.received + books.pending + books.missing)
        }
    }

    @Test func `the same history gives the same ledger`() {
        for seed: UInt64 in 0..<20 {
            func judged() -> Ledger {
                var ledger = Ledger(shelf: History.shelf, settings: .embedded)
                for observation in self.observations(seed: seed, count: 400) { ledger.record(observation) }
                ledger.finish(waitingOnDisk: self.records(seed: seed), at: .zero)
                return ledger
            }
            let (first, second) = (judged(), judged())
            #expect(first.totals == second.totals)
            #expect(first.verdicts == second.verdicts)
        }
    }

    /// If nonsense broke nothing, the histories above would prove little. Three of the invariants take more sense to break.
    @Test func `nonsense breaks nearly every invariant somewhere`() {
        var broken = Set<Invariant>()
        for seed: UInt64 in 0..<100 {
            var ledger = Ledger(shelf: History.shelf, settings: .reading)
            for observation in self.observations(seed: seed, count: 300) { ledger.record(observation) }
            ledger.finish(waitingOnDisk: self.records(seed: seed), at: .zero)
            broken.formUnion(ledger.verdicts.filter { $0.violations > 0 }.map(\.invariant))
        }
        #expect(
            broken.isSuperset(
                of: Set(Invariant.everywhere).subtracting([.jobCleaned, .streamNoGap, .reviewNoDuplicate])))
    }
}
