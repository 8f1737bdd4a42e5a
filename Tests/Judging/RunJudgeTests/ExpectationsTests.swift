import Ledger
import Metrics
import SimBase
import Testing

@testable import RunJudge

/// What `expect-broken` covers: the violations of a group.
@Suite struct ExpectationsTests {
    /// Violations of `scan.custody` by the phones of the groups `old` and `new`, and by no single phone.
    private static func verdicts(old: Int, new: Int, fleet: Int = 0) -> (Verdict, [GroupVerdicts]) {
        (
            self.verdict(old + new + fleet, (1, old), (2, new), (nil, fleet)),
            [
                GroupVerdicts("old", [self.verdict(old, (1, old))]),
                GroupVerdicts("new", [self.verdict(new, (2, new))]),
            ]
        )
    }

    /// The examples are those of the first phone, as those of a long run are.
    private static func verdict(_ violations: Int, _ phones: (UInt32?, Int)...) -> Verdict {
        let first = phones.first { $0.1 > 0 }
        return Verdict(
            invariant: .scanCustody, standing: violations > 0 ? .broken : .held, violations: violations,
            expected: 0,
            examples: first.map { [Self.violation($0.0)] } ?? [])
    }

    private static func violation(_ phone: UInt32?, isExpected: Bool = false) -> Violation {
        Violation(
            invariant: .scanCustody, device: phone.map { DeviceNumber($0) }, scan: .none, at: .zero,
            text: "lost", isExpected: isExpected)
    }

    private static func expecting(_ scope: MetricScope, groups: [String]? = nil) -> Expectations {
        Expectations([.invariant(id: "scan.custody", scope: scope)], groups: groups)
    }

    /// The standing of the fleet, and whether the expectation has come true.
    private static func judged(
        _ expectations: Expectations, _ verdicts: (Verdict, [GroupVerdicts])
    ) -> (standing: Verdict.Standing, expected: Int, isMet: Bool) {
        let (fleet, groups) = expectations.applied(to: [verdicts.0], verdicts.1)
        // Applying twice is applying once: merges do.
        #expect(expectations.applied(to: fleet, groups).fleet == fleet)
        let outcomes = expectations.outcomes(
            verdicts: fleet, groups: groups, slos: [], totals: LedgerTotals())
        return (fleet[0].standing, fleet[0].expected, outcomes.allSatisfy(\.isBroken))
    }

    @Test(arguments: [
        (3, 0, 0, Verdict.Standing.brokenAsExpected, 3, true), (3, 1, 0, .broken, 3, true),
        (0, 1, 0, .broken, 0, false), (0, 0, 0, .held, 0, false), (3, 0, 1, .broken, 3, true),
        (0, 0, 1, .broken, 0, false),
    ])
    func `an entry for a group covers that group`(
        old: Int, new: Int, fleet: Int, standing: Verdict.Standing, expected: Int, isMet: Bool
    ) {
        let judged = Self.judged(
            Self.expecting(.group("old")), Self.verdicts(old: old, new: new, fleet: fleet))
        #expect(judged == (standing, expected, isMet))
    }

    @Test(arguments: [
        (3, 1, 1, Verdict.Standing.brokenAsExpected, 5, true), (0, 1, 0, .brokenAsExpected, 1, true),
        (0, 0, 1, .brokenAsExpected, 1, true), (0, 0, 0, .held, 0, false),
    ])
    func `an entry without a group covers the fleet`(
        old: Int, new: Int, fleet: Int, standing: Verdict.Standing, expected: Int, isMet: Bool
    ) {
        let judged = Self.judged(
            Self.expecting(.fleet), Self.verdicts(old: old, new: new, fleet: fleet))
        #expect(judged == (standing, expected, isMet))
    }

    @Test(arguments: [
        (3, 0, 1, Verdict.Standing.brokenAsExpected, 4, true), (3, 1, 0, .broken, 3, true),
        (0, 1, 0, .broken, 0, false), (0, 0, 1, .brokenAsExpected, 1, true),
    ])
    func `beside phones of the contract it covers the other clients`(
        old: Int, new: Int, fleet: Int, standing: Verdict.Standing, expected: Int, isMet: Bool
    ) {
        let judged = Self.judged(
            Self.expecting(.fleet, groups: ["old"]), Self.verdicts(old: old, new: new, fleet: fleet))
        #expect(judged == (standing, expected, isMet))
    }

    @Test func `the violation that counts is the example`() {
        let (verdict, groups) = Self.verdicts(old: 3, new: 1)
        #expect(verdict.examples.map(\.device) == [DeviceNumber(1)])
        let applied = Self.expecting(.group("old")).applied(to: [verdict], groups)
        #expect(applied.fleet[0].examples == [Self.violation(2)])
        #expect(applied.groups.map { $0.verdicts[0].standing } == [.brokenAsExpected, .broken])
    }

    @Test func `what is expected of one group is not expected of another`() {
        func exit(_ old: Int, _ new: Int) -> ExitCode {
            let (verdict, groups) = Self.verdicts(old: old, new: new)
            var totals = LedgerTotals()
            totals.scans.captured = 1
            totals.scans.completed = 1
            var judgement = Judgement(
                verdicts: [verdict], totals: totals, slos: [],
                expectations: Self.expecting(.group("old")))
            judgement.groups = groups
            return judgement.reasons.exit
        }
        #expect(exit(1, 0) == .success)
        #expect(exit(1, 1) == .invariantBroken)
        #expect(exit(0, 1) == .invariantBroken)
        #expect(exit(0, 0) == .invariantBroken)
    }

    @Test func `an objective without a group covers the same groups`() throws {
        func covers(_ entry: String, _ selector: String, groups: [String]?) throws -> Bool {
            let slo = SLO(
                selector: try MetricSelector(parsing: selector, vocabulary: nil),
                condition: try SLOCondition(parsing: "count == 0", for: .count), severity: .error,
                abort: false)
            return Expectations(
                [.objectives(try MetricSelector(parsing: entry, vocabulary: nil))], groups: groups
            ).covers(slo.notKnown)
        }
        #expect(try covers("scans.lost", "scans.lost", groups: ["old"]))
        #expect(try covers("scans.lost", "scans.lost{group:old}", groups: ["old"]))
        #expect(try !covers("scans.lost", "scans.lost{group:new}", groups: ["old"]))
        #expect(try covers("scans.lost", "scans.lost{group:new}", groups: nil))
        #expect(try !covers("scans.lost{group:old}", "scans.lost", groups: nil))
        #expect(try covers("scans.lost{group:old}", "scans.lost{group:old}", groups: nil))
    }
}
