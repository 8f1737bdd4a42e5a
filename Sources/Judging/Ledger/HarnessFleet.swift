import Metrics
import SimBase
import Talaria

/// What the checks of the harness share between phones: the settings, the present instant, and what is not explained yet.
struct HarnessFleet: Sendable {
    /// The tolerance for the time of a cut: a phone can date it earlier, since both sides read their clocks
    /// independently.
    static let graceTime = Interval.seconds(1)
    /// The largest fleet whose phones are all watched. Of a larger fleet, only every n-th phone is, since
    /// events are half of all observations.
    private static let watchedAllMax = 64
    private static let watchedShare: UInt32 = 8

    /// Something that the backend did at this instant and that a fault may have caused.
    struct Effect: Sendable {
        enum Kind: Hashable, Sendable {
            case answered(Talaria.Operation, status: Int)
            case tokenRevoked, vanished, jobFailed, degraded, terminalWritten, streamEnded, startedOver
            /// The stream of a job that has ended was ended without its terminal event.
            case terminalOmitted
        }

        let kind: Kind
        /// The index of its phone.
        let phone: Int
        let scan: ScanNumber
        /// 0 if it does not belong to an exchange.
        var attempt: UInt32 = 0
        /// Whether only a fault explains it.
        var needsFault: Bool
    }

    /// Something that a phone saw and that only a fault explains, which has not been seen yet.
    struct Doubt: Sendable {
        /// The index of its phone.
        let phone: Int
        let request: RequestKey
        let at: Instant
        let text: String
    }

    struct AskedUpload: Sendable {
        /// The index of its phone.
        let phone: Int
        var upload: QuotaAccount.Upload
    }

    struct Refusal: Sendable {
        /// The index of its phone.
        let phone: Int
        let request: RequestKey
        let fault: Int
    }

    var settings: HarnessSettings
    /// What the simulated backend finds.
    let shelf: Shelf
    /// Nil for a backend whose reasons for its answers are not known.
    let server: SimulatedServer?
    let hasQuotas: Bool
    var errors = HarnessErrors()
    var jobsAlive = 0
    var uploadsOpen = 0
    /// The rows of all files that were prepared.
    var rowsPrepared = 0
    /// Nil without a circuit breaker.
    var circuit: CircuitAccount?
    var rollout = RolloutCheck()
    var now = Instant(nanoseconds: .min)
    /// The effects of the present instant.
    var effects: [Effect] = []
    /// Admitted uploads in the window of each shared quota, by what shares it.
    var sharedAdmissions: [[UInt32: [Instant]]]
    /// Uploads whose limits were asked at the present instant.
    var uploads: [AskedUpload] = []
    /// The lifecycle events that began at the present instant.
    var acts: [HarnessPhone.Act] = []
    /// Requests that were refused at the present instant, and that their phones have not reported yet.
    var refusals: [Refusal] = []
    var doubts: [Doubt] = []
    /// Phones that each fault has hit, of those that have a share.
    var hits: [Int] = []

    init(_ settings: HarnessSettings, shelf: Shelf) {
        self.settings = settings
        self.shelf = shelf
        if case .simulated(let server) = settings.server { self.server = server } else { self.server = nil }
        self.circuit = self.server?.breaker.map { CircuitAccount($0) }
        let limits = settings.faults.contains { if case .limit = $0 { true } else { false } }
        self.hasQuotas =
            limits || self.server?.quota != nil || self.server?.hasOtherUploadLimits == true
        self.sharedAdmissions = Array(repeating: [:], count: self.server?.sharedQuotas.count ?? 0)
    }

    /// Counts an upload that was admitted.
    ///
    /// - Returns: The number of uploads in the window and the quota, if there are more than the quota has.
    mutating func admitted(uploadOf device: DeviceNumber) -> (count: Int, quota: Quota)? {
        var excess: (Int, Quota)?
        for (index, shared) in (self.server?.sharedQuotas ?? []).enumerated()
        where self.settings.fleet.value(of: device, in: shared.groups) == true {
            let share = shared.share(of: device)
            var moments = self.sharedAdmissions[index][share] ?? []
            moments.removeFirst(moments.prefix { $0 + shared.quota.window <= self.now }.count)
            moments.append(self.now)
            if moments.count > shared.quota.requests { excess = (moments.count, shared.quota) }
            self.sharedAdmissions[index][share] = moments
        }
        return excess
    }

