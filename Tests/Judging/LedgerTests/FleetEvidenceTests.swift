import Metrics
import SimBase
import Testing

@testable import Ledger

/// What shards hand over for the checks of the whole fleet, where it is more than they hand over.
@Suite struct FleetEvidenceTests {
    private static let settings = SimulationInvariantSettings(
        idleTimeout: .seconds(75), isSettled: false, herdTime: .milliseconds(500))

    private static func verdicts(_ evidence: FleetEvidence) -> [Verdict.Standing] {
        evidence.verdicts(Self.settings, ledger: .embedded, endedAt: .zero).fleet.map(\.standing)
    }

    /// One retry in each of so many windows, from the second on.
    private static func quiet(_ windows: Int) -> SurgeRecord {
        var record = SurgeRecord()
        for number in 1...Int64(windows) { record.change(number) { $0.came += 1 } }
        return record
    }

    private static func herd(at number: Int64, in record: inout SurgeRecord) {
        record.change(number) {
            $0.came += 500
            $0.lastCame = DeviceNumber(7)
        }
    }

    @Test func `the earliest windows are kept`() {
        var record = SurgeRecord()
        let most = Int64(SurgeRecord.windowsMax)
        // The ends of waits are in the future, and come before other events of their time.
        record.change(2 * most) { $0.ends += 1 }
        for number in 0..<most { record.change(number) { $0.came += 1 } }
        #expect(record.windows.map(\.number) == Array(0..<most))
        #expect(record.incompleteFrom == 2 * most)
        record.change(most) { $0.came += 1 }
        #expect(record.incompleteFrom == most && record.windows.count == SurgeRecord.windowsMax)
        record.change(most - 1) { $0.came += 1 }
        #expect(record.windows.last?.came == 2)
    }

    @Test func `of herds, what the windows show is found, and nothing else is said`() {
        var evidence = FleetEvidence()
        evidence.drawn.retries = Self.quiet(SurgeRecord.windowsMax + 1)
        #expect(Self.verdicts(evidence) == [.notAvailable, .held])
        let until = evidence.judgedUntil(Self.settings, ledger: .embedded)
        #expect(until == Instant.zero + RetryStormDetector.window * Int64(SurgeRecord.windowsMax + 1))
        Self.herd(at: 5, in: &evidence.drawn.retries)
        #expect(Self.verdicts(evidence) == [.broken, .held])
        var later = FleetEvidence()
        later.drawn.retries = Self.quiet(SurgeRecord.windowsMax + 1)
        Self.herd(at: Int64(SurgeRecord.windowsMax) + 10, in: &later.drawn.retries)
        #expect(Self.verdicts(later) == [.notAvailable, .held])
    }

    @Test func `all records together have as many windows as a shard hands over`() {
        var evidence = FleetEvidence()
        evidence.returns = Self.quiet(FleetEvidence.windowsMax / 2)
        evidence.drawn.retries = Self.quiet(FleetEvidence.windowsMax)
        let bounded = evidence.bounded
        #expect(
            bounded.returns.windows.count + bounded.drawn.retries.windows.count <= FleetEvidence.windowsMax)
        #expect(bounded.drawn.retries.windows.count > FleetEvidence.windowsMax / 3)
        #expect(!bounded.isComplete && evidence.isComplete)
        #expect(Self.quiet(9).windows.count == 9)
        var few = FleetEvidence()
        few.fixed.retries = Self.quiet(9)
        #expect(few.bounded == few)
    }

    @Test func `the sum of shards has no limit of its own`() {
        var sum = FleetEvidence()
        for shard in 0..<4 as Range<Int64> {
            var part = FleetEvidence()
            for number in 0..<Int64(SurgeRecord.windowsMax / 2) {
                part.drawn.retries.change(number * 4 + shard) { $0.came += 1 }
            }
            sum.add(part)
        }
        #expect(sum.isComplete)
        #expect(sum.drawn.retries.windows.map(\.number) == Array(0..<Int64(SurgeRecord.windowsMax * 2)))
        #expect(Self.verdicts(sum) == [.held, .held])
    }

    /// Ten from each of three shards at once are many, and none of them has seen many.
    @Test func `a sum ends where one of its parts ends`() {
        var sum = FleetEvidence()
        for shard in 0..<3 as Range<UInt32> {
            var part = FleetEvidence()
            for number in [5, 900] as [Int64] {
                part.drawn.retries.change(number) {
                    $0.came += 10
                    $0.lastCame = DeviceNumber(shard)
                }
            }
            if shard == 1 { part.drawn.retries.cut(from: 800) }
            sum.add(part)
        }
        #expect(sum.drawn.retries.incompleteFrom == 800)
        #expect(sum.drawn.retries.windows.map(\.came) == [30])
        #expect(Self.verdicts(sum) == [.broken, .held])
    }
}
