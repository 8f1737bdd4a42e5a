import Faults
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Whole runs of scans with several photos.
struct PhotosWorldTests {
    private func scenario(_ photos: ClosedRange<Int>, faults: [FaultSpec] = []) -> Scenario {
        Bench.scenario(
            groups: [Bench.group(devices: 6, scans: 3) { $0.upload.photos = photos }], faults: faults)
    }

    private func received(_ outcome: Bench.Outcome) -> [Int] {
        outcome.observations.compactMap {
            if case .backend(.photosReceived(_, let count)) = $0.what { count } else { nil }
        }
    }

    @Test(arguments: 1...5) func `the backend gets every photo, and a phone every book`(count: Int) throws {
        let outcome = try Bench.run(scenario(count...count))
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.completed == 18 && outcome.ledger.totals.books.missing == 0)
        #expect(received(outcome) == (count == 1 ? [] : Array(repeating: count, count: 18)))
    }

    @Test func `each region of a photo has a job and books of its own`() throws {
        let outcome = try Bench.run(
            Bench.scenario(
                groups: [Bench.group(devices: 4, scans: 2) { $0.upload.regions = 2...20 }],
                drain: .seconds(120)))
        #expect(outcome.broken == [])
        let regions = outcome.count { if case .phone(.regionTaken) = $0 { true } else { false } }
        #expect(regions > 16 && outcome.ledger.totals.scans.completed == regions)
        #expect(outcome.ledger.totals.books.missing == 0)
    }

    @Test(arguments: [PhoneFault.kill, .background, .offline, .reinstall])
    func `a disturbance between the regions of a photo loses none`(kind: PhoneFault) throws {
        let target: FaultTarget = kind == .offline ? .link : .app
        let fault = Bench.fault(
            .phone(kind), on: target, window: FaultWindow(at: .milliseconds(600), length: .seconds(1)))
        let outcome = try Bench.run(
            Bench.scenario(
                groups: [Bench.group(devices: 4, scans: 2) { $0.upload.regions = 3...9 }],
                faults: [fault], drain: .seconds(120)))
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.lost == 0 && outcome.ledger.totals.books.missing == 0)
    }

    @Test(arguments: [1, 200, 5_000, 100_000, 400_000, 700_000, 999_000])
    func `an upload that is cut at any photo is repeated whole`(bytes: Int) throws {
        let cut = Bench.fault(
            .reset(.afterBytes(0), .request), on: .upload, after: .afterBytes(bytes...bytes))
        let outcome = try Bench.run(scenario(2...5, faults: [cut]))
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.completed == 18 && outcome.ledger.totals.books.missing == 0)
        #expect(received(outcome).count == 18)
    }
}
