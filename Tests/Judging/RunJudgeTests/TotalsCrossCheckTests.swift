import Histories
import Ledger
import Metrics
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

/// The whole against the sum of its parts.
@Suite struct TotalsCrossCheckTests {
    private static let groups = ["a", "b"]

    private static func interval(_ group: Int, _ milliseconds: Int64) -> MetricTable {
        var table = MetricTable(groups: Self.groups)
        let group = MetricGroup(index: group)
        table.record(.scanTime, .milliseconds(milliseconds), in: group)
        table.record(.uploadFailed, failed: milliseconds > 5, in: group)
        table.add(milliseconds, to: .sseEvents, in: group)
        return table
    }

    private static func differences(written: [MetricTable], whole: [MetricTable]) -> [String] {
        var witness = TotalsCrossCheck()
        for interval in written { witness.add(interval) }
        var table = MetricTable(groups: Self.groups)
        for interval in whole { table.add(interval) }
        return witness.differences(from: table)
    }

    @Test func `a run is the sum of its intervals`() {
        let parts = [Self.interval(0, 3), Self.interval(1, 8), Self.interval(0, 9)]
        #expect(Self.differences(written: parts, whole: parts) == [])
        #expect(Self.differences(written: [], whole: []) == [])
    }

    @Test func `an interval that is missing, doubled or another is told`() {
        let parts = [Self.interval(0, 3), Self.interval(1, 8)]
        #expect(
            Self.differences(written: [parts[0]], whole: parts) == [
                "sse.events: count 11, and 3 in the intervals",
                "upload.failed: failed 1, and 0 in the intervals",
                "upload.failed: operations 2, and 1 in the intervals",
                "scan.time: count 2, and 1 in the intervals",
                "scan.time: sum 11000000, and 3000000 in the intervals",
            ])
        #expect(!Self.differences(written: parts + [parts[1]], whole: parts).isEmpty)
        #expect(
            Self.differences(written: [parts[0], Self.interval(1, 7)], whole: parts) == [
                "sse.events: count 11, and 10 in the intervals",
                "scan.time: sum 11000000, and 10000000 in the intervals",
            ])
    }

    // MARK: Scans

    /// Three scans, one of them refused, and their outcomes.
    private static func scans(_ change: (inout [ScanRow]) -> Void) -> ScanTable {
        var rows = (1...3).map { ScanRow(device: DeviceNumber(1), scan: ScanNumber($0), at: .zero) }
        for index in 0..<2 {
            rows[index].end = .completed
            rows[index].record(.scanTime, .seconds(2))
        }
        rows[2].end = .refused
        change(&rows)
        var table = ScanTable()
        for row in rows { table.add(row) }
        return table
    }

    private static func differences(restored: Int = 0, isSound: Bool = true, _ scans: ScanTable) -> [String] {
        var totals = ScanTotals()
        (totals.captured, totals.completed, totals.refused, totals.restored) = (3, 2, 1, restored)
        var table = MetricTable(groups: Self.groups)
        for _ in 0..<2 { table.record(.scanTime, .seconds(2), in: MetricGroup(index: 0)) }
        return TotalsCrossCheck.differences(in: scans, totals, table, isSound: isSound)
    }

    @Test func `the table of scans has what the totals have`() {
        #expect(Self.differences(Self.scans { _ in }) == [])
        let lost = Self.scans { $0.removeFirst() }
        #expect(
            Self.differences(lost) == [
                "scans captured: 3, but 2 in the table of scans",
                "scans completed: 2, but 1 in the table of scans",
                "scans with a scan.time: 2, but 1 in the table of scans",
            ])
        #expect(Self.differences(Self.scans { $0[0].end = .unfinished }).count == 1)
        #expect(Self.differences(Self.scans { $0[2].end = .canceled }).count == 2)
        #expect(Self.differences(restored: 1, lost) == [], "scans of an earlier run have no row")
        #expect(Self.differences(isSound: false, lost) == [])
    }

    @Test func `an operation that ended well has left a time`() {
        func differences(ended: Int, failed: Int, timed: Int) -> [String] {
            var table = MetricTable(groups: Self.groups)
            for index in 0..<(ended + failed) {
                table.record(.uploadFailed, failed: index < failed, in: MetricGroup(index: 0))
            }
            for _ in 0..<timed { table.record(.uploadTime, .seconds(1), in: MetricGroup(index: 0)) }
            return TotalsCrossCheck.differences(in: table, Disconnections())
        }
        #expect(differences(ended: 3, failed: 0, timed: 3) == [])
        #expect(differences(ended: 3, failed: 2, timed: 3) == [])
        #expect(
            differences(ended: 3, failed: 2, timed: 2) == [
                "upload.failed: 3 operations succeeded, but upload.time has 2"
            ])
        #expect(differences(ended: 1, failed: 2, timed: 3).count == 1)
    }

    @Test func `no more streams come back than were lost`() {
        func differences(lost: Int) -> [String] {
            var tally = MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: true)
            let history = History {
                $0.launch()
                $0.capture()
                $0.upload()
                $0.open()
                for _ in 0..<lost {
                    $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
                }
                $0.phone(
                    .reconnected(
                        job: $0.job, .reset, attempts: 1, resumed: true, took: .milliseconds(9)))
            }
            for observation in history.observations { tally.record(observation) }
            return TotalsCrossCheck.differences(
                in: MetricTable(groups: []), tally.measured.whole.disconnections)
        }
        #expect(differences(lost: 1) == [])
        #expect(differences(lost: 0) == ["disconnections by reset: 0, but 1 ended"])
    }

    @Test func `rows that a ledger has counted twice are a contradiction`() {
        var totals = LedgerTotals()
        totals.rows.sent = 50
        totals.rows.counts.created = 48
        totals.rows.missing = 2
        #expect(TotalsCrossCheck.differences(in: totals, isInventive: false) == [])
        totals.rows.counts.created += 48
        #expect(
            TotalsCrossCheck.differences(in: totals, isInventive: false) == [
                "rows: 50 in files, but 98 have become something"
            ])
        #expect(TotalsCrossCheck.differences(in: totals, isInventive: true) == [], "the results said so")
    }

    @Test func `each book that was received has a price, or is counted as one without`() {
        var totals = LedgerTotals()
        totals.books.received = 9
        (totals.costs.photo.books, totals.costs.text.books, totals.costs.otherBooks) = (4, 3, 2)
        #expect(TotalsCrossCheck.differences(inCostsOf: totals) == [])
        totals.costs.text.books = 2
        #expect(
            TotalsCrossCheck.differences(inCostsOf: totals) == [
                "books.received: 9, but 8 with and without a price"
            ])
        totals.scans.restored = 1
        #expect(TotalsCrossCheck.differences(inCostsOf: totals) == [], "an earlier run stored it")
    }
}
