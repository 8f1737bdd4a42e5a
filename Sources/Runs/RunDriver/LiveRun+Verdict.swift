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
    /// Timers later than this at p99 mean that the phones' own process could not keep up.
    private static let latenessMax = Interval.milliseconds(250)

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
        facts.generator = self.generatorHealth
        if self.preparation.isEmbedded { facts.streamsOpen = self.feed.streamsOpen }
        facts.warnings = self.warnings + self.fleetWarnings
        var result = self.feed.finish(facts, of: self.head)
        self.workerPhones?.count(in: &result)
        let judge = self.feed.judge
        let planFailures = self.savePlan(result, waiting: waiting, endedAt: ended)
        return RunOutput(
            directory: self.directory, console: self.console, failures: planFailures,
            isOneLine: self.preparation.request.options.isOneLine,
            isShard: !self.head.shard.isWhole
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

    private var generatorHealth: GeneratorHealth {
        var complaints: [String] = []
        if let late = self.outcome?.lateness.value(at: .p99), late > Self.latenessMax.nanoseconds {
            complaints.append(
                "the phones' timers were \(late / 1_000_000) ms late (p99): this machine was too busy for valid measurements"
            )
        }
        if let late = self.feed.lateness.histogram.value(at: .p99), late > Self.latenessMax.nanoseconds {
            let process = self.preparation.isEmbedded ? "simulated backend" : "gateway"
            complaints.append(
                "the timers of the \(process) were \(late / 1_000_000) ms late (p99): its process was stopped, or this machine was too busy for valid measurements"
            )
        }
        if let outcome = self.outcome, outcome.curl.descriptorsExhausted > 0 {
            complaints.append(
                "\(outcome.curl.descriptorsExhausted) connections could not be opened: too few file descriptors"
            )
        }
        complaints +=
            self.arrivals?.complaints(self.skipped, reason: self.feed.judge.controls.holdReason) ?? []
        return GeneratorHealth(complaints: complaints)
    }

    private var arrivals: ArrivalAccount? {
        self.outcome.map {
            ArrivalAccount(
                self.plan, self.preparation.expectedArrivals, closedDue: $0.closedDue, achieved: $0.captured,
                late: $0.arrivalsLate)
        }
    }

    private var fleetWarnings: [String] {
        guard let outcome = self.outcome else {
            return self.feed.judge.isInterrupted
                ? ["interrupted before the first capture"] : ["the phones ended without a final report"]
        }
        var warnings: [String] = []
        if outcome.photosRejected > 0 {
            warnings.append("\(outcome.photosRejected) photos could not be preprocessed")
        }
        if outcome.curl.resendsRefused > 0 {
            warnings.append(
                "libcurl attempted \(outcome.curl.resendsRefused) automatic retries; they were blocked so that every failure is counted (harmless)"
            )
        }
        if let text = self.devicesUsedBefore { warnings.append(text) }
        return warnings
    }

    /// Says that phones were refused for what an earlier run did; nil where that is not so, or a fault may have been the reason.
    private var devicesUsedBefore: String? {
        guard !self.plan.scenario.faults.contains(where: \.kind.limitsRates) else { return nil }
        let known = self.preparation.state.phonesKnown
        let isKnown = { (device: DeviceNumber) in !self.request.hasNewDevices || known.contains(device) }
        let limited = self.firstUploads.limited.count(where: isKnown)
        guard limited > 0 else { return nil }
        let origin = self.request.hasNewDevices ? "--state" : DeviceSalt.option
        return
            "the target answered 429 to the first upload of \(limited) \(limited == 1 ? "phone" : "phones"), whose device ids are from \(origin): it still counts what an earlier run uploaded with them"
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
            backend: self.preparation.isEmbedded ? self.backendUsage : nil)
    }
}

extension FaultKind {
    /// Whether the fault answers 429 itself.
    fileprivate var limitsRates: Bool {
        if case .httpError(let fault) = self { return fault.status == 429 }
        return self.id == .rateLimit
    }
}