    /// Whether every event that is written to this phone is followed.
    func watches(_ device: DeviceNumber) -> Bool {
        self.settings.fleet.count <= Self.watchedAllMax || device.raw % Self.watchedShare == 0
    }

    /// Whether the server says once that a job is completed: what follows cannot be blamed on a fault.
    var completesOnce: Bool { self.server?.dialect.completesOnce ?? true }

    /// Whether the backend has books that it could not look up, without a fault.
    var degradesWithoutFault: Bool { self.shelf.statuses.circuitOpen > .never }

    // MARK: Faults

    func rule(of fault: Int) -> FaultRule? {
        fault < self.settings.rules.count ? self.settings.rules[fault] : nil
    }

    func hasFired(_ exchange: HarnessPhone.Exchange, _ fits: (FaultEffect) -> Bool) -> Bool {
        if exchange.fired == 0 { return false }
        return self.settings.faults.indices.contains {
            exchange.fired & (1 << UInt64(min($0, HarnessPhone.lastFaultBit))) != 0
                && fits(self.settings.faults[$0])
        }
    }

    func isCut(_ exchange: HarnessPhone.Exchange, _ fits: (CutEffect) -> Bool = { _ in true }) -> Bool {
        self.hasFired(exchange) { if case .cut(let cut) = $0 { fits(cut) } else { false } }
    }

    /// Returns the status with which a fault answered a request; nil if none did.
    func statusDue(_ exchange: HarnessPhone.Exchange) -> Int? {
        guard exchange.fired != 0 else { return nil }
        for fault in self.settings.faults.indices.prefix(HarnessPhone.lastFaultBit)
        where exchange.fired & (1 << UInt64(fault)) != 0 {
            switch self.settings.faults[fault] {
            case .limit: return 429
            case .status(let status): return status
            case .tokenRevoked, .jobGone, .jobFailed, .degraded, .slowed, .booksStripped,
                .resultsTruncated, .resultsReordered, .eventAdded, .eventGarbled, .secondTerminal,
                .noTerminal, .socketClosed,
                .replayFromStart, .eventsForgotten, .noPings, .latePings, .cut, .delayed, .refused,
                .ofPhone, .unobserved:
                continue
            }
        }
        return nil
    }

    /// The end of the run: who is hit is drawn for each phone, so that the number of those hit is binomial.
    mutating func judgeShares() {
        for (fault, hit) in self.hits.enumerated() {
            let (phones, million) = (self.settings.phones, 1_000_000)
            // A share of none or of all leaves nothing to chance.
            guard let share = self.rule(of: fault)?.share, (1..<million).contains(share),
                hit <= phones, hit * million > phones * share,
                ChernoffBound.exponent(hit, of: phones, share: share, of: million)
                    > BackoffSamples.exponentMin
            else { continue }
            self.errors.add(
                "fault \(fault + 1) of the list has a scope of \(share) in a million phones, but affected \(hit) of \(phones)",
                device: nil, scan: .none, at: self.now)
        }
    }
}

extension HarnessFleet.Effect.Kind {
    var text: String {
        switch self {
        case .answered(let operation, let status): "\(operation.name) was answered with \(status)"
        case .tokenRevoked: "a token was revoked"
        case .vanished: "a job vanished"
        case .jobFailed: "a job failed"
        case .degraded: "a book was degraded"
        case .terminalWritten: "a terminal event was written"
        case .streamEnded: "the backend ended a stream whose job continues"
        case .startedOver: "a stream restarted"
        case .terminalOmitted: "the backend ended a stream without the terminal event of its job"
        }
    }
}
