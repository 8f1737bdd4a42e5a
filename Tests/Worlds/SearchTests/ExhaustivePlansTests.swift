import Faults
import Ledger
import Phone
import Plan
import Search
import SimBase
import Testing
import VirtualWorld

struct ExhaustivePlansTests {
    private static let plans = ExhaustivePlans(SearchBench.scenario())

    @Test func aPlanHasOneScanAndAtMostTwoFaults() {
        let numbers = Swift.stride(from: 1, through: UInt64(Self.plans.count), by: 997)
        for number in numbers {
            let plan = Self.plans.plan(number: number)
            #expect(plan.run.devices == 1 && plan.captures?.count == 1)
            #expect(plan.run.scenario.faults.count <= 2)
            #expect(ScenarioCheck.findings(plan.run.scenario).isEmpty, "plan \(number)")
        }
    }

    @Test func theFirstPlanIsQuietAndTheLastIsAPairOfEqualFaults() {
        #expect(Self.plans.plan(number: 1).run.scenario.faults.isEmpty)
        let last = Self.plans.plan(number: UInt64(Self.plans.count)).run.scenario.faults
        #expect(last.count == 2)
        #expect(last[0].kind == last[1].kind && last[0].window == last[1].window)
        #expect(last[0].id != last[1].id)
    }

    @Test func everyKindIsTiedToTheEventsOfTheScan() {
        #expect(
            Set(Self.plans.singles.map(\.kind.name)) == Set(FaultTable.kinds(withSockets: false).map(\.name)))
        #expect(
            Set(Self.plans.halves.map(\.kind.name)) == Set(FaultTable.kinds(withSockets: false).map(\.name)))
        let kills = Self.plans.halves.filter { $0.kind == .phone(.kill) }
        for step in ScanStep.allCases { #expect(kills.contains { $0.trigger == .afterStep(step) }) }
        #expect(Set(kills.map(\.window.at)).count > 10)
        let resets = Self.plans.halves.filter { $0.kind.name == "reset" && $0.target == .stream }
        for event in 1...5 { #expect(resets.contains { $0.trigger == .afterEvents(event...event) }) }
    }

    /// Every plan is another one.
    @Test func noPlanComesTwice() {
        #expect(Set(Self.plans.singles).count == Self.plans.singles.count)
        #expect(Set(Self.plans.halves).count == Self.plans.halves.count)
    }

    /// One single fault of each kind; all of them are tried by `--faults pairs`.
    @Test(arguments: FaultTable.kinds(withSockets: false).map(\.name))
    func theContractClientPassesWithASingleFault(kind: String) throws {
        let index = try #require(Self.plans.singles.firstIndex { $0.kind.name == kind })
        let outcome = try #require(Trial.outcome(of: Self.plans.plan(number: UInt64(index + 2))))
        #expect(!outcome.isFailing, "\(outcome)")
    }

    @Test func aPlantedBugFailsInOneOfThem() {
        let plans = ExhaustivePlans(SearchBench.scenario(toggles: [.lostStream]))
        let index = plans.singles.firstIndex { $0.kind.name == "reset" && $0.target == .stream } ?? 0
        let outcome = Trial.outcome(of: plans.plan(number: UInt64(index + 2)))
        #expect(outcome?.kinds == [.invariant(.scanSettles, client: "contract")])
    }
}
