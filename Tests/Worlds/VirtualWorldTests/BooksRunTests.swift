import Faults
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Runs of the books-v3 app, in every journey that it has.
@Suite struct BooksRunTests {
    private static func run(
        _ journey: Journey, off: [ProfileToggle] = [], named: NamedProfile = .books, faults: [FaultSpec] = []
    ) throws -> Bench.Outcome {
        let settings = off.map { ToggleSetting($0, isOn: false) }
        var group = Bench.group(devices: 4, scans: 3) { profile in
            profile = named.profile(with: settings)
            profile.journey = journey
        }
        group.toggles = settings
        if journey == .csvImport { group.library = LibraryFiles() }
        return try Bench.run(Bench.scenario(groups: [group], faults: faults))
    }

    private static let journeys = NamedProfile.books.journeys.filter(\.hasJobs)

    @Test(arguments: Self.journeys)
    func `it completes what it is given, where events have the contract's names`(
        journey: Journey
    ) throws {
        let run = try Self.run(journey, off: [.dottedNames])
        #expect(run.broken == [])
        #expect(run.ledger.totals.scans.completed == 12)
        for named in [NamedProfile.booksOld, .booksHandler] {
            let run = try Self.run(journey, named: named)
            #expect(run.broken == [])
            #expect(run.ledger.totals.scans.completed == 12)
        }
    }

    @Test(arguments: Self.journeys) func `with dotted names only it understands nothing, and says so`(
        journey: Journey
    ) throws {
        let run = try Self.run(journey)
        #expect(run.ledger.totals.scans.completed == 0)
        let unknown = run.observations.compactMap { observation -> String? in
            guard case .phone(.found(let finding)) = observation.what, finding.path == "event" else {
                return nil
            }
            return finding.expected
        }
        #expect(Set(unknown) == ["an event with a dotted name"])
    }

    @Test func `a reset costs it every scan that it hits, although each job completes`() throws {
        let reset = Bench.fault(
            .reset(.betweenEvents, .reply), on: .stream, after: .afterEvents(1...1))
        let broken = try Self.run(.bookshelfScan, off: [.dottedNames], faults: [reset])
        #expect(broken.ledger.totals.scans.completed == 0 && broken.ledger.totals.scans.waiting == 12)
        let sound = try Self.run(.bookshelfScan, off: [.dottedNames, .transportErrors], faults: [reset])
        #expect(sound.ledger.totals.scans.completed == 12)
    }

    @Test func `a job that is gone is followed for ever, and not uploaded again`() throws {
        let gone = Bench.fault(.jobGone(status: 404), on: .stream)
        func uploads(_ run: Bench.Outcome) -> Int {
            run.observations.count {
                if case .phone(.requestSent(.upload, _, _, _)) = $0.what { true } else { false }
            }
        }
        let broken = try Self.run(.bookshelfScan, off: [.dottedNames], faults: [gone])
        #expect(broken.ledger.totals.scans.completed == 0 && uploads(broken) == 12)
        let sound = try Self.run(.bookshelfScan, off: [.dottedNames, .booksStreamStatuses], faults: [gone])
        #expect(sound.ledger.totals.scans.completed == 12 && uploads(sound) == 24)
    }
}
