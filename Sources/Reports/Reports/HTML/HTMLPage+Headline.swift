import Ledger
package import Metrics
package import RunJudge
import SimBase
import Talaria

extension HTMLPage {
    private struct Tile {
        var title: HTML
        var figure: HTML
        var note: HTML = ""
        var tone = Tone.plain
    }

    /// The answer to "is it good or bad for the users", in a row: what was tested, how much was completed, and how long it took.
    var headlineRow: HTML {
        let tiles = self.subject + [self.completed] + self.scanTimes
        let shown: [HTML] = tiles.map { tile in
            let sign: HTML = [.good, .warn, .bad].contains(tile.tone) ? "\(HTML.sign(tile.tone)) " : ""
            let note: HTML = tile.note.isEmpty ? "" : " <small>\(tile.note)</small>"
            return """
                <div class="\(tile.tone.rawValue)"><dt>\(tile.title)</dt><dd>\(sign)\(tile.figure)\(note)</dd></div>
                """
        }
        return "<dl class=\"headline\">\(shown.joined())</dl>\n"
    }

    /// The backend, and the build that a tag names.
    private var subject: [Tile] {
        let target =
            self.result.labels.target
            ?? (self.result.hasBackendView ? "simulated backend" : "a backend of its own")
        let build = self.result.labels.tags.first { $0.key == "build" }
            .map { Tile(title: "build", figure: HTML($0.value, bytesMax: 80)) }
        return [Tile(title: "target", figure: HTML(target))] + (build.map { [$0] } ?? [])
    }

    private var completed: Tile {
        let scans = self.result.totals.scans
        let rest = [
            (scans.refused, "refused"), (scans.waiting + scans.open, "unfinished"),
            (scans.canceled, "canceled"), (scans.lost, "lost"),
        ].filter { $0.0 > 0 }.map { "\(Figures.count($0.0)) \($0.1)" }
        let tone: Tone =
            scans.lost > 0 || (scans.begun > 0 && scans.completed == 0)
            ? .bad : scans.completed < scans.begun - scans.canceled ? .warn : .good
        return Tile(
            title: "\(self.result.noun.many) completed",
            figure: "\(Figures.count(scans.completed)) of \(Figures.count(scans.begun))",
            note: HTML(rest.joined(separator: ", ")), tone: scans.begun == 0 ? .plain : tone)
    }

    private var scanTimes: [Tile] {
        let name = LatencyMetric.scanTime.rawValue
        guard let histogram = self.result.metrics.histogram(.scanTime, of: .fleet).known,
            let summary = LatencySummary(histogram)
        else { return [Tile(title: "\(name)", figure: "–", note: "none completed")] }
        let unfinished = self.result.metrics.unfinished(.scanTime, of: .fleet)
        // The first objective of the whole fleet on the time of a scan.
        let objective = self.result.objective(on: .scanTime)
        var tiles = [
            Tile(title: "\(name) p50", figure: HTML.time(summary.p50)),
            Tile(
                title: "\(name) p95", figure: HTML.time(summary.p95),
                note: objective.map { "limit \(Self.limitText($0.slo))" } ?? "no limit set",
                tone: objective.map { self.result.tone(of: $0) } ?? .plain),
        ]
        let slowest = max(summary.maximum, unfinished.oldest.nanoseconds)
        if let objective, case .time(let limit) = objective.slo.condition.threshold {
            // Those that had not finished felt no end of it.
            let all = histogram.total.addingSaturating(unfinished.count)
            let within = FailureRate(failed: histogram.count(atOrBelow: limit), total: all)
            tiles.append(
                Tile(
                    title: "done within \(HTML.time(limit))", figure: "\(Figures.share(within))",
                    note: "of \(Figures.count(all, self.result.noun)); slowest \(HTML.time(slowest))"))
        } else {
            tiles.append(
                Tile(
                    title: "slowest \(self.result.noun.one)", figure: HTML.time(slowest),
                    note: unfinished.isEmpty ? "" : "unfinished"))
        }
        return tiles
    }

    /// `p(95) < 20 s`.
    static func limitText(_ slo: SLO) -> HTML {
        // A condition stays in one line.
        HTML(sentence: Printable.tied(slo.condition.description), bytesMax: 120)
    }
}

extension RunResult {
    /// The objective of the whole fleet on a latency that a report shows with it: a failed one before others.
    package func objective(on metric: LatencyMetric) -> SLOResult? {
        let all = self.slos.filter { result in
            guard case .time = result.slo.condition.threshold else { return false }
            return result.slo.selector.metric == .latency(metric) && result.slo.selector.scope == .fleet
        }
        return all.first(where: \.isBreach) ?? all.first
    }
}
