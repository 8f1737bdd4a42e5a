import Metrics
import Plan
import SimBase

/// Reads what makes a group's phones take photos: `arrivals` and `spacing`, or `think` and `start`.
struct LoadReader {
    private static let arrivalsForm =
        "`6/s`, or stages: `[{rate: 5/s, for: 10s}, {ramp: 5/s..50/s, over: 60s}]`, or steps: `{steps: {from: 10/s, by: 10/s, to: 500/s, every: 30s}}`"
    /// What ends steps, the only value of `stop`.
    static let stops = "first objective"
    static let stepsKeys = ["steps", "stop", "refine"]

    let findings: Findings

    /// Nil when the group has none, or when it is wrong, which is reported.
    func load(of map: MapReader) -> LoadModel? {
        guard map.entry("think") != nil else {
            if let start = map.entry("start") {
                self.findings.add(
                    start.keyLocation, "`start` requires `think`",
                    help: "leave it out: `arrivals` begin with the run")
            }
            return self.open(map)
        }
        for key in ["arrivals", "spacing"] {
            guard let entry = map.entry(key) else { continue }
            self.findings.add(
                entry.keyLocation, "a group cannot have both `\(key)` and `think`",
                help: "use `arrivals` for captures on a schedule, or `think` for a pause after each scan")
        }
        let think = map.value("think") { text throws(ValueError) in
            try Values.durations(text, max: ScenarioLimit.timeMax)
        }
        let start = map.value("start") { text throws(ValueError) in
            try Values.durations(text, max: ScenarioLimit.timeMax)
        }
        return think.map {
            .closed(ThinkTime(think: $0, start: start ?? ThinkTime.startDefault(think: $0)))
        }
    }

    private func open(_ map: MapReader) -> LoadModel? {
        let spacing = map.value("spacing", default: .uniform) { text throws(ValueError) in
            try Values.spacing(text)
        }
        guard let node = map.entry("arrivals")?.value else {
            guard !map.isMeant("arrivals"), !map.isMeant("think") else { return nil }
            self.findings.add(
                map.location, "\(map.what) needs `arrivals` or `think`",
                help: "for example `arrivals: 6/s`, or `think: 1s..4s` between a phone's scans")
            return nil
        }
        if case .list(let nodes) = node.content {
            return self.stages(nodes, in: node).map { .open(.staged($0), spacing) }
        }
        if case .map = node.content {
            return self.steps(node).map { .open(.stepped($0), spacing) }
        }
        return map.value("arrivals") { text throws(ValueError) in
            .open(.constant(try Values.arrivalRate(text)), spacing)
        }
    }

    // MARK: Steps

    private func steps(_ node: Node) -> SteppedArrivals? {
        guard
            let map = MapReader(
                node, what: "`arrivals`", keys: Self.stepsKeys, planned: [], findings: self.findings)
        else { return nil }
        _ = map.value("stop") { text throws(ValueError) in
            guard text == Self.stops else {
                throw ValueError(
                    "unknown value \(Findings.quoted(text))", help: "write `stop: \(Self.stops)`")
            }
        }
        let refine = map.value("refine", default: 0) { text throws(ValueError) in
            try Values.integer(text, 0...RateSteps.refineMax, what: "the number of refinements")
        }
        guard let steps = map.entry("steps")?.value else {
            guard !map.isMeant("steps") else { return nil }
            self.findings.add(node.location, "`arrivals` as a map needs `steps`", help: Self.arrivalsForm)
            return nil
        }
        guard
            let map = MapReader(
                steps, what: "`steps`", keys: ["from", "by", "to", "every"], planned: [],
                findings: self.findings)
        else { return nil }
        let from = map.required("from", example: "10/s", Values.stepRate)
        let by = map.required("by", example: "10/s", Values.stepRate)
        let to = map.required("to", example: "500/s", Values.stepRate)
        let every = map.required("every", example: "30s", Self.lengthOfStep)
        guard let from, let by, let to, let every, self.isAscending(from, by, to, map) else { return nil }
        return SteppedArrivals(RateSteps(from: from, by: by, to: to, every: every, refine: refine))
    }

