import Ledger
import Metrics
import Plan
import RunDriver

/// What no run of a scenario against a foreign backend can judge: `check` and `plan` say so before the run does.
enum UnjudgedWithTarget {
    static let option = Option(
        name: "--target", value: "URL",
        help: "say what cannot be judged in a run against this backend; nothing is sent to it")

    /// The backend that the arguments speak of.
    static func target(_ arguments: Arguments) -> PlanTarget {
        arguments.has(Self.option.name) ? .foreign : .embedded
    }

    static func warnings(_ scenario: Scenario) -> [String] {
        let open = scenario.slos.filter {
            let metric = $0.selector.metric
            return metric.needsBackend && !(scenario.trial.isOn && metric.isMeasuredByTrial)
        }
        let objectives = open.map { slo in
            "slo.\(slo.selector): `\(slo.condition)` cannot be judged without a simulated backend"
                + (slo.mustBeJudged ? ": the run ends with 98 (add `not-judged: pass`)" : "")
        }
        let broken = scenario.expectBroken.filter(Self.needsBackend).map {
            "expect-broken: `\($0.name)` cannot be judged without a simulated backend: the run ends with 97"
        }
        let invariants = Invariant.everywhere.filter(Self.isOpen).map(\.rawValue)
        return objectives + broken
            + [
                "invariants that cannot be judged without a simulated backend: \(invariants.joined(separator: ", "))"
            ]
    }

    private static func isOpen(_ invariant: Invariant) -> Bool {
        invariant.needsBackend && !invariant.isPromised
    }

    private static func needsBackend(_ expected: ExpectedBreak) -> Bool {
        switch expected {
        case .invariant(let id, _): Invariant(rawValue: id).map(Self.isOpen) ?? false
        case .objectives(let selector): selector.metric.needsBackend
        }
    }
}
