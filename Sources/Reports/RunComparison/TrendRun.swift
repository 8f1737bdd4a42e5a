package import JSON
import Metrics
import Reports
package import RunArchive
package import RunJudge
import SimBase

extension RunTrend {
    /// One run as its `summary.json` has it, or a line of a history, which has the same keys and fewer of them.
    package struct Run: Sendable {
        /// Where it was read: a folder, a file, or the line of a file.
        package let place: String
        /// Whether the place is the folder of a run, with more than the summary.
        package let isFolder: Bool
        package let wasCutOff: Bool
        let summary: JSONNode
        package let world: WorldKind
        package let scenario: String
        let exit: ExitCode
        /// Milliseconds since 1970.
        let started: Int64
        let machine: String?

        /// Why a document is none of a run.
        package struct Problem: Error, Equatable, CustomStringConvertible {
            package var description: String
        }

        /// `machine` and `wasCutOff`: what is known beside the summary.
        package init(
            reading summary: JSONNode, at place: String, isFolder: Bool = false, machine: String? = nil,
            wasCutOff: Bool = false
        ) throws(Problem) {
            guard summary.kind == .object else { throw Problem(description: "it is not a JSON object") }
            let schema = summary["schema"]?.integer
            guard schema == SummaryJSON.schema else {
                throw Problem(
                    description: schema.map {
                        "it has schema \($0), and this program reads \(SummaryJSON.schema)"
                    }
                        ?? "'schema' is missing or no number")
            }
            func need<Value>(_ key: String, _ value: Value?) throws(Problem) -> Value {
                guard let value else { throw Problem(description: "'\(key)' is missing or wrong") }
                return value
            }
            self.world = try need("world", summary["world"]?.text.flatMap(WorldKind.init))
            self.scenario = try need("scenario", summary["scenario"]?["name"]?.text)
            self.exit = try need("exit", summary["exit"]?.integer(Int32.self).flatMap(ExitCode.init))
            self.started = try need(
                "started", summary["started"]?.text.flatMap(Timestamp.unixMilliseconds(iso8601:)))
            _ = try need("seed", summary["seed"]?.digits)
            self.place = place
            self.isFolder = isFolder
            self.wasCutOff = wasCutOff || summary["killed"]?.flag == true
            self.machine = machine ?? summary["machine"]?.text
            self.summary = summary
        }

        package init(folder: String, result: RunResult, wasCutOff: Bool) {
            guard let summary = JSONNode(SummaryJSON.bytes(result)),
                let run = try? Self(
                    reading: summary, at: folder, isFolder: true, machine: result.machine,
                    wasCutOff: wasCutOff)
            else { preconditionFailure("a result has a summary") }
            self = run
        }

        package init(_ run: PastRun) {
            self.init(folder: run.folder, result: run.result, wasCutOff: run.wasCutOff)
        }

        /// Whether both are the same run, wherever they were read.
        package func isSame(as other: Run) -> Bool {
            self.started == other.started && self.seed == other.seed && self.world == other.world
                && self.scenario == other.scenario && self.target == other.target
                && self.summary["seconds"]?.digits == other.summary["seconds"]?.digits
        }

        // MARK: What it was

        var seed: String { self.summary["seed"]?.digits ?? "" }
        var devices: Int { self.summary["devices"]?.count ?? 0 }
        var target: String? { self.summary["target"]?.text }
        var startedText: String { Timestamp.iso8601(unixMilliseconds: self.started) }

        var tags: [(key: String, value: String)] {
            (self.summary["tags"]?.members ?? []).compactMap { tag in tag.value.text.map { (tag.key, $0) } }
        }

        /// What a team calls the state of its code: one of these tags, else the day and time of the start.
        var label: String {
            ["build", "commit", "tag", "version"].lazy.compactMap { key in
                self.tags.first { $0.key == key }?.value
            }.first ?? String(Figures.date(iso8601: self.startedText).dropLast(" UTC".utf8.count + 3))
        }

        /// The label, and the commit beside it.
        var name: String {
            let commit = self.tags.first { $0.key == "commit" }?.value
            return commit.map { $0 == self.label ? $0 : "\(self.label) (commit \($0))" } ?? self.label
        }

        // MARK: How it ended

        var verdict: String { self.wasCutOff ? "killed" : self.exit.headline.lowercased() }
        var tone: Tone { self.wasCutOff ? .warn : self.exit.tone }

        func scans(_ name: String) -> Int { self.summary["scans"]?[name]?.count ?? 0 }
        var begun: Int { self.scans("captured") + self.scans("restored") }
        var completed: String {
            "\(Figures.count(self.scans("completed"))) of \(Figures.count(self.begun))"
        }

        /// Those that the scenario expects are none.
        var violations: Int {
            if let told = self.summary["violations"]?.count { return told }
            return (self.summary["invariants"]?.elements ?? []).reduce(0) { sum, invariant in
                let violations = invariant["violations"]?.count ?? 0
                return violations == invariant["expected"]?.count ? sum : sum.addingSaturating(violations)
            }
        }

        /// The objectives with the text of their conditions.
        var objectives: [(metric: String, expression: String)] {
            (self.summary["slos"]?.elements ?? []).compactMap { slo in
                guard let metric = slo["metric"]?.text, let expression = slo["expression"]?.text else {
                    return nil
                }
                return (metric, expression)
            }
        }

        // MARK: Figures

        private func part(_ scope: MetricScope) -> JSONNode? {
            switch scope {
            case .fleet: self.summary
            case .group(let name): self.summary["groups"]?[Printable.bounded(name)]
            }
        }

        /// The figures of a metric that has any.
        func metric(_ name: String, of scope: MetricScope = .fleet) -> JSONNode? {
            guard let node = self.part(scope)?["metrics"]?[name], node["count"]?.count ?? 0 > 0 else {
                return nil
            }
            return node
        }

        /// `figure`: such as `p95`. In nanoseconds.
        func latency(_ metric: LatencyMetric, _ figure: String, of scope: MetricScope = .fleet) -> Int64? {
            self.metric(metric.rawValue, of: scope)?[figure]?.nanoseconds(6)
        }

        func failed(_ metric: RateMetric, of scope: MetricScope = .fleet) -> FailureRate? {
            guard let node = self.metric(metric.rawValue, of: scope), let total = node["count"]?.count,
                let failed = node["failed"]?.count, failed <= total
            else { return nil }
            return FailureRate(failed: Int64(failed), total: Int64(total))
        }

        /// A count, or an amount of dollars; nil where the run could not know it.
        func number(_ selector: MetricSelector) -> Double? {
            let part = self.part(selector.scope)
            switch selector.metric {
            case .latency, .rate: return nil
            case .count(let metric): return part?["counters"]?[metric.rawValue]?.count.map(Double.init)
            case .fault(let id): return part?["faults"]?[Printable.bounded(id)]?.count.map(Double.init)
            case .cost(let metric):
                // `per_book` of `cost.per-book`
                let name = metric.rawValue.dropFirst("cost.".count).map { $0 == "-" ? "_" : $0 }
                return part?["cost"]?[String(name)]?.decimal
            case .http(let answers):
                guard let counters = part?["counters"] else { return nil }
                return counters.members.reduce(0) { sum, member in
                    guard case .http(let answer)? = Metric(name: member.key),
                        answer.operation == answers.operation,
                        answers.statuses.contains(answer.statuses.lowerBound)
                    else { return sum }
                    return sum + Double(member.value.count ?? 0)
                }
            }
        }
    }
}
