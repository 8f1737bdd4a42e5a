import Backend
import Faults
import Plan
import SimBase
import Talaria

/// Draws the faults of a plan from the table of kinds: a kind that is added to the table is drawn from then on.
struct SwarmFaults {
    private static let earliest = Interval.zero...Interval.seconds(30)
    private static let length = Interval.milliseconds(100)...Interval.seconds(60)
    private static let spread = Interval.zero...Interval.seconds(10)
    private static let attempts = 8

    private let draws: SwarmDraws
    private let fleet: Scenario
    /// Whether the fleet has nothing wrong without faults.
    private let isSound: Bool

    /// `fleet`: the scenario whose phones the faults act on. Its faults count for nothing.
    init(_ draws: SwarmDraws, fleet: Scenario) {
        self.draws = draws
        self.fleet = fleet
        var bare = fleet
        bare.faults = []
        self.isSound = ScenarioCheck.findings(bare).isEmpty
    }

    func faults(for recipe: SwarmRecipe) -> [FaultSpec] {
        // A fleet without a WebSocket draws as if there were no faults of one.
        let kinds = FaultTable.kinds(withSockets: self.fleet.hasSockets).indices
        switch recipe {
        case .quiet: return []
        case .swarm:
            return kinds.filter { self.draws.happens(.percent(30), .isIncluded, $0) }
                .compactMap { self.fault($0, chances: [2, 10, 30, 70, 100]) }
        case .moderate: return kinds.compactMap { self.fault($0, chances: [2, 5, 10]) }
        case .single:
            let kind = self.draws.below(kinds.count, .kind)
            return (0..<2).compactMap { self.fault(kind, item: $0, chances: [50, 80, 100]) }
        case .anchored:
            return (0..<2).compactMap {
                self.anchored(self.draws.below(kinds.count, .kind, $0), item: $0)
            }
        case .outage: return self.outage()
        }
    }

    // MARK: One fault

    /// Draws a fault of a kind. `item` distinguishes faults of one kind. Nil if no draw makes sense.
    private func fault(_ kind: Int, item: Int = 0, chances: [UInt32]) -> FaultSpec? {
        self.firstSensible(kind, item) { entry, key in
            guard var spec = self.base(entry, item: item, key: key) else { return nil }
            spec.chance = .percent(self.draws.one(of: chances, .chance, key))
            return spec
        }
    }

    /// Draws a fault that is certain to come, at an event of a scan where its kind allows that.
    private func anchored(_ kind: Int, item: Int) -> FaultSpec? {
        self.firstSensible(kind, item) { entry, key in
            guard var spec = self.base(entry, item: item, key: key) else { return nil }
            spec.chance = .always
            spec.scope = .everyone
            guard let form = entry.triggers.last(where: { $0 != .time }) else { return spec }
            spec.trigger = self.trigger(form, key: key)
            spec.window.at = .zero
            spec.spread = .zero
            return spec
        }
    }

    private func firstSensible(
        _ kind: Int, _ item: Int, _ make: (FaultKindEntry, Int) -> FaultSpec?
    ) -> FaultSpec? {
        for attempt in 0..<Self.attempts {
            let key = (kind * 8 + item) * Self.attempts + attempt
            if let spec = make(FaultTable.all[kind], key), self.isSensible(spec) { return spec }
        }
        return nil
    }

    /// Whether a scenario with this fault alone lets scans through.
    private func isSensible(_ spec: FaultSpec) -> Bool {
        guard self.isSound else { return false }
        var scenario = self.fleet
        scenario.faults = [spec]
        return ScenarioCheck.faultFindings(scenario).isEmpty
    }

