import CurlLoop
import Dashboard
import EventLoop
import Faults
import Ledger
import LivePhones
import Metrics
import Plan
import RunJudge
import RunMetrics
import RunSetup
import SimBase

extension LiveRun {
    /// Judges, writes the reports, prints the summary, and answers what the process ends with.
    func judge(waiting: [WaitingRecord]) -> ExitCode {
        let ended = self.clock.now()
        var facts = RunFacts(
            endedAt: ended, length: ended - .zero, waiting: waiting,
            observationsMade: self.feed.received, drain: self.plan.scenario.drain, resources: self.resources)
        facts.failure = self.failure
        facts.arrivals = self.arrivals
        facts.skipped = self.skipped
        facts.lateness = self.outcome?.lateness
        facts.reconcileTimes = self.outcome?.reconcileTimes
        if self.preparation.isEmbedded { facts.streamsOpen = self.feed.streamsOpen }
        facts.remarks = self.lagRemarks + self.remarks + self.fleetRemarks
        var result = self.feed.finish(facts, of: self.head)
        self.workerPhones?.count(in: &result)
        let judge = self.feed.judge
        let planFailures = self.savePlan(result, waiting: waiting, endedAt: ended)
        return RunOutput(
            directory: self.directory, console: self.console, failures: planFailures,
            isOneLine: self.preparation.request.options.isOneLine,
            isShard: !self.head.shard.isWhole, export: self.export
        ).finish(
            result, of: judge,
            judged: { self.page?.judged($0, judge.timeline.withoutPhones) },
            written: { self.page?.finish($0) })
    }

    private var skipped: SkippedWork {
        guard let outcome = self.outcome else { return SkippedWork() }
        var skipped = SkippedWork(
            deferred: outcome.capturesDeferred, shutdownsTimedOut: outcome.shutdownsTimedOut,
            heldBack: outcome.heldBack)
        skipped.heldTime = outcome.heldTime
        skipped.phoneTime = self.plan.closedPhoneTime
        return skipped
    }

    private var arrivals: ArrivalAccount? {
        self.outcome.map {
            ArrivalAccount(
                self.plan, self.preparation.expectedArrivals, stepped: self.stepped?.planned,
                closedDue: $0.closedDue, achieved: $0.captured, late: $0.arrivalsLate)
        }
    }

    /// Its memory as it says itself: what the system counts for a child includes what its parent had as it was started.
    private var backendUsage: Resources.Usage? {
        self.child?.exit.map { exit in
            Resources.Usage(
                processor: exit.usage.processor,
                residentBytes: self.feed.backendResidentMax ?? exit.usage.residentMax)
        }
    }

    var resources: Resources {
        Resources(
            client: .init(.own()),
            // The gateway in front of a target is none.
            backend: self.preparation.isEmbedded ? self.backendUsage : nil, streamBytes: self.streamBytes)
    }

    private var streamBytes: Resources.StreamBytes? {
        guard let counts = self.outcome?.curl, counts.streamBytesSent > 0 else { return nil }
        return .init(sent: counts.streamBytesSent, received: counts.streamBytesReceived)
    }
}
