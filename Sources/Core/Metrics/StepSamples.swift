package import SimBase

/// What the present step of a load showed so far, by intervals of a second: which of them are judged is known at its end.
package struct StepSamples: Sendable {
    private struct Second: Sendable {
        let from: Instant
        var objectives: [SLOSample]
        var scanTime: HDRHistogram
    }

    /// The objectives that decide a step.
    package let objectives: [SLO]
    private var seconds: [Second] = []

    /// `objectives`: those of the run, of which some decide.
    package init(_ objectives: [SLO]) { self.objectives = objectives.filter(\.decidesStep) }

    /// Adds the measurements since a moment, of a second at most.
    package mutating func add(_ table: MetricTable, from moment: Instant) {
        let samples = self.objectives.map { SLOSample(of: $0.selector, in: table).finished }
        let scanTime = Self.scanTime(in: table)
        self.seconds.append(Second(from: moment, objectives: samples, scanTime: scanTime))
    }

    /// Forgets what was before a moment.
    package mutating func forget(before moment: Instant) { self.seconds.removeAll { $0.from < moment } }

    /// Returns what the part of a step showed. `open`: the operations that are open at its end.
    package func evidence(of part: Range<Instant>, open: MetricTable, lag: GeneratorLag?) -> StepEvidence {
        let seconds = self.seconds.filter { part.contains($0.from) }
        var scanTime = HDRHistogram()
        for second in seconds { scanTime.add(second.scanTime) }
        let results = self.objectives.indices.compactMap { index in
            self.result(of: index, in: seconds, open: open)
        }
        return StepEvidence(
            objectives: results, p50: scanTime.value(at: .p50).map { Interval(nanoseconds: $0) },
            p95: scanTime.value(at: .p95).map { Interval(nanoseconds: $0) }, completed: scanTime.total,
            unfinished: open.unfinished(.scanTime, of: .fleet).count, lag: lag)
    }

    /// Nil without data.
    private func result(of index: Int, in seconds: [Second], open: MetricTable) -> SLOResult? {
        let slo = self.objectives[index]
        var sample: SLOSample?
        for second in seconds {
            if sample == nil { sample = second.objectives[index] } else { sample?.add(second.objectives[index]) }
        }
        if let result = sample.map({ slo.evaluate($0) }), !result.noData, result.passed != nil { return result }
        guard case .latency(let metric) = slo.selector.metric else { return nil }
        return slo.missed(open.unfinished(metric, of: slo.selector.scope))
    }

    private static func scanTime(in table: MetricTable) -> HDRHistogram {
        guard case .measured(let histogram) = table.histogram(.scanTime, of: .fleet) else {
            return HDRHistogram()
        }
        return histogram
    }
}

extension SLO {
    /// Whether a step of a load can be judged by it, and fails with it: it is the scenario's, and is not about the time after a
    /// fault, the whole run, or something that must have become large by the end.
    package var decidesStep: Bool {
        guard self.origin == .stated, self.severity == .error, self.selector.metric.isKnownOverTime else {
            return false
        }
        switch self.condition.span {
        case .wholeRun, .everyWindow: return self.condition.isFairOfPart
        case .afterFault: return false
        }
    }
}
