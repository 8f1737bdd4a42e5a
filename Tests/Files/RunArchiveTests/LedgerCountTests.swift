import JSON
import Ledger
import Metrics
import ReportSamples
import Reports
import RunJudge
import SimBase
import Talaria
import Testing

@testable import RunArchive

/// The example of the handbook: a row of `LedgerCount` is all that the sum, the file and the metric of a count need.
@Suite struct LedgerCountTests {
    /// A run in which each count has another number. They fall: no more fields of texts are wrong than there are.
    private static func numbered() -> RunResult {
        var result = Samples.passed()
        result.groups[0].journey = .csvImport
        result.groups[1].journey = .bookEnrichment
        result.groups.append(result.groups[1])
        result.groups[2].name = "spines"
        result.groups[2].journey = .textEnrichment
        result.metrics.prices = BookPrices()
        result.totals = LedgerTotals()
        for (index, count) in LedgerCount.all.enumerated() {
            result.totals[keyPath: count.path] = 1_000 - index
        }
        result.totals.scans.waitingByCause[.offline] = 101
        result.totals.scans.discardedByCause[.notStored] = 102
        result.totals.books.name(absent: "Emma", 103)
        result.totals.jobs.abandonedByCause.add(104, to: "offline")
        result.totals.texts.differences.counts[Self.kind] = 105
        for scan in 1...21 { result.totals.texts.differences.keep(Self.example(scan: UInt32(scan))) }
        return result
    }

    private static let kind = TextDifferences.Kind(field: .author, chosen: .talaria, right: .neither)

    private static func example(scan: UInt32) -> TextDifferences.Example {
        TextDifferences.Example(
            device: DeviceNumber(7), scan: ScanNumber(scan), kind: Self.kind, read: "Ernma",
            verified: String(repeating: "é", count: 60))
    }

    @Test func `every count of the ledger adds up`() {
        let totals = Self.numbered().totals
        var sum = totals
        sum.add(totals)
        for (index, count) in LedgerCount.all.enumerated() {
            #expect(sum[keyPath: count.path] == 2 * (1_000 - index), "\(count.section) \(count.name)")
        }
        #expect(sum.scans.waiting == 202 && sum.scans.discardedByCause[.notStored] == 204)
        #expect(sum.texts.differences.counts[Self.kind] == 210)
        #expect(sum.books.absent["Emma"] == 206 && sum.jobs.abandonedByCause["offline"] == 208)
    }

    @Test func `every count of the ledger comes back from a summary`() throws {
        let expected = Self.numbered()
        let summary = try #require(JSONNode(SummaryJSON.bytes(expected)))
        let groups = ["commuters", "readers", "spines"]
        let reader = SummaryReader(summary: summary, head: Samples.head(groups: groups))
        let read = reader.result(instead: expected, measured: MetricTable(groups: groups), slos: [])
        #expect(read.totals == expected.totals)
        #expect(read.totals.texts.differences.first.map(\.scan.raw) == Array(1...20))
    }

    @Test func `every metric of the ledger has one row`() {
        let metrics = LedgerCount.all.compactMap(\.metric)
        #expect(Set(metrics).count == metrics.count)
        let totals = Self.numbered().totals
        var table = MetricTable(groups: ["all"])
        totals.record(into: &table, group: MetricGroup(index: 0))
        for count in LedgerCount.all {
            guard let metric = count.metric else { continue }
            #expect(table.count(metric, of: .fleet) == .measured(Int64(totals[keyPath: count.path])))
        }
        #expect(table.count(.scansWaiting, of: .fleet) == .measured(101))
        #expect(table.count(.scansDiscarded, of: .fleet) == .measured(102))
    }
}
