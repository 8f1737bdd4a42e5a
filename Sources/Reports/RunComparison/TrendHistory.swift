import JSON
import Metrics
import Reports
import RunArchive
import SimBase

/// A history that a team keeps in git: one line of JSON for each run, with the keys of `summary.json` that a trend reads.
package enum TrendHistory {
    /// The bytes that are read at most: some 10,000 runs.
    package static let bytesMax = InputFile.planBytesMax

    /// A line that is none of a run.
    package struct BadLine: Error, Equatable, CustomStringConvertible {
        package var file: String
        package var line: Int
        package var reason: String

        package var description: String { "\(self.file):\(self.line): \(self.reason)" }
    }

    /// The runs of a file. Empty lines are left out, and so is a run that is there twice, as after a merge of two branches.
    package static func read(_ bytes: [UInt8], file: String) throws(BadLine) -> [RunTrend.Run] {
        var runs: [RunTrend.Run] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated()
        where line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") }) {
            guard let node = JSONNode(Array(line)) else {
                throw BadLine(file: file, line: index + 1, reason: "it is not JSON")
            }
            do throws(RunTrend.Run.Problem) {
                let run = try RunTrend.Run(reading: node, at: "\(file):\(index + 1)")
                if !runs.contains(where: run.isSame) { runs.append(run) }
            } catch {
                throw BadLine(file: file, line: index + 1, reason: "\(error)")
            }
        }
        return runs
    }

    // MARK: Writing

    private static let keys = [
        "schema", "tool", "scenario", "target", "tags", "seed", "world", "started", "seconds", "devices",
        "passed", "exit", "cost",
    ]

    /// The line of a run, with its line feed. Equal runs have equal lines.
    package static func line(_ run: RunTrend.Run) -> String {
        let summary = run.summary
        let judged = run.objectives.compactMap { try? MetricSelector(parsing: $0.metric, vocabulary: nil) }
        var members: [String: JSONValue] = [:]
        for key in Self.keys { members[key] = summary[key].map { JSONValue($0) } }
        members["killed"] = run.wasCutOff ? .bool(true) : nil
        members["machine"] = run.machine.map { .string($0) }
        members["violations"] = .integer(run.violations)
        members["scans"] = Self.picked(
            summary["scans"], ["captured", "restored", "completed", "lost", "waiting"])
        members["slos"] = .array(
            (summary["slos"]?.elements ?? []).map {
                Self.picked($0, ["metric", "expression", "actual", "passed"])
            })
        let fleet = judged.filter { $0.scope == .fleet }.map(\.metric.name)
        members["metrics"] = Self.metrics(summary["metrics"]) { _ in true }
        members["counters"] = Self.counts(summary["counters"], judged: fleet)
        members["faults"] = summary["faults"].map { JSONValue($0) }
        let groups = judged.compactMap { selector -> (name: String, metric: String)? in
            guard case .group(let name) = selector.scope else { return nil }
            return (Printable.bounded(name), selector.metric.name)
        }
        if !groups.isEmpty {
            members["groups"] = .members(
                groups.map { group in
                    let part = summary["groups"]?[group.name]
                    let names = groups.filter { $0.name == group.name }.map(\.metric)
                    let figures: [String: JSONValue] = [
                        "metrics": Self.metrics(part?["metrics"], where: names.contains),
                        "counters": Self.counts(part?["counters"], judged: names),
                    ]
                    return (group.name, JSONValue.object(figures))
                })
        }
        return JSONValue.object(members).line + "\n"
    }

    private static func picked(_ node: JSONNode?, _ keys: [String]) -> JSONValue {
        .members(keys.compactMap { key in node?[key].map { (key, JSONValue($0)) } })
    }

    /// The figures of the metrics that have any.
    private static func metrics(_ node: JSONNode?, where isKept: (String) -> Bool) -> JSONValue {
        let kept = (node?.members ?? []).filter { isKept($0.key) && $0.value["count"]?.count ?? 0 > 0 }
        let figures = ["unit", "count", "p50", "p95", "p99", "failed", "rate"]
        return .members(kept.map { ($0.key, Self.picked($0.value, figures)) })
    }

    /// What was counted, also 0: a later run may be judged by it. Of statuses, of which there are many, only what came or is judged.
    private static func counts(_ node: JSONNode?, judged: [String]) -> JSONValue {
        let kept = (node?.members ?? []).filter { member in
            guard let count = member.value.count else { return false }
            return count > 0 || !member.key.hasPrefix("http.") || judged.contains(member.key)
        }
        return .members(kept.map { ($0.key, JSONValue($0.value)) })
    }
}
