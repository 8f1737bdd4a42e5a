import Metrics
import ReportSamples
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import RunArchive

/// `scans.ndjson`, written and read.
@Suite struct ScansFileTests {
    private func table(_ count: UInt32 = 50) -> ScanTable {
        var table = ScanTable()
        for index in 0..<count {
            var row = ScanRow(
                device: DeviceNumber(index % 7), scan: ScanNumber(index / 7 + 1),
                at: .zero + .microseconds(Int64(index) * 1_234_567))
            row.end = ScanEnd.allCases[Int(index) % 4]
            row.books = Int(index % 9)
            for (place, metric) in ScanTable.metrics.enumerated() where (Int(index) + place) % 3 > 0 {
                row.record(metric, .microseconds(Int64(place) * 1_010 + Int64(index) * 10))
            }
            for (place, activity) in ScanActivity.allCases.enumerated() where (Int(index) + place) % 4 == 0 {
                row.spent.add(.milliseconds(Int64(place + 1)), to: activity)
            }
            table.add(row)
        }
        return table
    }

    private func read(_ bytes: [UInt8]) throws -> ScanTable? {
        let folder = try Scratch()
        try OutputFile.write(bytes, to: RunDirectory.joined(folder.path, RunDirectory.FileName.scans))
        return ScansFile.read(folder.path)
    }

    @Test func `what is written is read`() throws {
        let table = self.table()
        let bytes = ScansFile.bytes(table)
        let read = try #require(try self.read(bytes))
        #expect(ScansFile.bytes(read) == bytes)
        #expect(read == table)
        #expect(read.rows.count == 50)
        let row = try #require(read.row(of: DeviceNumber(3), ScanNumber(2)))
        #expect(row.end == .canceled && row.books == 1 && row[.scanTime] == .microseconds(100))
        #expect(row.at == .zero + .microseconds(12_345_670))
        #expect(row[.uploadTime] == table.row(of: DeviceNumber(3), ScanNumber(2))?[.uploadTime])
    }

    @Test func `a sample says of how many it is one`() throws {
        var table = self.table(5_000)
        table.thin(to: 8)
        let text = String(decoding: ScansFile.bytes(table), as: UTF8.self)
        #expect(text.hasPrefix("{\"schema\":1,\"one_of\":8}\n"))
        #expect(try self.read(Array(text.utf8))?.oneOf == 8)
    }

    @Test(arguments: [
        "", "{}", "{\"schema\":2,\"one_of\":1}\n", "{\"schema\":1,\"one_of\":3}\n",
        "{\"schema\":1,\"one_of\":0}\n",
    ]) func `another file is none`(text: String) throws {
        #expect(try self.read(Array(text.utf8)) == nil)
    }

    /// Half of the scans of a run are not the run.
    @Test func `a damaged line spoils the file`() throws {
        let bytes = ScansFile.bytes(self.table())
        #expect(try self.read(Array(bytes.dropLast(3))) == nil)
        let text = String(decoding: bytes, as: UTF8.self)
        for (old, new) in [
            ("\"end\":\"completed\"", "\"end\":\"gone\""), ("\"books\":1,", "\"books\":-1,"),
            ("\"scan.time\"", "\"scan.tim\""), ("\"phone\":3", "\"phone\":\"3\""),
        ] {
            let first = try #require(text.firstRange(of: old))
            #expect(
                try self.read(Array(text.replacingCharacters(in: first, with: new).utf8)) == nil, "\(new)")
        }
        #expect(ScansFile.read("/nowhere") == nil)
    }
}
