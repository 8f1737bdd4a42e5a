import Observations
import SimBase
import Talaria

/// All checks of one phone of the virtual world. They see the phone's observations in turn, each with the state before it
/// (`PhoneLife`).
struct PhoneChecks: Sendable {
    let device: DeviceNumber
    private(set) var life = PhoneLife()
    private var order = UploadOrderCheck()
    /// Nil in a run without a settled end, which does not judge it.
    private var unsettled: UnsettledScansCheck?
    private var backoffs: BackoffCheck
    private var limits: RateLimitCheck
    private var deletes = CleanupCheck()
    private var silences = IdleTimeoutCheck()
    private var forms: RequestFormCheck
    private var tokens = TokenCheck()
    private var requests: RequestsCheck

    init(_ device: DeviceNumber, _ fleet: inout FleetChecks) {
        let settings = fleet.settings
        let contract = fleet.ledger.slotsMax
        let slotsMax = min(
            contract, fleet.value(of: device, in: settings.streamsMax, otherwise: contract))
        let waits: BackoffWaits.Kind = fleet.findings.isKnown(.herdBounded, of: device) ? .fixed : .drawn
        fleet.waits.add(device, waits)
        self.device = device
        self.unsettled = settings.isSettled ? UnsettledScansCheck(settings.retryLimits) : nil
        self.backoffs = BackoffCheck(
            device, slotsMax: slotsMax, waits: waits,
            retry: fleet.value(of: device, in: settings.retryFields, otherwise: settings.retryField))
        self.limits = RateLimitCheck(slotsMax: slotsMax)
        self.forms = RequestFormCheck(
            format: fleet.value(of: device, in: settings.resultsFormats, otherwise: "lite"),
            journey: fleet.value(of: device, in: fleet.ledger.journeys, otherwise: .scan))
        self.requests = RequestsCheck()
    }

    /// Requests, jobs and scans that it still remembers: they must not grow with a run.
    var remembered: Int {
        self.order.remembered + self.backoffs.remembered + self.deletes.remembered
            + (self.unsettled?.remembered ?? 0) + self.requests.remembered + self.tokens.remembered
    }

    // MARK: What is seen

    mutating func record(_ payload: PhoneObservation, _ seen: Observation, _ fleet: inout FleetChecks) {
        let now = PhoneMoment(scan: seen.scan, at: seen.at, life: self.life)
        let isAboutOldToken = self.tokens.isAboutOldToken(payload, seen)
        let payload = isAboutOldToken ? payload.asServerError : payload
        self.requests.answersCapture(payload, seen, &fleet)
        self.silences.record(payload, now)
        self.judgeOrder(before: seen.at, &fleet)
        self.order.record(payload, now, fleet.settings)
        self.unsettled?.record(payload, scan: seen.scan)
        if case .replied(.results, _, 503, _) = payload, isAboutOldToken {
            self.backoffs.resultsRefused(now, &fleet)
        } else {
            self.backoffs.record(payload, now, &fleet)
        }
        if let wrong = self.limits.record(payload, now) { fleet.violate(.retryBudget, seen, wrong) }
        if let wrong = self.deletes.record(payload, now) { fleet.violate(.jobCleanedOnce, seen, wrong) }
        let lifetime = fleet.ledger.tokenLifetime
        if let wrong = self.tokens.record(payload, of: seen.scan, at: seen.at, lifetime: lifetime) {
            fleet.violate(.authOneExchange, seen, wrong)
        }
        switch payload {
        case .tokenExchanged(let job, _): self.forms.updateToken(of: job) { $0.received(at: seen.at) }
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            let request = RequestKey(operation, seen.scan, attempt)
            self.forms.sent(request, job: job, lastEventID: lastEventID, at: seen.at)
        case .reinstalled: self.forms.reinstalled()
        case .killed:
            self.forms.interrupted()
            self.forms.killed()
        case .pathLost: self.forms.interrupted()
        default: break
        }
        self.requests.record(payload, seen, self.life, &fleet)
        self.life.record(payload, at: seen.at)
    }

