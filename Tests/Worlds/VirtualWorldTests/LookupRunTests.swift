import Faults
import Ledger
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Runs of phones that look books up by barcode: one at a time, and many at once.
@Suite struct LookupRunTests {
    private static func scenario(_ faults: [FaultSpec] = [], scans: Int = 10) -> Scenario {
        let group = Bench.group(devices: 6, scans: scans) { $0.journey = .bookEnrichment }
        return Bench.scenario(groups: [group], faults: faults)
    }

    private static func lookups(_ run: Bench.Outcome) -> LookupTotals { run.ledger.totals.lookups }

    @Test func `each barcode is billed once, and ends with its book or without`() throws {
        let run = try Bench.run(Self.scenario())
        #expect(run.broken == [])
        let (scans, books) = (run.ledger.totals.scans, run.ledger.totals.books)
        #expect(scans.captured == 60 && scans.completed + scans.refused == 60)
        #expect(scans.refused > 0 && scans.refusedUnexplained == 0)
        #expect(books.expected == scans.completed && books.received == scans.completed)
        let lookups = Self.lookups(run)
        #expect(lookups.billed == 60 && lookups.unknown == scans.refused && lookups.repeated == 0)
        #expect(run.ledger.totals.jobs == JobTotals())
    }

    @Test func `a book that is scanned again is billed once, and each scan has it`() throws {
        var scenario = Self.scenario()
        scenario.groups[0].repeats = .percent(40)
        let run = try Bench.run(scenario)
        #expect(run.broken == [])
        var billed: [String: Int] = [:]
        for observation in run.observations {
            guard case .backend(.bookLookedUp(let lookup)) = observation.what else { continue }
            billed["\(observation.device.raw) \(lookup.barcode)", default: 0] += lookup.isBilled ? 1 : 0
        }
        let (scans, lookups) = (run.ledger.totals.scans, Self.lookups(run))
        #expect(billed.count < 50 && billed.values.allSatisfy { $0 == 1 })
        #expect(lookups.billed == billed.count && lookups.billed + lookups.repeated == 60)
        #expect(scans.completed + scans.refused == 60 && scans.refusedUnexplained == 0)
        #expect(
            run.ledger.totals.books.received == scans.completed && run.ledger.totals.books.duplicated == 0)
    }

    @Test func `a lost answer is asked for again under the same key, and not billed again`() throws {
        let cut = Bench.fault(.reset(.afterBytes(60), .reply), on: .upload)
        let run = try Bench.run(Self.scenario([cut]))
        #expect(run.broken == [])
        let lookups = Self.lookups(run)
        #expect(lookups.billed == 60 && lookups.repeated == 60)
        #expect(run.ledger.totals.books.missing == 0 && run.ledger.totals.scans.refusedUnexplained == 0)
    }

    @Test func `an app that is killed sends the same key`() throws {
        let silence = Bench.fault(.silence(.afterBytes(0), .reply), on: .upload, id: "silence")
        let kill = Bench.fault(
            .phone(.kill), on: .app, id: "kill", window: FaultWindow(at: .seconds(1), length: .seconds(1)))
        let run = try Bench.run(Self.scenario([silence, kill], scans: 2))
        #expect(run.broken == [])
        #expect(run.count { $0 == .phone(.killed) } == 6)
        #expect(Self.lookups(run).billed == 12 && Self.lookups(run).repeated > 0)
        #expect(run.ledger.totals.scans.lost == 0 && run.ledger.totals.scans.discarded == 0)
    }

    @Test func `a refused request costs nothing, and its retry is the first`() throws {
        let error = HTTPFault(
            status: 503, code: "CIRCUIT_OPEN", retryable: true, retryAfter: .seconds(1),
            retryAfterLocation: .both)
        let run = try Bench.run(Self.scenario([Bench.fault(.httpError(error), on: .upload)]))
        #expect(run.broken == [])
        #expect(Self.lookups(run).billed == 60 && Self.lookups(run).repeated == 0)
    }

    @Test func `batches by barcode bring every book of their shelves`() throws {
        var group = Bench.group(devices: 6, scans: 3) { $0.journey = .batchEnrichment }
        group.batchForm = .barcodes
        let run = try Bench.run(
            Bench.scenario(groups: [group]) { $0.books = 5...9 })
        #expect(run.broken == [])
        let books = run.ledger.totals.books
        #expect(run.ledger.totals.scans.completed == 18)
        #expect(books.expected > 90 && books.received == books.expected)
        var added = 0
        for observation in run.observations {
            guard case .phone(.bookAdded(_, let book)) = observation.what else { continue }
            added += book.isbn == nil ? 0 : 1
        }
        #expect(added == books.expected, "each has an ISBN")
    }
}
