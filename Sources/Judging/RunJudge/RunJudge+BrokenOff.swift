import Ledger
package import Metrics
import RunMetrics
import SimBase

extension RunJudge {
    /// Invariants that the log can show broken although it leaves out progress events, and books' small print, and although
    /// the run has no end.
    private static let visible: Set<Invariant> = [
        .scanRefusedForCause, .bookNeverDoubleAdded, .jobNotCleanedEarly, .limitHonoured, .slotsBounded,
    ]

    /// Returns the result of a run that was killed: there are no more observations, and no end to judge. `measured` is what
    /// the files hold of its intervals: it knows of what the log of observations leaves out.
    package mutating func breakOff(of head: RunHead, measured: MetricTable) -> RunResult {
        self.judgeUndecided(at: nil, nil)
        self.collector.finish()
        self.past.add(self.collector.drain())
        self.ledger.breakOff()
        self.losses.breakOff()
        var table = Self.table(self.past.table, measured, of: head)
        self.ledger.record(into: &table)
        var result = self.result(of: head, length: self.timeline.until - .zero, metrics: table)
        let verdicts = Self.visible(self.ledger.verdicts, losses: self.losses.verdicts)
        result.verdicts = verdicts
        for index in result.groups.indices {
            result.groups[index].verdicts = Self.visible(
                self.ledger.verdicts(ofGroup: index), losses: self.losses.verdicts(ofGroup: index))
        }
        result.expect(self.expectations)
        // Parts of a run are judged while it continues.
        result.slos = self.slos.map {
            ($0.condition.span == .wholeRun ? $0.evaluate(against: table) : $0.notKnown).unjudged
        }
        self.scans.finish(at: self.timeline.until)
        result.slow = SlowTime(of: self.scans.rows, limit: result.scanTimeLimit)
        result.isInterrupted = true
        result.failure = "the run was killed before its verdict: these are the results in its files"
        result.remarks =
            (result.controls.isEmpty ? [] : [.load(.controlled)])
            + [self.lost.remark(areBooksKnown: head.hasBackendView)].compactMap { $0 }
        result.take(self.timeline.errors)
        result.judge(failures: [])
        return result
    }

    private static func visible(_ verdicts: [Verdict], losses: [Verdict]) -> [Verdict] {
        verdicts.map { verdict in
            guard !Self.visible.contains(verdict.invariant) else { return verdict }
            let lost = losses.first {
                $0.invariant == verdict.invariant && $0.invariant == .scanCustody && $0.violations > 0
            }
            return lost
                ?? Verdict(
                    invariant: verdict.invariant, standing: .notAvailable, violations: 0, expected: 0,
                    examples: [])
        }
    }

    /// `counted` is what the log's observations come to.
    private static func table(
        _ counted: MetricTable, _ measured: MetricTable, of head: RunHead
    ) -> MetricTable {
        var table = head.table
        for index in -1..<counted.groups.count {
            let group = index < 0 ? MetricGroup.none : MetricGroup(index: index)
            let (log, series) = (counted.set(in: group), measured.set(in: group))
            var set = MetricSet()
            for metric in LatencyMetric.allCases {
                // Of pings, progress and the network the log may hold nothing: whoever saw more knows better.
                let more = log.histogram(metric).total >= series.histogram(metric).total
                set.add(more ? log.histogram(metric) : series.histogram(metric), to: metric)
                set.add(log.unfinished(metric), to: metric)
            }
            for metric in RateMetric.allCases { set.add(log.rate(metric), to: metric) }
            for metric in CountMetric.allCases {
                set.add(max(log.count(metric), series.count(metric)), to: metric)
            }
            for answer in log.answersByOperation {
                set.answered(answer.operation, status: answer.status, times: answer.count)
            }
            for probe in log.probes.entries { set.add(probe.count, probe: probe.name) }
            for fault in log.faults.entries { set.fired(fault: fault.name, times: fault.count) }
            table.add(set, in: group)
        }
        return table
    }
}