    private func isAscending(_ from: StepRate, _ by: StepRate, _ to: StepRate, _ map: MapReader) -> Bool {
        guard from <= to else {
            self.findings.add(
                map.location(of: "to"), "`to` is below `from`: \(to) and \(from)",
                help: "steps go up, from the slowest rate to the fastest")
            return false
        }
        guard RateSteps.count(from: from, by: by, to: to) <= RateSteps.stepsMax else {
            self.findings.add(
                map.location(of: "by"), "more than \(RateSteps.stepsMax) steps",
                help: "raise `by`; `refine` narrows the answer afterwards")
            return false
        }
        return true
    }

    private static func lengthOfStep(_ text: String) throws(ValueError) -> Interval {
        let length = try Values.duration(text, max: ScenarioLimit.timeMax)
        guard length >= RateSteps.everyMin else {
            throw ValueError(
                "a step must last at least \(Units.text(RateSteps.everyMin))",
                help: "its first third and its last second are not judged")
        }
        guard length == length.wholeSecondsUp else {
            throw ValueError(
                "a step must last a whole number of seconds",
                help: "write `\(Units.text(length.wholeSecondsUp))`")
        }
        return length
    }

    // MARK: Stages

    private func stages(_ nodes: [Node], in list: Node) -> ArrivalStages? {
        guard !nodes.isEmpty, nodes.count <= ScenarioLimit.stagesMax else {
            self.findings.add(
                list.location,
                nodes.isEmpty
                    ? "a list of stages must not be empty"
                    : "more than \(ScenarioLimit.stagesMax) stages",
                help: nodes.isEmpty ? Self.arrivalsForm : nil)
            return nil
        }
        let stages = nodes.map(self.stage)
        guard stages.allSatisfy({ $0 != nil }) else { return nil }
        let read = stages.compactMap { $0 }
        guard !read.allSatisfy(\.isPause) else {
            self.findings.add(
                list.location, "the arrival rate is always zero",
                help: "give at least one stage a rate above zero")
            return nil
        }
        return ArrivalStages(read)
    }

    private func stage(_ node: Node) -> ArrivalStage? {
        guard
            let map = MapReader(
                node, what: "a stage", keys: ["rate", "for", "ramp", "over"], planned: [],
                findings: self.findings)
        else { return nil }
        switch (map.entry("rate"), map.entry("ramp")) {
        case (.some, nil):
            let rate: ArrivalRate?? = map.value("rate", Values.arrivalLevel)
            guard let length = self.length("for", other: "over", of: map), let rate else { return nil }
            return ArrivalStage(rate, length: length)
        case (nil, .some):
            let ramp = map.value("ramp", Values.arrivalRamp)
            guard let length = self.length("over", other: "for", of: map), let ramp else { return nil }
            return ArrivalStage(from: ramp.from, to: ramp.to, length: length)
        case (nil, nil), (.some, .some):
            self.findings.add(
                map.location, "a stage needs either `rate` or `ramp`",
                help: "for example `{rate: 5/s, for: 10s}` or `{ramp: 5/s..50/s, over: 60s}`")
            return nil
        }
    }

    private func length(_ key: String, other: String, of map: MapReader) -> Interval? {
        if let entry = map.entry(other) {
            self.findings.add(
                entry.keyLocation, "this stage needs `\(key)` instead of `\(other)`",
                help: "use `for` with `rate`, and `over` with `ramp`")
            return nil
        }
        return map.required(key, example: "10s") { text throws(ValueError) in
            let length = try Values.duration(text, max: ScenarioLimit.timeMax)
            guard length > .zero else { throw ValueError("the duration of a stage must be above zero") }
            return length
        }
    }
}