    private func base(_ entry: FaultKindEntry, item: Int, key: Int) -> FaultSpec? {
        guard let kind = FaultKind(entry.id, self.values(of: entry, key: key)) else { return nil }
        let isOfPhone = entry.layer == .phone
        let hasWindow = isOfPhone || entry.mustEnd || self.draws.happens(.percent(40), .window, key)
        var spec = FaultSpec(
            id: "\(entry.name)-\(item + 1)", kind: kind,
            target: self.draws.one(of: entry.targets.filter { $0 != .refresh }, .target, key),
            chance: .always, window: .always,
            trigger: .atOnce, count: self.count(entry, key: key), scope: self.scope(key: key))
        if hasWindow {
            spec.window.at = self.draws.interval(in: Self.earliest, .windowStart, key)
            spec.window.length = self.draws.interval(in: Self.length, .windowLength, key)
        }
        if entry.hasSpread { spec.spread = self.draws.interval(in: Self.spread, .spread, key) }
        let isAnchored = !entry.triggers.isEmpty && self.draws.happens(.percent(60), .trigger, key, 1)
        if isAnchored {
            spec.trigger = self.trigger(self.draws.one(of: entry.triggers, .trigger, key), key: key)
        }
        return spec
    }

    private func count(_ entry: FaultKindEntry, key: Int) -> FaultCount {
        guard let standard = entry.defaultCount else { return .oncePerScan }
        return self.draws.one(
            of: [standard, standard, .oncePerScan, .perScan(2), .perScan(4), .eachAttempt], .count, key)
    }

    private func scope(key: Int) -> FaultScope {
        self.draws.one(of: [.everyone, .everyone, .share(.percent(50))], .scope, key)
    }

    private func trigger(_ form: TriggerForm, key: Int) -> FaultTrigger {
        func number(_ range: ClosedRange<Int64>) -> Int {
            Int(self.draws.magnitude(in: range, .triggerValue, key))
        }
        switch form {
        case .time:
            let time = self.draws.interval(in: .zero...Interval.seconds(20), .triggerValue, key)
            return .afterTime(time...time)
        case .events:
            let count = number(1...12)
            return .afterEvents(count...count)
        case .bytes:
            let count = number(1...400_000)
            return .afterBytes(count...count)
        case .records:
            let count = number(1...12)
            return .afterRecords(count...count)
        case .step: return .afterStep(self.draws.one(of: ScanStep.allCases, .triggerValue, key))
        }
    }

    // MARK: Values

    private func values(of entry: FaultKindEntry, key: Int) -> FaultValues {
        var values = FaultValues()
        for (index, field) in entry.fields.enumerated() {
            let isLeftOut = field.isOptional && self.draws.happens(.percent(50), .field, key, index * 8)
            if !isLeftOut { values[field.name] = self.value(of: field, key: key, index) }
        }
        return values
    }

    private func value(of field: FaultField, key: Int, _ index: Int) -> FaultValue {
        func detail(_ part: Int) -> Int { index * 8 + part }
        func time(_ range: ClosedRange<Interval>, _ part: Int = 1) -> Interval {
            self.draws.interval(in: range, .field, key, detail(part))
        }
        let times = Interval.milliseconds(20)...Interval.seconds(60)
        switch field.type {
        case .duration:
            let drawn = time(times)
            return .durations(drawn...drawn)
        case .durations:
            let (first, second) = (time(times, 1), time(times, 2))
            return .durations(min(first, second)...max(first, second))
        case .offset:
            let drawn = time(.seconds(1)...Interval.hours(4))
            let signed = self.draws.happens(.percent(50), .field, key, detail(2)) ? drawn : .zero - drawn
            return .durations(signed...signed)
        case .quota:
            return .quota(
                Quota(
                    requests: 1 + self.draws.below(4, .field, key, detail(1)),
                    window: time(.seconds(1)...Interval.seconds(30), 2)))
        case .integer(let range) where range.lowerBound >= 1_000:
            let code = self.draws.one(of: AnchoredFaults.closeCodes, .field, key, detail(1))
            return .integers(code...code)
        case .integer:
            let status = self.draws.one(of: Self.statuses, .field, key, detail(1))
            return .integers(status...status)
        case .integers(let range):
            let drawn = Int(
                self.draws.magnitude(
                    in: Int64(range.lowerBound)...Int64(range.upperBound), .field, key, detail(1)))
            return .integers(range.lowerBound...drawn)
        case .share:
            return .share(.percent(self.draws.one(of: [1, 5, 20, 50], .field, key, detail(1))))
        case .bitRate: return .bitRate(self.draws.magnitude(in: 16_000...10_000_000, .field, key, detail(1)))
        case .toggle: return .toggle(self.draws.happens(.percent(50), .field, key, detail(1)))
        case .choice(let words): return .word(self.draws.one(of: words, .field, key, detail(1)))
        case .code: return .word(self.draws.one(of: Self.codes, .field, key, detail(1)))
        case .cut:
            return .cut(self.draws.one(of: Self.cuts, .field, key, detail(1)))
        }
    }

