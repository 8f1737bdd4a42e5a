import CurlLoop
import Dashboard
import EventLoop
import Faults
import Ledger
import LivePhones
import Metrics
import Phone
import Plan
import Reports
import RunArchive
import RunJudge
import RunMetrics
import SimBase

extension LiveRun {
    /// Timers later than this at p99 mean that the phones' own process could not keep up.
    private static let latenessMax = Interval.milliseconds(250)

    /// Judges, writes the reports, prints the summary, and answers what the process ends with.
    func judge(waiting: [WaitingRecord]) -> ExitCode {
        let ended = self.clock.now()
        var account = self.account
        var driver = MetricSet()
        if let lateness = self.outcome?.lateness {
            driver.add(lateness, to: .generatorLateness)
            driver.add(Int64(self.arrivals.planned), to: .arrivalsPlanned)
            driver.add(Int64(self.arrivals.achieved), to: .arrivalsAchieved)
            driver.add(Int64(self.arrivals.late), to: .arrivalsLate)
        }
        let findings = account.finish(
            waiting: waiting, at: ended, driver: driver, directory: self.directory)
        if let error = findings.harnessError { self.fail(error) }
        let slos = account.recorder.results(findings.metrics).map { result in
            guard !self.isInterrupted else { return result.unjudged }
            return self.endedBy?.result(instead: result) ?? result
        }
        let generator = self.generatorHealth
        let isWhole = !self.isInterrupted && self.endedBy == nil && self.failure == nil
        let unreached = isWhole ? account.unreached : []
        var judgement = Judgement(
            verdicts: findings.verdicts, totals: findings.totals, slos: slos,
            hasInternalError: self.failure?.code == .internalError,
            hasOutputError: self.failure?.code == .cannotWrite,
            isUntrusted: !generator.isTrustworthy || !unreached.isEmpty,
            isInterrupted: self.isInterrupted,
            expectations: Expectations(self.plan.scenario.expectBroken))
        var result = self.result(
            length: ended - .zero, groups: findings.groups, exit: judgement.exit, totals: findings.totals,
            verdicts: findings.verdicts, slos: slos, disconnections: findings.disconnections,
            metrics: findings.metrics, resources: self.resources, generator: generator,
            warnings: self.warnings + self.fleetWarnings + self.directory.warnings)
        result.endedEarly = self.endedBy?.text
        result.unreached = unreached.map(\.rawValue)
        result.findings = findings.findings
        if self.preparation.isEmbedded { result.streamsOpen = account.streamsOpen }
        if self.endedBy == nil, self.failure == nil { result.drained = self.plan.scenario.drain }
        result.take(account.recorder.timeline.impairments)
        return self.report(&result, &judgement, account.recorder.timeline)
    }

    /// All of it but what a report adds.
    func result(
        length: Interval, groups: [GroupResult], exit: RunExit, totals: LedgerTotals, verdicts: [Verdict],
        slos: [SLOResult], disconnections: Disconnections, metrics: MetricTable, resources: Resources,
        generator: GeneratorHealth, warnings: [String]
    ) -> RunResult {
        let expectations = Expectations(self.plan.scenario.expectBroken)
        var result = RunResult(
            tool: "swiftwing-sim \(Main.version)", machine: ThisMachine.text, scenario: self.identity,
            seed: self.plan.scenario.seed, world: .live, started: self.startedWall, length: length,
            groups: groups,
            isInterrupted: self.isInterrupted, failure: self.failure?.text, exit: exit,
            hasBackendView: self.request.target == nil && !self.hasLostBackend, totals: totals,
            verdicts: expectations.applied(to: verdicts), slos: slos,
            disconnections: disconnections.rows.filter { $0.count > 0 }, metrics: metrics,
            resources: resources, generator: generator, notes: [], warnings: warnings,
            directory: self.directory.path, files: [], command: self.rerunCommand)
        result.labels = self.request.labels
        result.expectations = expectations
        return result
    }

    private func report(
        _ result: inout RunResult, _ judgement: inout Judgement, _ timeline: RunTimeline
    ) -> ExitCode {
        self.dashboard?.judged(result, timeline.withoutPhones)
        return RunOutput(directory: self.directory, console: self.console)
            .finish(&result, &judgement, timeline) { self.dashboard?.finish($0) }
    }

    private var generatorHealth: GeneratorHealth {
        var complaints: [String] = []
        if let late = self.outcome?.lateness.value(at: .p99), late > Self.latenessMax.nanoseconds {
            complaints.append(
                "the phones' timers were \(late / 1_000_000) ms late (p99): this machine was too busy for valid measurements"
            )
        }
        if let outcome = self.outcome, outcome.curl.descriptorsExhausted > 0 {
            complaints.append(
                "\(outcome.curl.descriptorsExhausted) connections could not be opened: too few file descriptors"
            )
        }
        if let complaint = self.arrivals.complaint { complaints.append(complaint) }
        return GeneratorHealth(complaints: complaints)
    }

    private var arrivals: ArrivalAccount {
        let scheduled = zip(self.plan.groups, self.preparation.expectedArrivals.scansByGroup).reduce(0) {
            if case .open = $1.0.spec.load { $0 + $1.1 } else { $0 }
        }
        return ArrivalAccount(
            planned: scheduled + (self.outcome?.closedDue ?? 0), achieved: self.outcome?.captured ?? 0,
            late: self.outcome?.arrivalsLate ?? 0)
    }

    private var fleetWarnings: [String] {
        guard let outcome = self.outcome else {
            return self.isInterrupted
                ? ["interrupted before the first capture"] : ["the phones ended without a final report"]
        }
        var warnings: [String] = []
        if outcome.shutdownsTimedOut > 0 {
            warnings.append(
                "\(outcome.shutdownsTimedOut) phones had not finished shutting down at the time limit")
        }
        if outcome.capturesDeferred > 0 {
            warnings.append(
                "\(outcome.capturesDeferred) captures were skipped because their apps did not become active again"
            )
        }
        let skipped = self.arrivals.planned - outcome.captured - outcome.capturesDeferred
        if skipped > 0 {
            warnings.append("\(skipped) captures were skipped because the run was stopped")
        }
        if outcome.photosRejected > 0 {
            warnings.append("\(outcome.photosRejected) photos could not be preprocessed")
        }
        if outcome.curl.resendsRefused > 0 {
            warnings.append(
                "libcurl attempted \(outcome.curl.resendsRefused) automatic retries; they were blocked so that every failure is counted (harmless)"
            )
        }
        return warnings
    }

    var resources: Resources {
        let own = ResourceUsage.own()
        return Resources(
            client: .init(processor: own.processor, residentBytes: own.residentMax),
            // The gateway in front of a target is none.
            backend: self.preparation.isEmbedded
                ? self.child?.exit.map {
                    .init(processor: $0.usage.processor, residentBytes: $0.usage.residentMax)
                } : nil)
    }

    var rerunCommand: [String] {
        self.request.command + ["--seed", String(self.plan.scenario.seed)]
    }
}
