import Backend
import Faults
import Ledger
import Metrics
import Plan
import SimBase

/// What a scenario is unlikely to mean: `plan` and `check` say so before a run shows it.
struct PlanWarnings {
    /// Counting the captures takes a draw for each. A check of more is not kept waiting for it.
    private static let capturesMax = 1_000_000

    let all: [String]

    /// `arrivals`: nil if they were not counted. `target`: the backend of the run.
    init(_ plan: RunPlan, _ arrivals: ExpectedArrivals?, target: PlanTarget = .embedded) {
        let scenario = plan.scenario
        self.all =
            (target == .foreign ? UnjudgedWithTarget.warnings(scenario) : [])
            + scenario.faults.compactMap { Self.wait($0, drain: scenario.drain) }
            + (arrivals.map { Self.limit(plan, $0) } ?? []) + scenario.faults.compactMap(Self.early)
            + (arrivals.map { Self.idle(plan, $0) } ?? []) + ObjectiveCheck.warnings(scenario, arrivals)
            + Self.expectations(scenario)
    }

    /// Those of a scenario that is only checked.
    init(checking scenario: Scenario, target: PlanTarget = .embedded) {
        let plan = RunPlan(scenario, target: .embedded)
        let captures = plan.groups.reduce(0) { $0 + $1.spec.devices * $1.spec.scansPerDevice }
        self.init(plan, captures <= Self.capturesMax ? plan.expectedArrivals : nil, target: target)
    }

    /// A wait that an answer asks for, if no scan that gets it at the end can finish.
    private static func wait(_ fault: FaultSpec, drain: Interval) -> String? {
        guard let asked = Self.asked(by: fault.kind) else { return nil }
        guard asked.wait >= drain else { return nil }
        return
            "faults.\(fault.id).\(asked.key): phones wait \(Self.text(asked.wait)), and unfinished scans get \(Self.text(drain)) after the last capture: those that are limited late cannot finish (raise `drain`)"
    }

    /// The wait that an answer asks for, and the key that says so.
    private static func asked(by kind: FaultKind) -> (key: String, wait: Interval)? {
        if case .rateLimit(let quota, let retryAfter) = kind {
            return retryAfter.map { ("retry-after", $0) } ?? ("quota", quota.window)
        }
        if case .httpError(let error) = kind { return error.retryAfter.map { ("retry-after", $0) } }
        return nil
    }

    /// The limit of the backend itself, for phones that scan more often than it allows.
    private static func limit(_ plan: RunPlan, _ arrivals: ExpectedArrivals) -> [String] {
        guard let quota = plan.scenario.server.backend.rateLimit, quota.window >= plan.scenario.drain else {
            return []
        }
        return zip(plan.groups, arrivals.scansByGroup).compactMap { group, scans in
            let devices = group.spec.devices
            guard scans > quota.requests * devices else { return nil }
            return
                "server.rate-limit: the phones of \(group.spec.name) scan more than \(quota.requests) times and then wait up to \(Self.text(quota.window)), and unfinished scans get \(Self.text(plan.scenario.drain)) after the last capture (raise `drain`, or the limit)"
        }
    }

    /// Stages that end before every phone has had a capture.
    private static func idle(_ plan: RunPlan, _ arrivals: ExpectedArrivals) -> [String] {
        zip(plan.groups, arrivals.scansByGroup).compactMap { group, scans in
            guard case .open(let curve, _) = group.spec.load, curve.total != nil, scans < group.spec.devices
            else { return nil }
            return
                "fleet.\(group.spec.name).arrivals: the stages have \(scans) captures, so that at least \(group.spec.devices - scans) of \(group.spec.devices) phones never scan (add a stage, or use fewer `devices`)"
        }
    }

    /// Expected failures of any group, where there are several.
    private static func expectations(_ scenario: Scenario) -> [String] {
        guard scenario.groups.count > 1 else { return [] }
        let others = scenario.groupsExpectedToBreak.map { $0.joined(separator: ", ") }
        let about =
            others.map { "it covers only \($0), whose phones are other clients than the contract's" }
            ?? "it covers every group"
        return scenario.expectBroken.filter { Self.lacksGroup($0, scenario) }.map {
            "expect-broken: `\($0.name)` names no group, so \(about) (name one: `\"\($0.name){group:\(scenario.groups[0].name)}\"`)"
        }
    }

    private static func lacksGroup(_ expected: ExpectedBreak, _ scenario: Scenario) -> Bool {
        guard expected.scope == .fleet else { return false }
        switch expected {
        case .invariant(let id, _): return !Invariant.ofWholeFleet.map(\.rawValue).contains(id)
        case .objectives(let selector):
            return selector != ImplicitObjective.nothingCompleted
                && !scenario.slos.contains { $0.selector == selector }
        }
    }

    /// A token that is gone before its stream has opened.
    private static func early(_ fault: FaultSpec) -> String? {
        guard case .expireToken = fault.kind, fault.target == .stream, fault.trigger == .atOnce else {
            return nil
        }
        return
            "faults.\(fault.id): the token expires before the first event, so that the stream is never opened (add `after: 1s` to lose it while it is open)"
    }

    private static func text(_ time: Interval) -> String {
        let seconds = time.nanoseconds / 1_000_000_000
        return time.nanoseconds % 60_000_000_000 == 0 && seconds >= 60 ? "\(seconds / 60)m" : "\(seconds)s"
    }
}
