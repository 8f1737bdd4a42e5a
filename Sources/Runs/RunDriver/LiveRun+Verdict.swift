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
        facts.remarks = self.complaints + self.remarks + self.fleetRemarks
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

    /// Why the load generator did not keep up.
    private var complaints: [Remark] {
        let timers: [(LoadRemark.TimedProcess, HDRHistogram?)] = [
            (.phones, self.outcome?.lateness),
            (self.preparation.isEmbedded ? .backend : .gateway, self.feed.lateness.histogram),
        ]
        let late = timers.compactMap { process, lateness -> Remark? in
            guard let late = lateness?.value(at: .p99), late > FleetLimits.timerLatenessMax.nanoseconds else {
                return nil
            }
            return .load(.timersLate(process, milliseconds: late / 1_000_000))
        }
        let exhausted = self.outcome?.curl.descriptorsExhausted ?? 0
        return late + self.latePhotos
            + (exhausted > 0 ? [.load(.descriptorsExhausted(connections: Int(exhausted)))] : [])
    }

    private var latePhotos: [Remark] {
        guard let waited = self.outcome?.photoWaits.value(at: .p99),
            waited > FleetLimits.photoWaitMax.nanoseconds
        else { return [] }
        return [.load(.photosLate(milliseconds: waited / 1_000_000))]
    }

    private var arrivals: ArrivalAccount? {
        self.outcome.map {
            ArrivalAccount(
                self.plan, self.preparation.expectedArrivals, stepped: self.stepped?.planned,
                closedDue: $0.closedDue, achieved: $0.captured, late: $0.arrivalsLate)
        }
    }

    private var fleetRemarks: [Remark] {
        guard let outcome = self.outcome else {
            return [
                self.feed.judge.isInterrupted ? .end(.interruptedBeforeCaptures) : .end(.endedWithoutReport)
            ]
        }
        let remarks: [(Remark, Bool)] = [
            (.start(.photosRejected(Int(outcome.photosRejected))), outcome.photosRejected > 0),
            (.load(.resendsBlocked(Int(outcome.curl.resendsRefused))), outcome.curl.resendsRefused > 0),
        ]
        return remarks.filter(\.1).map(\.0) + [self.devicesUsedBefore].compactMap { $0 }
    }

    /// Says that phones were refused for what an earlier run did; nil where that is not so, or a fault may have been the reason.
    private var devicesUsedBefore: Remark? {
        guard !self.plan.scenario.faults.contains(where: \.kind.limitsRates) else { return nil }
        let known = self.preparation.state.phonesKnown
        let isKnown = { (device: DeviceNumber) in !self.request.hasNewDevices || known.contains(device) }
        let limited = self.firstUploads.limited.count(where: isKnown)
        guard limited > 0 else { return nil }
        return .load(
            .devicesUsedBefore(
                phones: limited, option: self.request.hasNewDevices ? "--state" : DeviceSalt.option))
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

extension FaultKind {
    /// Whether the fault answers 429 itself.
    fileprivate var limitsRates: Bool {
        if case .httpError(let fault) = self { return fault.status == 429 }
        return self.id == .rateLimit
    }
}
