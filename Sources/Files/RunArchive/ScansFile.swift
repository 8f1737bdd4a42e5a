import JSON
import Metrics
package import RunMetrics
import SimBase
import SystemIO
import Talaria

/// `scans.ndjson`: what each scan took, so that the scans of two runs can be paired. The first line says how many scans there are
/// for each that is listed; then comes one line a scan, in the order of their scheduled captures:
///
///     {"schema":1,"one_of":1}
///     {"phone":17,"scan":3,"at_ms":12480.5,"end":"completed","books":6,"ms":{"scan.time":5571.02,"upload.time":812.4},
///      "spent_ms":{"upload":806.11,"server":4764.9}}
///
/// If a scan has several samples of a latency, the longest is listed. `spent_ms` divides its time between its activities.
package enum ScansFile {
    private static let schema = 1
    /// The maximum size of the file: of a run with more scans it has a sample.
    package static let bytesMax = 64 << 20

    // MARK: Writing

    package static func bytes(_ scans: ScanTable) -> [UInt8] {
        var scans = scans
        while true {
            let bytes = Self.text(scans)
            guard bytes.count > Self.bytesMax else { return bytes }
            scans.thin(to: scans.oneOf * 2)
        }
    }

    private static func text(_ scans: ScanTable) -> [UInt8] {
        JSONWriter.bytes { line in
            line.object { line in
                line.member("schema", Int64(Self.schema))
                line.member("one_of", scans.oneOf)
            }
            line.newline()
            let rows = scans.rows.sorted { ($0.at, $0.device, $0.scan) < ($1.at, $1.device, $1.scan) }
            for row in rows {
                Self.write(row, to: &line)
                line.newline()
            }
        }
    }

    private static func write(_ row: ScanRow, to line: inout JSONWriter) {
        line.object { line in
            line.member("phone", Int64(row.device.raw))
            line.member("scan", Int64(row.scan.raw))
            line.member("at_ms", thousandths: Int(clamping: row.at.nanoseconds / 1_000))
            line.member("end", row.end.rawValue)
            line.member("books", Int64(row.books))
            line.object("ms") { line in
                for metric in ScanTable.metrics {
                    guard let time = row[metric] else { continue }
                    line.key(text: metric.rawValue)
                    line.raw(Self.milliseconds(time))
                }
            }
            guard row.spent.total > .zero else { return }
            line.object("spent_ms") { line in
                for activity in ScanActivity.allCases where row.spent[activity] > .zero {
                    line.key(text: activity.rawValue)
                    line.raw(Self.milliseconds(row.spent[activity]))
                }
            }
        }
    }

    private static func milliseconds(_ time: Interval) -> String {
        DecimalText.text(time.nanoseconds / 1_000, decimals: 3, shown: 0...3)
    }

    // MARK: Reading

    private static let names = JSONKeys(ScanTable.metrics.map(\.rawValue))

    /// Nil without such a file, or where a line of it is damaged: half of the pairs prove nothing.
    package static func read(_ folder: String) -> ScanTable? {
        guard var lines = LineReader(path: RunDirectory.joined(folder, RunDirectory.FileName.scans)),
            let head = lines.next().flatMap({ JSONNode(Array($0)) }), head["schema"]?.integer == Self.schema,
            let oneOf = head["one_of"]?.integer(UInt64.self), oneOf.nonzeroBitCount == 1
        else { return nil }
        var scans = ScanTable(oneOf: oneOf)
        while let line = lines.next() {
            guard let node = JSONNode(Array(line)), let row = Self.row(node) else { return nil }
            scans.add(row)
        }
        return lines.isWhole ? scans : nil
    }

    /// The scans of all parts of a run; nil if one has none, or if two have the same phone.
    static func merged(_ folders: [String]) -> ScanTable? {
        var all = ScanTable()
        for folder in folders {
            guard let part = Self.read(folder), all.add(part) else { return nil }
        }
        return all
    }

    /// Where the time of the slow scans of some runs went; nil if the scans of one are not known.
    static func slow(_ folders: [String], limit: Interval?) -> SlowTime? {
        let tables = folders.compactMap(Self.read)
        guard tables.count == folders.count, let oneOf = tables.map(\.oneOf).max() else { return nil }
        let rows = tables.flatMap { table in
            var table = table
            table.thin(to: oneOf)
            return table.rows
        }
        return SlowTime(of: rows, limit: limit)
    }

    private static func row(_ node: JSONNode) -> ScanRow? {
        guard let device = node["phone"]?.integer(UInt32.self), let scan = node["scan"]?.integer(UInt32.self),
            let at = node["at_ms"]?.nanoseconds(6), let books = node["books"]?.count,
            let end = node["end"]?.text.flatMap(ScanEnd.init(rawValue:)), let times = node["ms"],
            times.kind == .object
        else { return nil }
        var row = ScanRow(device: DeviceNumber(device), scan: ScanNumber(scan), at: Instant(nanoseconds: at))
        row.end = end
        row.books = books
        var isKnown = true
        times.eachMember(of: Self.names) { _, index, value in
            guard let metric = index.map({ ScanTable.metrics[$0] }), let nanoseconds = value.nanoseconds(6)
            else {
                isKnown = false
                return
            }
            row.record(metric, .nanoseconds(nanoseconds))
        }
        for member in node["spent_ms"]?.members ?? [] {
            guard let activity = ScanActivity(rawValue: member.key), let time = member.value.nanoseconds(6)
            else {
                return nil
            }
            row.spent.add(.nanoseconds(time), to: activity)
        }
        return isKnown ? row : nil
    }
}
