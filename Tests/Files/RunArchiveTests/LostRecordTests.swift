import Ledger
import Observations
import ReportSamples
import RunJudge
import SimBase
import Talaria
import Testing

@testable import RunArchive

/// What a state folder has lost, in the reports of runs that were killed.
@Suite struct LostRecordTests {
    private let scratch: Scratch

    init() throws { self.scratch = try Scratch() }

    /// A run on a state folder without the record of one scan of this phone, killed while another scan was open.
    private func killed(_ name: String, phone: UInt32, hasLost: Bool = true) throws -> PastRun {
        let path = self.scratch.at(name)
        try self.write(path, phone: DeviceNumber(phone), hasLost: hasLost)
        return try PastRun(
            folder: path, head: try PastRun.head(of: path),
            settings: JudgeSettings(shelf: Shelf(seed: 42, booksMin: 4, booksMax: 4), ledger: .embedded))
    }

    private func write(_ path: String, phone: DeviceNumber, hasLost: Bool) throws {
        let directory = try RunDirectory.create(
            .exactly(path), log: ObservationLog(isTracing: false, faults: []))
        directory.begin(Samples.head(groups: ["commuters", "readers"]))
        func log(_ scan: UInt32, _ payload: PhoneObservation) {
            directory.log(
                Observation(at: .zero, device: phone, scan: ScanNumber(scan), what: .phone(payload)))
        }
        if hasLost { log(2, .lostFromStorage(books: 1)) }
        log(0, .launched(restored: 0))
        log(3, .captured(scheduled: .zero))
        directory.flush()
    }

    @Test func `a killed run tells what was lost before it began`() throws {
        let result = try self.killed("run", phone: 1).result
        #expect(result.totals.scans.lost == 1 && result.totals.scans.restored == 1)
        #expect(result.totals.scans.open == 1 && result.totals.scans.isConserved)
        #expect(result.totals.books.expected == 4 && result.totals.books.missing == 3)
        let custody = result.verdicts.first { $0.invariant == .scanCustody }
        #expect(custody?.standing == .broken && custody?.violations == 1)
        #expect(custody?.examples.first?.scan == ScanNumber(2))
        #expect(result.exit == .invariantBroken)
        var lost = LostRecords()
        lost.add(ScanNumber(2), of: DeviceNumber(1))
        #expect(result.remarks.contains(.start(.recordsLost(lost, areBooksKnown: true))), "\(result.remarks)")
    }

    @Test func `of a killed run that lost nothing custody is not known`() throws {
        let result = try self.killed("run", phone: 1, hasLost: false).result
        #expect(result.verdicts.first { $0.invariant == .scanCustody }?.standing == .notAvailable)
        #expect(result.remarks == [] && result.exit == .interrupted)
    }

    @Test func `shards that were killed name the losses of each`() throws {
        let runs = [
            try self.killed("a", phone: 1), try self.killed("b", phone: 4),
            try self.killed("c", phone: 5, hasLost: false),
        ]
        let merged = try #require(try PastRun.merged(runs, Samples.settings())).result
        #expect(merged.totals.scans.lost == 2 && merged.totals.books.expected == 8)
        let custody = merged.verdicts.first { $0.invariant == .scanCustody }
        #expect(custody?.standing == .broken && custody?.violations == 2)
        #expect(custody?.examples.map(\.device) == [DeviceNumber(1), DeviceNumber(4)])
        #expect(merged.remarks.count { $0.kind == .warning } == 2 && merged.exit == .invariantBroken)
    }

    @Test func `a warning names ten of them and counts the rest`() {
        var lost = LostRecords()
        #expect(lost.remark(areBooksKnown: true) == nil)
        for scan in UInt32(1)...12 { lost.add(ScanNumber(scan), of: DeviceNumber(7)) }
        #expect(lost.named.last == "phone 7 scan 10" && lost.named.count == 10 && lost.more == 2)
        #expect(lost.remark(areBooksKnown: false) == .start(.recordsLost(lost, areBooksKnown: false)))
    }
}
