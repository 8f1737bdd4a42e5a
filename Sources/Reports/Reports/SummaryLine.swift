import Ledger
import Metrics
package import RunJudge
import SimBase
import Talaria

/// A run in one line, for example for the log of a build.
package enum SummaryLine {
    /// `PASSED flaky-network: 120 of 120 scans completed, 0 lost, scan.time p50 3.1s p95 6.2s, exit code 0, Reports/…`.
    package static func text(_ result: RunResult, style: TerminalStyle) -> String {
        let scans = result.totals.scans
        var facts = [
            "\(Figures.count(scans.completed)) of \(Figures.count(scans.begun, result.noun)) completed",
            "\(Figures.count(scans.lost)) lost",
        ]
        if let time = result.latency(.scanTime) {
            let limit = result.objective(on: .scanTime).map { " (limit \($0.slo.condition))" } ?? ""
            facts.append(
                "\(LatencyMetric.scanTime.rawValue) p50 \(Figures.time(time.p50)) p95 \(Figures.time(time.p95))\(limit)"
            )
        }
        if result.exitReasons.contains(.endedByObjective), let end = result.endedEarly { facts.append(end) }
        facts += result.reasons
        facts.append("exit code \(result.exit.rawValue)")
        if let directory = result.directory { facts.append(directory) }
        let name = "\(result.headline) \(result.scenario.name), seed \(result.seed)"
        let line = Printable.line("\(name): \(facts.joined(separator: ", "))", bytesMax: 4_000)
        // Figures have no-break spaces, which a search of a log for an ordinary space does not find.
        let untied = String(
            String.UnicodeScalarView(line.unicodeScalars.map { $0 == Printable.tie ? " " : $0 }))
        return style.isASCII ? Printable.ascii(untied) : untied
    }
}