    /// A ping, or a `progress` event as expected: it ends the failures of its stream, and means nothing else.
    mutating func recordRoutine(
        _ payload: PhoneObservation, _ seen: Observation, _ fleet: inout FleetChecks
    ) {
        self.backoffs.record(
            payload, PhoneMoment(scan: seen.scan, at: seen.at, life: self.life), &fleet)
    }

    mutating func record(_ payload: BackendObservation, _ seen: Observation, _ fleet: inout FleetChecks) {
        switch payload {
        case .accepted(let job, _):
            self.forms.accepted(job, scan: seen.scan)
            self.tokens.accepted(job, of: seen.scan, at: seen.at)
            self.requests.accepted(seen, &fleet)
        case .tokenExchanged(let job):
            self.forms.updateToken(of: job) { $0.replaced(at: seen.at) }
            self.tokens.replaced(job, at: seen.at)
        case .cleaned(let job, effective: true): self.requests.cleaned(job, seen, &fleet)
        case .problem(let operation, let attempt, let status, _, _, let wait?):
            let now = PhoneMoment(scan: seen.scan, at: seen.at, life: self.life)
            self.backoffs.receivedRetryAfter(operation, attempt: attempt, wait: wait, status: status, now)
            switch (operation, status) {
            case (.upload, 429): self.limits.receivedRetryAfter(wait, scan: seen.scan, attempt: attempt)
            case (.upload, _): self.order.receivedRetryAfter(wait, scan: seen.scan)
            case (.stream, _), (.results, _), (.cleanup, _), (.status, _), (.cancel, _), (.refresh, _): break
            }
        default: break
        }
    }

    mutating func faultFired(
        _ fault: Int, _ operation: Operation, _ attempt: UInt32, _ seen: Observation, _ fleet: FleetChecks
    ) {
        if fleet.ledger.faultsThatCut.contains(fault) {
            self.backoffs.cut(operation, scan: seen.scan, attempt: attempt)
            self.limits.cut(operation, scan: seen.scan, attempt: attempt)
        }
        if fleet.settings.faultsThatRound.contains(fault) {
            self.limits.rounded(operation, scan: seen.scan, attempt: attempt)
        }
        let garbles = operation == .stream && fleet.ledger.faultsThatGarble.contains(fault)
        self.requests.faultFired(RequestKey(operation, seen.scan, attempt), garblesStream: garbles)
    }

    // MARK: What is judged later

    mutating func judge(_ form: RequestForm, _ fleet: inout FleetChecks) {
        for wrong in self.forms.judge(form, owners: &fleet.owners) {
            fleet.findings.violate(
                .requestWellFormed, device: self.device, scan: form.scan, at: form.at, wrong)
        }
    }

    func judge(_ silence: SilentStream, _ fleet: inout FleetChecks) {
        let limit = fleet.value(
            of: self.device, in: fleet.settings.idleTimeouts, otherwise: fleet.settings.idleTimeout)
        guard let wrong = self.silences.judge(silence, life: self.life, limit: limit) else { return }
        fleet.findings.violate(
            .streamDeadDetected, device: self.device, scan: silence.scan, at: silence.to, wrong)
    }

    private mutating func judgeOrder(before moment: Instant, _ fleet: inout FleetChecks) {
        for overtaking in self.order.overtakings(before: moment) {
            fleet.findings.violate(
                .scanOrder, device: self.device, scan: overtaking.newer, at: overtaking.at,
                "uploaded before scan \(overtaking.older.raw), which is older and waited")
        }
    }

    /// The end of the run.
    mutating func end(at moment: Instant, _ fleet: inout FleetChecks) {
        self.backoffs.end(at: moment, &fleet)
        self.judgeOrder(before: .distantFuture, &fleet)
        self.requests.end(self.device, at: moment, &fleet)
    }

    /// Whether the answers to a scan have used up its retries.
    func isExcused(_ scan: ScanNumber) -> Bool { self.unsettled?.isExcused(scan) ?? false }
}
