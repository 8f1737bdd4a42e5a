import CSV
import Foundation
import SimBase
import Testing

extension SideBySide {
    /// Generated library files, read by Python.
    @Suite struct LibraryFileTests {
        @Test(arguments: CSVFormat.Separator.allCases)
        func `Python reads every generated file with the same rows`(
            separator: CSVFormat.Separator
        ) async throws {
            let scratch = try Scratch()
            var files: [(path: String, table: [[String]])] = []
            for number in 1...40 as ClosedRange<UInt32> {
                var spec = LibrarySpec()
                spec.rows = Int(number % 4) * 60
                spec.lineBreaks = .percent(30)
                spec.quotes = .percent(30)
                spec.noteBytes = number.isMultiple(of: 5) ? 0...3_000 : nil
                spec.format.separator = separator
                spec.format.lineEnd = number.isMultiple(of: 2) ? .lf : .crlf
                spec.format.quoting = number.isMultiple(of: 3) ? .all : .minimal
                spec.format.hasByteOrderMark = number.isMultiple(of: 7)
                let file = LibraryFile(spec, KeyedRandom(seed: 5), device: DeviceNumber(0), number: number)
                let url = scratch.folder.appending(path: "\(number).csv")
                try Data(file.bytes).write(to: url)
                files.append((url.path, file.table))
            }
            let script = Package.tests.appending(path: "Tools/csv_rows.py").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", script, "\(separator)"] + files.map(\.path))
            try #require(outcome.code == 0, "\(outcome.complaint)")
            let lines = outcome.output.split(separator: "\n")
            try #require(lines.count == files.count)
            for (line, file) in zip(lines, files) {
                let rows = try JSONDecoder().decode([[String]].self, from: Data(line.utf8))
                #expect(rows == file.table, "\(file.path)")
            }
        }
    }
}
