package import Ledger
package import Metrics
package import Observations
import RunJudge
package import RunMetrics
package import SimBase
import Talaria

/// Hears everything that both sides of a run saw, in one order, and has it judged, measured, told and written down.
///
/// Once a second of the run's own time what was measured goes to the files, so that a kill loses no more than that. Of a
/// simulated day that would be most of the work: there, intervals get longer as the run does.
package struct RunRecorder {
    private static let second: Int64 = 1_000_000_000

    /// What the objectives are judged by where they leave phones out: what all the others did.
    private struct Judged {
        let leftOut: Set<DeviceNumber>
        var ledger: Ledger
        var tally: MetricsCollector
        /// Covers all intervals that are over, and what the driver counted.
        var past: MetricTable
    }

    package private(set) var ledger: Ledger
    package private(set) var timeline: RunTimeline
    private var tally: MetricsCollector
    private var objectives: SLOParts
    /// Nil where that is everything.
    private var judged: Judged?
    private var samples: LatencyCrossCheck
    private var sums = TotalsCrossCheck()
    /// Observations so far.
    package private(set) var observations = 0
    private var watch: AbortWatch
    /// All intervals that are over.
    private var past: Measurements
    /// The present interval.
    private var from = Instant.zero
    private var to = Instant.zero
    private var length = Self.second
    /// After so many intervals they get twice as long; nil: never.
    private let intervalsOfALength: Int?
    private var intervals = 0

    /// `aborting`: objectives that may end the run; see `ending(at:)`.
    package init(
        ledger: Ledger, tally: MetricsCollector, objectives: SLOParts, aborting: [SLO] = [], faults: Int,
        intervalsOfALength: Int? = nil
    ) {
        self.watch = AbortWatch(aborting)
        self.intervalsOfALength = intervalsOfALength
        self.ledger = ledger
        self.tally = tally
        self.samples = LatencyCrossCheck(fleet: tally.fleet)
        self.objectives = objectives
        self.past = Measurements(table: tally.measured.table)
        self.timeline = RunTimeline(faults: faults)
        self.begin(at: .zero)
    }

    /// Has the objectives, and nothing else, leave these phones out. To be called before anything is seen.
    package mutating func leaveOutOfObjectives(_ phones: Set<DeviceNumber>) {
        self.judged = Judged(
            leftOut: phones, ledger: self.ledger, tally: self.tally, past: self.past.table)
    }

    /// Whether there are phones that the objectives leave out, and this is none of them.
    private func judges(_ phone: DeviceNumber) -> Bool { self.judged?.leftOut.contains(phone) == false }

    package mutating func record(_ observation: consuming Observation, in directory: RunDirectory) {
        if observation.at >= self.to {
            self.cut(directory, open: self.open(at: self.to))
            self.begin(at: observation.at)
        }
        self.observations += 1
        self.samples.record(observation)
        self.tally.record(observation)
        if self.judges(observation.device) {
            self.judged?.tally.record(observation)
            self.judged?.ledger.record(copy observation)
        }
        self.timeline.record(observation)
        directory.log(observation)
        self.ledger.record(consume observation)
    }

    /// The metrics of the run so far.
    package var table: MetricTable {
        var table = self.past.table
        table.add(self.tally.measured.table)
        self.ledger.record(into: &table)
        return table
    }

    /// Why nothing of the run can be relied on; nil when it can. To be asked when it is finished.
    package var harnessError: String? {
        let effects = self.ledger.harnessErrors
        if let first = effects.texts.first {
            return Self.text("the harness contradicts itself", first, of: effects.count)
        }
        let measured = self.past.table
        var differences = self.samples.differences(from: self.table)
        differences += self.samples.differences(from: self.ledger)
        differences += self.sums.differences(from: measured)
        differences += TotalsCrossCheck.differences(in: self.table, self.disconnections)
        guard let first = differences.first else { return nil }
        return Self.text("the measurements are not what was observed", first, of: differences.count)
    }

    private static func text(_ what: String, _ first: String, of count: Int) -> String {
        "\(what): \(first)" + (count > 1 ? ", and \(count - 1) more" : "")
    }

    /// What was measured before is in the files.
    package var measuredUntil: Instant { self.from }

    package var disconnections: Disconnections { self.past.disconnections }

    package var findings: FindingsTable { self.past.findings }

    /// What the objectives have found so far. `table`: of the whole run.
    package func results(_ table: MetricTable) -> [SLOResult] {
        guard let judged = self.judged else { return self.objectives.results(whole: table) }
        var whole = judged.past
        whole.add(judged.tally.measured.table)
        judged.ledger.record(into: &whole)
        whole.cannotKnow(whatIsUnknownTo: table)
        return self.objectives.results(whole: whole)
    }

    /// Why the run should end now. To be asked again and again; most of the times it costs nothing.
    package mutating func ending(at moment: Instant) -> RunEnding? {
        guard self.watch.isDue(at: moment) else { return nil }
        let table = self.table
        return self.watch.look(at: moment, table: table, results: self.results(table))
    }

    /// The run was interrupted at this moment; see `Ledger`.
    package mutating func interrupted(at moment: Instant) {
        self.ledger.interrupted(at: moment)
        self.judged?.ledger.interrupted(at: moment)
    }

    /// The backend's process died; see `Ledger`.
    package mutating func lostBackend(after moment: Instant) {
        self.ledger.lostBackend(after: moment)
        self.judged?.ledger.lostBackend(after: moment)
    }

    /// The end of the run. `driver`: what the driver itself counted.
    package mutating func finish(
        waiting: [WaitingRecord], at moment: Instant, driver: MetricSet, in directory: RunDirectory
    ) {
        self.ledger.finish(waitingOnDisk: waiting, at: moment)
        let open = self.open(at: min(moment, self.tally.heardAt))
        self.tally.finish()
        if let leftOut = self.judged?.leftOut {
            self.judged?.ledger.finish(
                waitingOnDisk: waiting.filter { !leftOut.contains($0.device) }, at: moment)
            self.judged?.tally.finish()
        }
        self.cut(directory, open: open)
        self.objectives.finish(at: moment)
        var own = MetricTable(groups: self.past.table.groups)
        own.add(driver, in: .none)
        directory.log(own, from: .zero, length: moment - .zero)
        self.sums.add(own)
        self.past.table.add(own)
        self.judged?.past.add(own)
    }

    /// The interval of a moment: a second of the run's time, unless an objective begins or ends to count within it.
    private mutating func begin(at moment: Instant) {
        let start = Instant(nanoseconds: max(0, moment.nanoseconds) / self.length * self.length)
        self.from = max(start, self.to, self.objectives.boundary(notAfter: moment) ?? .zero)
        let end = start + Interval(nanoseconds: self.length)
        self.to = min(end, self.objectives.boundary(after: self.from) ?? end)
    }

    /// The operations that are open, where an objective asks for them.
    private func open(at moment: Instant) -> (table: MetricTable, at: Instant)? {
        self.objectives.countsOpen ? ((self.judged?.tally ?? self.tally).unfinished(at: moment), moment) : nil
    }

    private mutating func cut(_ directory: RunDirectory, open: (table: MetricTable, at: Instant)?) {
        let (from, length) = (self.from, self.to - self.from)
        var counted = (events: 0, pings: 0)
        var objectives = self.objectives
        var sums = self.sums
        self.sums = TotalsCrossCheck()
        let judged = self.judged?.tally.drain().table
        if let judged { self.judged?.past.add(judged) }
        self.tally.settle(into: &self.past) { interval in
            objectives.add(judged ?? interval.table, from: from, open: open)
            directory.log(interval.table, from: from, length: length)
            sums.add(interval.table)
            counted = RunTimeline.counts(interval.table)
        }
        self.objectives = objectives
        self.sums = sums
        self.timeline.counted(counted, from: from)
        self.intervals += 1
        guard let most = self.intervalsOfALength, self.intervals >= most else { return }
        self.intervals = 0
        self.length *= 2
    }
}

extension RunTimeline {
    static func counts(_ table: MetricTable) -> (events: Int, pings: Int) {
        func count(_ metric: CountMetric) -> Int {
            guard case .measured(let count) = table.count(metric, of: .fleet) else { return 0 }
            return Int(count)
        }
        return (count(.sseEvents), count(.ssePings))
    }

    mutating func counted(_ counts: (events: Int, pings: Int), from moment: Instant) {
        guard counts.events > 0 || counts.pings > 0 else { return }
        self.counted(events: counts.events, pings: counts.pings, from: moment)
    }
}