    private static let statuses = [400, 401, 403, 404, 408, 409, 410, 413, 422, 429, 500, 502, 503, 504]
    private static let cuts: [Cut] = [
        .betweenEvents, .insideEvent, .insideUTF8, .insideLineEnd, .afterBytes(120),
    ]
    private static let codes = ["PROVIDER_TIMEOUT", "INVALID_FILE", "CIRCUIT_OPEN", "INTERNAL_ERROR"]

    // MARK: Outages

    /// All phones lose their paths one after the other and get them back in another order, the backend fails as a whole, or a
    /// stage of each job takes so long that its streams bring pings alone before they are lost.
    private func outage() -> [FaultSpec] {
        if self.draws.happens(.percent(30), .macro, 3) { return self.stall() }
        let start = self.draws.interval(in: .zero...Interval.seconds(10), .macro, 0)
        let length = self.draws.interval(in: .seconds(1)...Interval.seconds(30), .macro, 1)
        let window = FaultWindow(at: start, length: length)
        if self.draws.happens(.percent(50), .macro, 2) {
            return [.offline, .handover].map { (fault: PhoneFault) in
                let isFirst = fault == .offline
                return FaultSpec(
                    id: isFirst ? "offline-1" : "handover-1", kind: .phone(fault), target: .link,
                    chance: .always,
                    window: isFirst ? window : FaultWindow(at: start, length: .milliseconds(300)),
                    spread: length, trigger: .atOnce, count: .oncePerScan, scope: .everyone)
            }
        }
        let error = HTTPFault(
            status: 503, code: nil, retryable: nil, retryAfter: nil, retryAfterLocation: .both)
        let refusals = [FaultTarget.upload, .stream, .results, .cleanup].enumerated().map { index, target in
            FaultSpec(
                id: "http-error-\(index + 1)", kind: .httpError(error), target: target, chance: .always,
                window: window, trigger: .atOnce, count: .eachAttempt, scope: .everyone)
        }
        let cut = FaultSpec(
            id: "reset-1", kind: .reset(.betweenEvents, .reply), target: .stream, chance: .always,
            window: window, trigger: .atOnce, count: .oncePerScan, scope: .everyone)
        return [cut] + refusals
    }

    private func stall() -> [FaultSpec] {
        let stage = self.draws.one(of: ScanPhase.allCases, .macro, 4)
        let time = self.draws.interval(in: .seconds(20)...Interval.seconds(60), .macro, 5)
        // Long enough for a ping, wherever in the interval of the pings the stream is opened.
        let ping = self.fleet.server.backend.ping
        let life = ping + self.draws.interval(in: .milliseconds(200)...Interval.seconds(2), .macro, 6)
        let slow = FaultSpec(
            id: "slow-stage-1", kind: .slowStage(stage, by: time...time), target: .stream, chance: .always,
            window: .always, trigger: .atOnce, count: .oncePerScan, scope: .everyone)
        let cut = FaultSpec(
            id: "reset-1", kind: .reset(.betweenEvents, .reply), target: .stream, chance: .always,
            window: .always, trigger: .afterTime(life...life), count: .perScan(6), scope: .everyone)
        return [slow, cut]
    }
}
