import Metrics
import Plan
import RunControl
import SimBase
import Talaria

/// Reads `rollout`: a migration of the phones from one transport to another.
struct RolloutReader {
    static let keys = ScenarioKeys<RolloutPlan>(
        what: "a rollout",
        rows: [
            .init(
                "arms", TransportPair.schema, "from which transport, and to which one",
                read: Self.readArms,
                write: { "[\($0.arms.old.rawValue), \($0.arms.new.rawValue)]" }),
            .init(
                "stages", Self.stagesSchema, "the shares of the new transport, and how long each lasts",
                read: Self.readStages,
                write: { plan in
                    "[\(plan.stages.map { "{\(Self.stage.values($0).map { "\($0.key): \($0.value)" }.joined(separator: ", "))}" }.joined(separator: ", "))]"
                }),
            .init(
                "rollback", RollbackReader.schema,
                "the conditions of the new transport that end the rollout; off: nothing does",
                read: { map, plan in
                    guard let node = map.entry("rollback")?.value else { return }
                    plan.triggers = RollbackReader(findings: map.findings).triggers(node)
                },
                write: { RollbackReader.text($0.triggers) }),
            .init("time-scale", \.timeScale, Self.timeScale, "length in the run of a time of a stage"),
            .init(
                "complains-after", \.patience, .positive("the time after which a user complains"),
                "time after a capture at which the user complains"),
            .init(
                "sticky", \.isSticky, .toggle,
                "whether a phone stays in its cohort; off: it is drawn at every upload"),
            .init(
                "samples-min", \.samplesMin, .integer(1...10_000),
                "minimum number of samples of a condition in its window"),
        ])

    let findings: Findings

    /// - Parameter node: The value of the key; nil for a scenario without a rollout.
    func plan(_ node: Node?) -> RolloutPlan? {
        guard let node, let map = Self.keys.map(node, self.findings) else { return nil }
        var plan = RolloutPlan()
        Self.keys.read(map, into: &plan)
        if map.entry("stages") == nil, !map.isMeant("stages") {
            self.findings.add(
                map.location, "a rollout needs `stages`",
                help: "for example `stages: [{share: 5%, for: 2d}, {share: 100%, for: 2d}]`")
        }
        if plan.length > ScenarioLimit.timeMax {
            self.findings.add(
                map.location(of: "stages"),
                "the stages last longer than \(ScenarioLimit.timeMaxText) of the run",
                help: "shorten them by `time-scale`, such as `1d = 10m`")
        }
        return plan
    }

    // MARK: Arms

    @Sendable private static func readArms(_ map: MapReader, _ plan: inout RolloutPlan) {
        guard let arms = TransportPair.read(map.entry("arms")?.value, named: "arms", map.findings) else {
            return
        }
        plan.arms = RolloutArms(from: arms[0], to: arms[1])
    }

    // MARK: Stages

    private static let stage = ScenarioKeys<RolloutPlan.Stage>(
        what: "a stage",
        rows: [
            .init(
                "share", .share, "the share of the phones with the new transport",
                read: { map, stage in
                    let share = map.required("share", example: "5%") { text throws(ValueError) in
                        try Values.share(text)
                    }
                    if let share { stage.share = share }
                },
                write: { Units.percent(Int64($0.share.perMillion)) }),
            .init(
                "for", Self.days, "how long it lasts; days are `d`",
                read: { map, stage in
                    let length = map.required("for", example: "2d") { text throws(ValueError) in
                        var scanner = try ValueScanner(text)
                        let length = try Values.days(&scanner)
                        try scanner.expectEnd()
                        return length
                    }
                    if let length { stage.length = length }
                },
                write: { Units.text($0.length) }),
        ])

    private static let stagesSchema = JSONSchema.list(
        of: .map(Self.stage.schemas, required: ["share", "for"]), max: ScenarioLimit.stagesMax, min: 1)

    @Sendable private static func readStages(_ map: MapReader, _ plan: inout RolloutPlan) {
        guard let node = map.entry("stages")?.value else { return }
        guard case .list(let nodes) = node.content, (1...ScenarioLimit.stagesMax).contains(nodes.count) else {
            map.findings.add(
                node.location, "`stages` must be a list of 1 to \(ScenarioLimit.stagesMax) stages",
                help: "for example `[{share: 5%, for: 2d}, {share: 100%, for: 2d}]`")
            return
        }
        plan.stages = nodes.compactMap { node in
            guard let map = Self.stage.map(node, map.findings) else { return nil }
            var stage = RolloutPlan.Stage(share: .never, length: .hours(1))
            Self.stage.read(map, into: &stage)
            return stage
        }
    }

    // MARK: Times

    private static let daysPattern = "\(JSONSchema.number)(\(Values.unitsOfDays.joined(separator: "|")))"
    private static let days = JSONSchema.text(
        Self.daysPattern, "a duration, also in days", examples: ["2d", "12h"])

    private static let timeScale = ValueForm<RolloutPlan.TimeScale>(
        .text(
            "\(Self.daysPattern) *= *\(Self.daysPattern)", "two durations such as `1d = 10m`",
            examples: ["1d = 10m"]),
        read: { _, text throws(ValueError) in
            var scanner = try ValueScanner(text)
            let stated = try Values.days(&scanner)
            scanner.skipSpaces()
            guard scanner.take("=") else { throw ValueError("a time scale has the form `1d = 10m`") }
            scanner.skipSpaces()
            let inRun = try Values.days(&scanner)
            try scanner.expectEnd()
            return .init(stated: stated, inRun: inRun)
        },
        write: { "\(Units.text($0.stated)) = \(Units.text($0.inRun))" })
}

extension Values {
    /// The longest time of a stage, before it is scaled.
    private static let daysMax: Int64 = 365

    fileprivate static let unitsOfDays = ["ms", "s", "m", "min", "h", "d"]

    /// A duration above zero that may be in days.
    fileprivate static func days(_ scanner: inout ValueScanner) throws(ValueError) -> Interval {
        guard let number = try scanner.takeNumber() else {
            throw ValueError("a time of a rollout must be a number with a unit, such as `2d` or `12h`")
        }
        let start = scanner.offset
        let word = scanner.takeWord()
        let day = Interval.hours(24).nanoseconds
        let unit: Int64 =
            switch word {
            case "d": day
            case "min": Interval.minutes(1).nanoseconds
            case let word where word.isEmpty || Self.unitsOfDays.contains(word):
                try Units.time(word, after: number, at: start..<scanner.offset)
            default:
                throw ValueError(
                    "unknown unit \(Findings.quoted(word)): the units of a time of a rollout are ms, s, m (min), h and d",
                    at: start..<scanner.offset)
            }
        let time = try number.times(unit)
        guard (1...Self.daysMax * day).contains(time) else {
            throw ValueError("a time of a rollout must be above zero, and at most \(Self.daysMax)d")
        }
        return .nanoseconds(time)
    }
}
