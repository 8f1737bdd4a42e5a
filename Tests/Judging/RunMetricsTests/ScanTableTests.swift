import Metrics
import Observations
import SimBase
import Talaria
import Testing

@testable import RunMetrics

/// What a run keeps of each scan.
@Suite struct ScanTableTests {
    private func row(_ phone: UInt32, _ scan: UInt32) -> ScanRow {
        ScanRow(device: DeviceNumber(phone), scan: ScanNumber(scan), at: .zero)
    }

    @Test func `the longest of several samples is the time of a scan`() {
        var row = self.row(1, 1)
        #expect(row[.resultsTime] == nil)
        row.record(.resultsTime, .microseconds(50))
        row.record(.resultsTime, .microseconds(90))
        row.record(.resultsTime, .microseconds(70))
        #expect(row[.resultsTime] == .microseconds(90))
        row.record(.netTLSTime, .microseconds(70))
        #expect(row[.netTLSTime] == nil, "of no scan")
    }

    @Test func `a scan is filled by its own observations`() throws {
        let (phone, scan) = (DeviceNumber(3), ScanNumber(2))
        var collector = MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: true)
        var table = ScanTable()
        func record(_ payload: PhoneObservation, at milliseconds: Int64, scan: ScanNumber = scan) {
            let observation = Observation(
                at: .zero + .milliseconds(milliseconds), device: phone, scan: scan, what: .phone(payload))
            collector.record(observation)
            table.record(observation, collector.measured.latest)
        }
        record(.uploadAccepted(job: "x", took: .seconds(9), service: .seconds(9)), at: 1)
        #expect(table.rows.isEmpty, "nothing captured it")
        record(.captured(scheduled: .zero + .milliseconds(5)), at: 6)
        record(.uploadAccepted(job: "x", took: .milliseconds(40), service: .milliseconds(30)), at: 50)
        record(.completed(took: .milliseconds(80)), at: 85)
        record(.launched(restored: 0), at: 90, scan: .none)
        let row = try #require(table.row(of: phone, scan))
        #expect(row.at == .zero + .milliseconds(5) && row.end == .completed)
        #expect(
            row[.uploadTime] == .milliseconds(40) && row[.uploadServiceTime] == .milliseconds(30)
                && row[.scanTime] == .milliseconds(80))
        #expect(table.rows.count == 1)
    }

    @Test func `of too many scans there is a sample, the same in every run`() {
        func table(_ phones: [UInt32]) -> ScanTable {
            var table = ScanTable(rowsMax: 1_000)
            for phone in phones { for scan in 1...UInt32(10) { table.add(self.row(phone, scan)) } }
            return table
        }
        let (one, other) = (table(Array(0..<400)), table(Array((0..<400).reversed())))
        #expect(one.oneOf == 4 && one.rows.count <= 1_000 && one.rows.count > 800)
        #expect(
            Set(one.rows.map { [$0.device.raw, $0.scan.raw] })
                == Set(other.rows.map { [$0.device.raw, $0.scan.raw] }))
        var half = table(Array(0..<100))
        #expect(half.oneOf == 1)
        half.thin(to: 4)
        #expect(half.rows.allSatisfy { one.row(of: $0.device, $0.scan) != nil })
        #expect(half.rows.count == one.rows.count { $0.device.raw < 100 })
    }

    @Test func `parts of a run are added up, unless they have a phone in common`() {
        var whole = ScanTable()
        var (one, other) = (ScanTable(), ScanTable(oneOf: 2))
        one.add(self.row(1, 1))
        for phone in 2..<UInt32(40) { other.add(self.row(phone, 1)) }
        let areDisjoint = [whole.add(one), whole.add(other)]
        #expect(areDisjoint == [true, true])
        #expect(whole.oneOf == 2 && whole.rows.count >= other.rows.count)
        let isDisjoint = whole.add(other)
        #expect(!isDisjoint)
    }
}
