package import Metrics
package import Observations
package import SimBase
package import Talaria

/// One scan that a fresh phone, loaded from the state folder after the run, reports as waiting. Records that only await
/// their DELETE are not waiting: their books are all in the library.
package struct WaitingRecord: Hashable, Sendable {
    package var device: DeviceNumber
    package var scan: ScanNumber
    package var cause: WaitingCause

    package init(device: DeviceNumber, scan: ScanNumber, cause: WaitingCause) {
        self.device = device
        self.scan = scan
        self.cause = cause
    }
}

/// Judges a run from what both sides observed, and from nothing else.
///
/// Observations arrive in the order of time; the two sides' order within one instant is not known. Those of one instant
/// (or within `clockTolerance`) are therefore taken together, the backend's first, then the faults', then the phones':
/// no check depends on a phone being ahead of the backend within an instant.
package struct Ledger: Sendable {
    private var fleet: LedgerFleet
    package var hasBackendView: Bool { self.settings.hasBackendView }
    package var hasPrices: Bool { self.settings.prices != nil }
    private var indexes = DeviceIndex()
    /// The phones in the order of their first observation.
    private var phones: [PhoneAccount] = []
    /// Observations of the present instant, not judged yet.
    private var present: [Observation] = []
    /// An empty buffer to continue with.
    private var past: [Observation] = []
    private var isFinished = false
    private var targetJobs = TargetJobs()
    /// Sees what the ledger sees, in the same order.
    private var harness: HarnessChecks?

    /// `harness`: what the harness itself is judged by; nil if it is not.
    package init(shelf: Shelf, settings: LedgerSettings, harness: HarnessSettings? = nil) {
        self.harness = harness.map { HarnessChecks($0, shelf: shelf) }
        self.fleet = LedgerFleet(shelf: shelf, settings: settings)
    }

    private var settings: LedgerSettings { self.fleet.settings }

    // MARK: Events

    package mutating func record(_ observation: consuming Observation) {
        precondition(!self.isFinished, "the ledger is closed")
        guard !self.present.isEmpty else {
            self.present.append(observation)
            return
        }
        // An observation from before the present one is judged when it comes: it must not trap and cannot be put right.
        let first = self.present[0].at
        let distance = observation.at.nanoseconds.subtractingReportingOverflow(first.nanoseconds)
        let isPresent =
            !distance.overflow
            && (0...self.settings.clockTolerance.nanoseconds).contains(distance.partialValue)
        if !isPresent { self.judgePresent() }
        self.present.append(observation)
    }

    /// The phones of the violations since the last call.
    package mutating func takeViolators() -> [DeviceNumber] { self.fleet.findings.takeViolators() }

    /// The end of the run: what the state folder holds is all that is left.
    package mutating func finish(waitingOnDisk: [WaitingRecord], at: Instant) {
        precondition(!self.isFinished, "the ledger is closed")
        self.judgePresent()
        self.isFinished = true
        for record in waitingOnDisk {
            let index = self.index(of: record.device)
            self.phones[index].foundOnDisk(record.scan, cause: record.cause, at: at, &self.fleet)
        }
        for index in self.phones.indices {
            self.phones[index].finish(at: at, &self.fleet)
        }
        self.harness?.finish()
    }

    /// The run was interrupted: what it leaves undone from this time on does not count.
    package mutating func interrupted(at moment: Instant) {
        self.judgePresent()
        self.fleet.findings.bounds.interruption = moment
    }

    /// The backend's process died, and had reported everything up to this time.
    package mutating func lostBackend(after moment: Instant) {
        self.fleet.findings.bounds.backendEnd = moment
        self.harness?.lostBackend(after: moment)
    }

    /// Ends a run that was killed, without judging its end.
    package mutating func breakOff() {
        self.judgePresent()
        for phone in self.phones {
            phone.countUnsettledRows(&self.fleet)
            phone.countPendingReview(&self.fleet)
        }
    }

    private mutating func judgePresent() {
        guard self.present.count > 1 else {
            guard let only = self.present.popLast() else { return }
            self.judge(only)
            return
        }
        // The two buffers are exchanged, so that neither is allocated again.
        var moment = self.past
        self.past = []
        swap(&moment, &self.present)
        self.judgeBySide(&moment)
        // What the network did there is only measured, by `MetricsCollector`.
        moment.clear()
        self.past = moment
    }

    private mutating func judgeBySide(_ moment: inout [Observation]) {
        for index in moment.indices {
            guard case .control = moment[index].side else { continue }
            self.judge(moment.take(index, leaving: .nothing))
        }
        for index in moment.indices {
            guard case .backend = moment[index].side else { continue }
            self.judge(moment.take(index, leaving: .nothing))
        }
        for index in moment.indices {
            guard case .fault = moment[index].side else { continue }
            self.judge(moment.take(index, leaving: .nothing))
        }
        for index in moment.indices {
            guard case .phone = moment[index].side else { continue }
            self.judge(moment.take(index, leaving: .nothing))
        }
    }

    private mutating func judge(_ observation: consuming Observation) {
        self.harness?.record(observation)
        if case .control = observation.side { return }
        let index = self.index(of: observation.device)
        switch observation.what {
        case .phone(let payload):
            if case .uploadAccepted(let job, _, _) = payload, self.settings.isOnTrial {
                self.judgeOwner(of: job, observation.device, observation.scan, at: observation.at)
            }
            self.phones[index].record(payload, scan: observation.scan, at: observation.at, &self.fleet)
        case .backend(let payload):
            // Against a foreign target there is no such view: nothing of it may be half believed.
            guard self.settings.hasBackendView || payload.isOfTheGatewayToo else { return }
            self.phones[index].record(payload, scan: observation.scan, at: observation.at, &self.fleet)
        case .fault(let payload):
            self.phones[index].record(payload, scan: observation.scan, at: observation.at, self.fleet)
        case .network:
            break  // How fast the network is breaks no promise.
        case .control: break
        }
    }

    private mutating func judgeOwner(
        of job: String, _ device: DeviceNumber, _ scan: ScanNumber, at: Instant
    ) {
        guard let text = self.targetJobs.accepted(job, device, scan) else { return }
        self.fleet.findings.violate(
            .targetJobUnique, device: device, scan: scan, at: at, text, cause: .target)
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        let group = self.settings.fleet.group(of: device) ?? self.settings.fleet.groups.count
        self.phones.append(
            PhoneAccount(device: device, group: group, journey: self.settings.journey(of: device)))
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }

    // MARK: Queries

    /// Whose the jobs of a foreign backend are, for the merge with other shards.
    package var targetJobOwners: [TargetJobOwner] { self.targetJobs.sample }

    /// The totals of the whole fleet, up to the last judged observation.
    package var totals: LedgerTotals {
        self.fleet.findings.totals.reduce(into: LedgerTotals()) { $0.add($1) }
    }

    /// The errors of the harness: their number, and the first as text.
    package var harnessErrors: (count: Int, texts: [String]) {
        self.harness.map { ($0.errors.count, $0.errors.texts) } ?? (0, [])
    }

    /// The totals by the groups of the fleet map.
    package var totalsByGroup: [LedgerTotals] { Array(self.fleet.findings.totals.dropLast()) }

    /// The totals of phones that belong to no group.
    package var totalsOfNoGroup: LedgerTotals {
        self.fleet.findings.totals[self.fleet.findings.totals.count - 1]
    }

    /// The verdicts in the order of their declaration.
    package var verdicts: [Verdict] {
        self.fleet.findings.verdicts(of: self.judged).filter(self.speaks)
    }

    /// The verdicts on the phones of one group, by its index. What is about no one phone is in none of them.
    package func verdicts(ofGroup group: Int) -> [Verdict] {
        self.fleet.findings.verdicts(of: self.judged, group: group).filter(self.speaks)
    }

    private var judged: [Invariant] { Invariant.everywhere + self.settings.trial }

    private static let journeys: [Invariant: [Journey]] = [
        .rowsConserved: [.csvImport], .lookupBilledOnce: [.bookEnrichment],
        .bookAnswered: [.batchEnrichment, .bookEnrichment], .textKeptForCause: [.textEnrichment],
    ]
    private static let occasions: [Invariant: any KeyPath<LedgerSettings, Bool> & Sendable] = [
        .cancelFinal: \.cancels, .bookShown: \.isProgressive, .reviewBookAccounted: \.reviews,
        .reviewEditKept: \.reviews, .reviewNoDuplicate: \.reviews,
    ]

    /// Whether a verdict is about something that the run has.
    private func speaks(_ verdict: Verdict) -> Bool {
        if verdict.violations > 0 { return true }
        if let journeys = Self.journeys[verdict.invariant] {
            return journeys.contains { self.settings.journeys.contains($0) }
        }
        return Self.occasions[verdict.invariant].map { self.settings[keyPath: $0] } ?? true
    }

    /// Whether any invariant is broken by a phone that is not known for it.
    package var isBroken: Bool { self.verdicts.contains { $0.standing == .broken } }

    /// Scans and jobs that are still followed: what grows when something never settles.
    package var followed: (scans: Int, jobs: Int) {
        self.phones.reduce(into: (scans: 0, jobs: 0)) {
            $0.scans += $1.scans.count
            $0.jobs += $1.jobs.count
        }
    }

    /// Writes scans, books and jobs into the run's metrics, and says there what this run cannot know.
    package func record(into table: inout MetricTable) {
        table.prices = self.settings.prices
        for (index, totals) in self.fleet.findings.totals.enumerated() {
            let isGroup = index < self.settings.fleet.groups.count
            totals.record(into: &table, group: isGroup ? MetricGroup(index: index) : .none)
        }
        if !self.settings.hasBackendView {
            let hasTrial = self.settings.isOnTrial
            for metric in Metric.unknown(hasTrial: hasTrial) { table.cannotKnow(metric) }
        } else if self.fleet.findings.bounds.backendEnd != nil {
            // Its earlier reports of single events stay measured; these would take all of it.
            for metric in Metric.needingBackend where metric.kind == .count { table.cannotKnow(metric) }
        }
    }
}
