import Ledger
package import Metrics
import Observations
import RunArchive
package import RunJudge
import RunMetrics
package import SimBase
import Talaria

/// The run's numbers for Prometheus and what reads its formats: `metrics.prom` of a run that is over, and `/metrics` of one that
/// goes on. What this run cannot know is left out.
package enum OpenMetrics {
    /// What only a run in progress has.
    package struct Progress: Sendable {
        /// `nil`: it depends on the backend.
        package var scansPlanned: Int?
        package var phonesConnected: Int?
        package var phonesReconnecting: Int?
        package var phonesOffline: Int
        package var latenessMost: Interval?

        package init(
            scansPlanned: Int?, phonesConnected: Int?, phonesReconnecting: Int?, phonesOffline: Int,
            latenessMost: Interval?
        ) {
            self.scansPlanned = scansPlanned
            self.phonesConnected = phonesConnected
            self.phonesReconnecting = phonesReconnecting
            self.phonesOffline = phonesOffline
            self.latenessMost = latenessMost
        }
    }

    /// `progress`: nil if the run is over.
    package static func text(
        _ result: RunResult, _ progress: Progress? = nil, as format: MetricsText.Format = .openMetrics
    ) -> String {
        Self.samples(result, progress).text(as: format)
    }

    /// `progress`: nil if the run is over.
    static func samples(_ result: RunResult, _ progress: Progress? = nil) -> MetricSamples {
        var samples = MetricSamples()
        let run: MetricSamples.Labels = [
            ("scenario", result.scenario.name), ("seed", "\(result.seed)"), ("world", result.world.rawValue),
        ]
        samples.add(.run, [(run + Self.labels(result), "1")])
        samples.add(.runActive, progress == nil ? 0 : 1)
        if progress == nil {
            samples.add(.runExitCode, [(run, "\(result.exit.rawValue)")])
            samples.add(.runPassed, [(run, result.exit == .success ? "1" : "0")])
        }
        // As exact as `summary.json` has it, so that a report that is made from files is the same.
        let length = (result.length.nanoseconds + 500_000) / 1_000_000 * 1_000_000
        samples.add(.runSeconds, [(run, MetricSamples.seconds(length))])
        samples.add(.phones, [(run, "\(result.devices)")])
        if let progress { Self.add(progress, to: &samples) }
        samples.add(.scansOpen, result.totals.scans.open)
        Self.addVerdicts(result, to: &samples)
        Self.addMetrics(result, to: &samples)
        Self.addErrors(result, to: &samples)
        Self.addResources(result, to: &samples)
        return samples
    }

    private static func labels(_ result: RunResult) -> MetricSamples.Labels {
        var labels: MetricSamples.Labels = [("tool", result.tool), ("sha256", result.scenario.sha256)]
        if let target = result.labels.target { labels.append(("target", target)) }
        if let http = result.labels.http {
            labels += [("http", http.version.rawValue), ("http_by", http.decision.rawValue)]
        }
        return labels + result.labels.tags.map { ("tag_\($0.key)", $0.value) }
    }

    private static func add(_ progress: Progress, to samples: inout MetricSamples) {
        let states = [
            ("connected", progress.phonesConnected), ("reconnecting", progress.phonesReconnecting),
            ("offline", progress.phonesOffline),
        ]
        samples.add(
            .phonesByState,
            states.compactMap { name, count in count.map { ([("state", name)], "\($0)") } })
        samples.add(.scansPlanned, progress.scansPlanned)
        if let most = progress.latenessMost {
            samples.add(.generatorLatenessMost, [([], MetricSamples.seconds(most.nanoseconds))])
        }
    }

    // MARK: Metrics

    /// The fleet has no label, and each of several groups has one.
    private static func scopes(_ result: RunResult) -> [(labels: MetricSamples.Labels, scope: MetricScope)] {
        let groups = result.groups.count > 1 ? result.groups.map(\.name) : []
        return [([], .fleet)] + groups.map { ([("group", $0)], .group($0)) }
    }

    private static func perScope(_ result: RunResult, _ value: (MetricScope) -> String?)
        -> MetricSamples.Samples
    {
        Self.scopes(result).compactMap { labels, scope in value(scope).map { (labels, $0) } }
    }

    private static func addMetrics(_ result: RunResult, to samples: inout MetricSamples) {
        for metric in LatencyMetric.allCases {
            let histograms = Self.scopes(result).compactMap {
                labels, scope -> (MetricSamples.Labels, HDRHistogram)? in
                guard case .measured(let histogram) = result.metrics.histogram(metric, of: scope) else {
                    return nil
                }
                return (labels, histogram)
            }
            samples.add(MetricFamily(metric), histograms)
            samples.add(MetricFamily(quantilesOf: metric), histograms.flatMap(Self.quantiles))
        }
        for metric in RateMetric.allCases {
            func rate(_ path: KeyPath<FailureRate, Int64>) -> MetricSamples.Samples {
                Self.perScope(result) { scope in
                    guard case .measured(let rate) = result.metrics.rate(metric, of: scope) else {
                        return nil
                    }
                    return "\(rate[keyPath: path])"
                }
            }
            samples.add(MetricFamily(failedOf: metric), rate(\.failed))
            samples.add(MetricFamily(operationsOf: metric), rate(\.total))
        }
        Self.addCounts(result, to: &samples)
    }

    private static func addCounts(_ result: RunResult, to samples: inout MetricSamples) {
        for metric in CountMetric.allCases {
            samples.add(
                MetricFamily(metric),
                Self.perScope(result) { scope in
                    guard case .measured(let count) = result.metrics.count(metric, of: scope) else {
                        return nil
                    }
                    return "\(count)"
                })
        }
        for metric in CostMetric.allCases {
            samples.add(
                MetricFamily(metric),
                Self.perScope(result) { scope in
                    guard case .measured(let cost?) = result.metrics.cost(metric, of: scope) else {
                        return nil
                    }
                    return cost.text(shown: 9...9)
                })
        }
    }

    private static func quantiles(_ labels: MetricSamples.Labels, _ histogram: HDRHistogram)
        -> MetricSamples.Samples
    {
        guard let summary = LatencySummary(histogram) else { return [] }
        let quantiles = [
            ("0.5", summary.p50), ("0.9", summary.p90), ("0.95", summary.p95), ("0.99", summary.p99),
            ("0.999", summary.p999), ("1.0", summary.maximum),
        ]
        return quantiles.map { (labels + [("quantile", $0)], MetricSamples.seconds($1)) }
    }

    // MARK: Verdicts

    private static func addVerdicts(_ result: RunResult, to samples: inout MetricSamples) {
        // Two objectives may judge the same in the same words.
        var seen = Set<String>()
        let slos = result.slos.compactMap { result -> (labels: MetricSamples.Labels, result: SLOResult)? in
            let labels: MetricSamples.Labels = [
                ("metric", result.slo.selector.description), ("expression", result.slo.condition.description),
                ("severity", result.slo.severity.rawValue),
            ]
            return seen.insert(labels.map { $0.1 }.joined(separator: "\n")).inserted ? (labels, result) : nil
        }
        samples.add(
            .sloPassed, slos.compactMap { slo in slo.result.passed.map { (slo.labels, $0 ? "1" : "0") } })
        samples.add(
            .sloValue, slos.compactMap { slo in slo.result.value.map { (slo.labels, Self.text($0)) } })
        samples.add(.sloLimit, slos.map { ($0.labels, Self.text($0.result.slo.condition.threshold)) })
        samples.add(
            .invariantViolations,
            result.verdicts.filter { $0.standing != .notAvailable }.map {
                ([("invariant", $0.invariant.rawValue)], "\($0.violations)")
            })
    }

    private static func text(_ value: SLOValue) -> String {
        switch value {
        case .time(let nanoseconds): MetricSamples.seconds(nanoseconds)
        case .share(let rate): Figures.ratio(rate)
        case .number(let number): "\(number)"
        case .money(let microdollars): DecimalText.text(microdollars, decimals: 6, shown: 0...6)
        }
    }

    private static func text(_ threshold: Threshold) -> String {
        switch threshold {
        case .time(let nanoseconds): MetricSamples.seconds(nanoseconds)
        case .share(let perMillion): DecimalText.text(perMillion, decimals: 6, shown: 0...6)
        case .number(let number): "\(number)"
        case .money(let microdollars): DecimalText.text(microdollars, decimals: 6, shown: 0...6)
        }
    }

    // MARK: Trouble

    private static func addErrors(_ result: RunResult, to samples: inout MetricSamples) {
        // One sample for each family and cause: names of errors may be a server's.
        var errors = Counters()
        for row in result.errors {
            var known = 0
            for entry in row.causes.entries {
                errors.add(Int64(entry.count), to: "\(row.trouble.family.rawValue)\n\(entry.cause.by)")
                known += entry.count
            }
            // Those of an older log have none.
            if known < row.count {
                errors.add(Int64(row.count - known), to: "\(row.trouble.family.rawValue)\nunknown")
            }
        }
        samples.add(
            .errors,
            errors.entries.map { name, count in
                let parts = name.split(separator: "\n").map(String.init)
                return ([("family", parts[0]), ("cause", parts[1])], "\(count)")
            })
        samples.add(
            .disconnections,
            result.losses.flatMap { loss in
                [("resumed", loss.resumed), ("restarted", loss.restarted), ("gave-up", loss.gaveUp)].map {
                    ([("cause", loss.cause.rawValue), ("outcome", $0)], "\($1)")
                }
            })
        samples.add(
            .disconnectionsOpen,
            result.losses.map { ([("cause", $0.cause.rawValue)], "\($0.unresolved)") })
        samples.add(
            .httpReplies,
            result.metrics.everything(of: .fleet).replies.map {
                ([("status", $0.status == 0 ? "other" : "\($0.status)")], "\($0.count)")
            })
        samples.add(
            .faultsFired,
            result.faults.compactMap { fault in fault.count.map { ([("fault", fault.id)], "\($0)") } })
    }

    private static func addResources(_ result: RunResult, to samples: inout MetricSamples) {
        samples.add(.generatorHealthy, result.isTrustworthy ? 1 : 0)
        let processes = [("phones", result.resources.client), ("backend", result.resources.backend)]
        samples.add(
            .processCPU,
            processes.compactMap { name, usage in
                usage.map { ([("process", name)], MetricSamples.seconds($0.processor.nanoseconds)) }
            })
        samples.add(
            .processMemory,
            processes.compactMap { name, usage in
                usage.map { ([("process", name)], "\($0.residentBytes)") }
            })
        if let bytes = result.resources.streamBytes {
            samples.add(
                .streamBytes,
                [("sent", bytes.sent), ("received", bytes.received)].map { ([("direction", $0)], "\($1)") })
        }
    }
}
