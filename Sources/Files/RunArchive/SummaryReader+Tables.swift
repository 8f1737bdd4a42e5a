import JSON
import Ledger
import Metrics
import Observations
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// The tables that `PastRun` otherwise makes from the log.
extension SummaryReader {
    /// Adds the errors and the counts of the disconnections. A summary has no times of reconnects by cause, and no errors by group.
    func addTables(to result: inout RunResult) {
        result.errors = (self.summary["errors"]?.elements ?? []).compactMap(Self.error)
        result.disconnections = Self.disconnections(self.summary)
        for index in result.groups.indices {
            let group = self.summary["groups"]?[Printable.bounded(result.groups[index].name)]
            result.groups[index].tables.disconnections = Self.disconnections(group)
        }
    }

    private static func error(_ row: JSONNode) -> ErrorSummary.Row? {
        guard let name = row["error"]?.text,
            let family = row["family"]?.text.flatMap({ ErrorFamily(rawValue: $0) }),
            let count = row["count"]?.count, let device = row["first"]?["device"]?.integer(UInt32.self),
            let first = row["first"]?["at"]?.nanoseconds(6), let last = row["last"]?.nanoseconds(6)
        else { return nil }
        return ErrorSummary.Row(
            trouble: RunError(family: family, name: name), count: count,
            first: Instant(nanoseconds: first), last: Instant(nanoseconds: last),
            device: DeviceNumber(device),
            scan: row["first"]?["scan"]?.integer(UInt32.self).map { ScanNumber($0) } ?? .none,
            causes: CauseCounts(reading: row["causes"]))
    }

    private static func disconnections(_ part: JSONNode?) -> Disconnections {
        let rows = (part?["disconnections"]?.elements ?? []).compactMap { row -> Disconnection? in
            guard let cause = row["cause"]?.text.flatMap({ LossCause(rawValue: $0) }) else { return nil }
            func count(_ name: String) -> Int64 { Int64(row[name]?.count ?? 0) }
            return Disconnection(
                cause: cause, count: count("count"), resumed: count("resumed"),
                restarted: count("restarted"), gaveUp: count("gave_up"), reconnectTime: HDRHistogram())
        }
        return Disconnections(rows)
    }

    static func differences(_ value: JSONNode?) -> TextDifferences {
        func kind(_ row: JSONNode) -> TextDifferences.Kind? {
            guard let field = row["field"]?.text.flatMap({ Reconciliation.Field(rawValue: $0) }),
                let chosen = row["chosen"]?.text.flatMap({ Reconciliation.Source(rawValue: $0) }),
                let right = row["right"]?.text.flatMap({ TextDifferences.Right(rawValue: $0) })
            else { return nil }
            return TextDifferences.Kind(field: field, chosen: chosen, right: right)
        }
        var differences = TextDifferences()
        for row in value?["counts"]?.elements ?? [] {
            guard let kind = kind(row) else { continue }
            differences.counts[kind] += row["count"]?.count ?? 0
        }
        for row in value?["first"]?.elements ?? [] {
            guard let kind = kind(row), let device = row["device"]?.integer(UInt32.self),
                let scan = row["scan"]?.integer(UInt32.self), let read = row["read"]?.text,
                let verified = row["verified"]?.text
            else { continue }
            differences.keep(
                TextDifferences.Example(
                    device: DeviceNumber(device), scan: ScanNumber(scan), kind: kind, read: read,
                    verified: verified))
        }
        return differences
    }
}
