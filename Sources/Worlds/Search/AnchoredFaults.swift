import Faults
import Phone
import Plan
import SimBase
import Talaria

/// The faults that can be tied to the events of one scan: each kind with each of its values, on each target, at each anchor.
struct AnchoredFaults {
    /// Statuses of an answer: those that the contract names, and one that it does not.
    private static let statuses = [503, 401, 403, 404, 408, 410, 422, 429]
    static let closeCodes = [1_013, 1_000, 1_001, 1_008, 1_011, 4_000]
    private static let cuts: [Cut] = [
        .betweenEvents, .insideEvent, .insideUTF8, .insideLineEnd, .afterBytes(120),
    ]
    /// How long a fault of the phone lasts that must end: within the time in which a job ends, and beyond it.
    static let lengths = [Interval.seconds(1), .seconds(7)]

    private let anchors: ScanAnchors
    private let fleet: Scenario

    /// `fleet`: the scenario that the faults act on. Its faults count for nothing.
    init(_ anchors: ScanAnchors, fleet: Scenario) {
        self.anchors = anchors
        self.fleet = fleet
    }

    /// All of them.
    var all: [FaultSpec] { self.kinds.flatMap { self.faults($0, values: Self.values(of: $0)) } }

    /// Those that can act.
    private var kinds: ArraySlice<FaultKindEntry> { FaultTable.kinds(withSockets: self.fleet.hasSockets) }

    /// Those with the usual values of their kind, of the shorter length.
    var representatives: [FaultSpec] {
        self.kinds.flatMap { entry in
            self.faults(entry, values: Array(Self.values(of: entry).prefix(1)))
                .filter { $0.window.length != Self.lengths[1] }
        }
    }

    private func faults(_ entry: FaultKindEntry, values: [FaultValues]) -> [FaultSpec] {
        let polls = self.fleet.groups.contains { $0.profile.status.polling != .off }
        let targets = entry.targets.filter { $0 != .refresh && ($0 != .status || polls) }
        let kinds = values.compactMap { FaultKind(entry.id, $0) }
        return targets.flatMap { target in
            kinds.flatMap { kind in self.anchored(entry, kind, on: target) }
        }.filter(self.isSensible)
    }

    /// A fault of the phone without a trigger is tied to the events of the scan.
    private func anchored(
        _ entry: FaultKindEntry, _ kind: FaultKind, on target: FaultTarget
    ) -> [FaultSpec] {
        let lengths = entry.mustEnd ? Self.lengths.map(Optional.some) : [entry.defaultLength]
        return self.anchors.triggers(of: entry).flatMap { trigger in
            let moments = entry.layer == .phone && trigger == .atOnce ? self.anchors.moments : [.zero]
            return moments.flatMap { at in
                lengths.map { length in
                    FaultSpec(
                        id: "\(entry.name)-1", kind: kind, target: target, chance: .always,
                        window: FaultWindow(at: at, length: length), trigger: trigger,
                        count: entry.defaultCount ?? .oncePerScan, scope: .everyone)
                }
            }
        }
    }

    private func isSensible(_ spec: FaultSpec) -> Bool {
        var scenario = self.fleet
        scenario.faults = [spec]
        return ScenarioCheck.findings(scenario).isEmpty
    }

    // MARK: Values

    /// All combinations of the values of a kind's own keys, the usual one first.
    private static func values(of entry: FaultKindEntry) -> [FaultValues] {
        entry.fields.reduce([FaultValues()]) { combinations, field in
            combinations.flatMap { values in
                self.values(of: field).map { value in
                    var values = values
                    values[field.name] = value
                    return values
                }
            }
        }
    }

    /// The values of a key; nil is one that is left out.
    private static func values(of field: FaultField) -> [FaultValue?] {
        switch field.type {
        // What the answer asks for is drawn by the swarm.
        case _ where field.isOptional && field.defaultText == nil && !Self.isChoice(field): [nil]
        // Without a wait it does not matter where it would be.
        case .choice where field.name == "retry-after-in": [field.defaultText.map { .word($0) }]
        case .duration, .durations: [.durations(Interval.seconds(5)...Interval.seconds(5))]
        case .offset: [.durations(Interval.hours(-1)...Interval.hours(-1))]
        case .quota: [.quota(Quota(requests: 1, window: .seconds(20)))]
        case .integer(let range) where range.lowerBound >= 1_000: self.closeCodes.map { .integers($0...$0) }
        case .integer: self.statuses.map { .integers($0...$0) }
        case .integers(let range): [.integers(range.lowerBound...range.lowerBound)]
        case .share: [.share(.percent(50))]
        case .bitRate: [.bitRate(64_000)]
        case .toggle: [.toggle(true), .toggle(false)]
        case .choice(let words):
            [field.defaultText.map { .word($0) }]
                + words.filter { $0 != field.defaultText }.map { .word($0) }
        case .code: [.word(field.defaultText ?? field.example)]
        case .cut: self.cuts.map { .cut($0) }
        }
    }

    private static func isChoice(_ field: FaultField) -> Bool {
        if case .choice = field.type { true } else { false }
    }
}
