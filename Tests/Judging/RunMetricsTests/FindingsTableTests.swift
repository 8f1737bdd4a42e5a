import Metrics
import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

/// What was found that the contract does not foresee: counted by kind, with its first example, and bounded.
@Suite struct FindingsTableTests {
    private func finding(
        _ path: String = "data.sseUrl", seen: String = "missing", excerpt: String? = nil,
        decisive: Bool = true, count: Int = 1
    ) -> ContractFinding {
        ContractFinding(
            operation: .upload, part: "202", path: path, expected: "a string", seen: seen, excerpt: excerpt,
            isDecisive: decisive, count: count)
    }

    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    @Test func `findings of one kind are one row with the first example`() {
        var table = FindingsTable()
        for second: Int64 in [5, 2, 9] {
            table.add(
                self.finding(excerpt: "\(second)"), device: DeviceNumber(UInt32(second)),
                scan: ScanNumber(1), at: self.at(second))
        }
        #expect(table.rows.count == 1 && table.count == 3)
        #expect(table.rows[0].first == self.at(2) && table.rows[0].device == DeviceNumber(2))
        #expect(table.rows[0].finding.excerpt == "2" && table.rows[0].finding.count == 3)
    }

    @Test func `what decides comes first, then what is frequent`() {
        var table = FindingsTable()
        let rare = self.finding("a")
        let frequent = self.finding("b", decisive: false, count: 100)
        let odd = self.finding("c", decisive: false, count: 7)
        for finding in [odd, frequent, rare] {
            table.add(finding, device: DeviceNumber(1), scan: .none, at: .zero)
        }
        #expect(table.byWeight.map(\.finding.path) == ["a", "b", "c"])
    }

    @Test func `a hostile server makes no table without an end`() {
        var table = FindingsTable()
        for number in 0..<10_000 {
            table.add(self.finding("p\(number)"), device: DeviceNumber(1), scan: .none, at: .zero)
        }
        #expect(table.rows.count == FindingsTable.kindsMax)
        #expect(table.count == 10_000 && table.other == 10_000 - FindingsTable.kindsMax)
    }

    @Test func `tables of shards add up to the table of the run`() {
        var (one, two, whole) = (FindingsTable(), FindingsTable(), FindingsTable())
        for number: Int64 in 0..<200 {
            let finding = self.finding("p\(number % 7)", seen: number % 2 == 0 ? "null" : "missing")
            let device = DeviceNumber(UInt32(number))
            whole.add(finding, device: device, scan: .none, at: self.at(number))
            if number % 3 == 0 {
                one.add(finding, device: device, scan: .none, at: self.at(number))
            } else {
                two.add(finding, device: device, scan: .none, at: self.at(number))
            }
        }
        two.add(one)
        #expect(two.byWeight == whole.byWeight)
    }

    @Test func `counts that no run can have do not end the reader`() {
        var table = FindingsTable()
        for _ in 0..<3 {
            table.add(self.finding(count: .max), device: DeviceNumber(1), scan: .none, at: .zero)
            table.addOther(.max)
        }
        #expect(table.count == .max)
    }

    @Test func `what the server finds in requests is counted beside what phones find`() {
        var tally = MetricsCollector(
            fleet: PhoneGroups(groups: ["g"], groupOfDevice: [0]), faultIDs: [], hasBackendView: true)
        var request = self.finding("query token", seen: "an unknown parameter", decisive: false, count: 2)
        request.part = ContractFinding.requestPart
        for payload: ObservationPayload in [.backend(.found(request)), .phone(.found(self.finding()))] {
            tally.record(
                Observation(at: self.at(1), device: DeviceNumber(0), scan: ScanNumber(4), what: payload))
        }
        #expect(tally.measured.whole.findings.rows.map(\.finding.side) == [.client, .target])
        guard case .measured(3) = tally.measured.table.count(.contractFindings, of: .group("g")) else {
            Issue.record("a finding about a request was not counted")
            return
        }
    }

    @Test func `the tally counts them and keeps them`() {
        var tally = MetricsCollector(
            fleet: PhoneGroups(groups: ["g"], groupOfDevice: [0]), faultIDs: [], hasBackendView: false)
        tally.record(
            Observation(
                at: self.at(1), device: DeviceNumber(0), scan: ScanNumber(4),
                what: .phone(.found(self.finding(count: 3)))))
        #expect(tally.measured.whole.findings.rows.map(\.scan) == [ScanNumber(4)])
        let drained = tally.drain()
        #expect(drained.whole.findings.count == 3 && tally.measured.whole.findings.isEmpty)
        guard case .measured(3) = drained.table.count(.contractFindings, of: .group("g")) else {
            Issue.record("contract.findings was not counted")
            return
        }
    }

    @Test func `causes add up with their rows`() {
        var table = FindingsTable()
        table.add(
            self.finding(count: 3), device: DeviceNumber(1), scan: .none, at: .zero,
            cause: .injected(fault: "a"))
        table.add(self.finding(count: 2), device: DeviceNumber(1), scan: .none, at: .zero, cause: .target)
        table.add(table)
        #expect(table.rows.map(\.causes.injected) == [6] && table.count == 10)
        #expect(table.causes.injected == 6 && table.causes[.target] == 4)
        table.sortByTime()
        #expect(table.causes.injected == 6)
    }
}
