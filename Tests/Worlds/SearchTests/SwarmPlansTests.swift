import Backend
import Faults
import Phone
import Plan
import RunJudge
import Search
import SimBase
import Testing
import VirtualWorld

struct SwarmPlansTests {
    private static let plans = SwarmPlans(SearchBench.scenario(devices: 6))

    @Test func aSeedIsOnePlan() {
        #expect(Self.plans.plan(seed: 7) == Self.plans.plan(seed: 7))
        #expect(Self.plans.plan(seed: 7) != Self.plans.plan(seed: 8))
    }

    @Test func everyPlanPassesTheChecksOfAScenario() {
        for seed: UInt64 in 1...300 {
            let findings = ScenarioCheck.findings(Self.plans.plan(seed: seed).run.scenario)
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }

    @Test func everyKindOfFaultIsDrawn() {
        var drawn: Set<String> = []
        for seed: UInt64 in 1...300 {
            drawn.formUnion(Self.plans.plan(seed: seed).run.scenario.faults.map(\.kind.name))
        }
        #expect(drawn == Set(FaultTable.kinds(withSockets: false).map(\.name)))
    }

    @Test func `a fleet with a WebSocket draws the faults of one, too`() {
        var scenario = SearchBench.scenario()
        scenario.groups[0].profile.journey = .bookshelfScan
        scenario.groups[0].profile.stream.transport = .websocket
        let plans = SwarmPlans(scenario)
        var drawn: Set<String> = []
        for seed: UInt64 in 1...300 {
            drawn.formUnion(plans.plan(seed: seed).run.scenario.faults.map(\.kind.name))
        }
        #expect(drawn.isSuperset(of: FaultTable.sockets.map(\.name)))
    }

    @Test func theSharesOfTheRecipesAreKept() {
        #expect(SwarmRecipe.allCases.map(\.share).reduce(0, +) == 100)
        var counts: [SwarmRecipe: Int] = [:]
        for seed: UInt64 in 1...2_000 { counts[SwarmPlans.recipe(of: seed), default: 0] += 1 }
        for recipe in SwarmRecipe.allCases {
            // Four standard deviations of a share of 5 % are 2 %.
            let share = counts[recipe, default: 0] * 100 / 2_000
            #expect(abs(share - recipe.share) <= 5, "\(recipe)")
        }
    }

    @Test func aQuietPlanHasNoFaults() throws {
        let quiet = try #require((1...500).first { SwarmPlans.recipe(of: UInt64($0)) == .quiet })
        #expect(Self.plans.plan(seed: UInt64(quiet)).run.scenario.faults.isEmpty)
        let outcome = try #require(Trial.outcome(of: Self.plans.plan(seed: UInt64(quiet))))
        #expect(!outcome.isFailing)
    }

    @Test func anAnchoredPairIsTiedToEventsOfAScan() throws {
        let seeds = (1...500).filter { SwarmPlans.recipe(of: UInt64($0)) == .anchored }
        let faults = seeds.flatMap { Self.plans.plan(seed: UInt64($0)).run.scenario.faults }
        #expect(faults.allSatisfy { $0.chance == .always })
        let resets = faults.filter { $0.kind.name == "reset" }
        #expect(!resets.isEmpty)
        for reset in resets { #expect(reset.trigger != .atOnce && reset.window.at == .zero) }
    }

    @Test func aPhoneMayTakeMorePhotosThanItHasSlots() {
        let most = (1...200).map { seed in
            let captures = Self.plans.plan(seed: UInt64(seed)).captures ?? []
            return captures.map { one in captures.count { $0.device == one.device } }.max() ?? 0
        }
        #expect(most.max() == ClientProfile.contract.stream.slots + 3)
        #expect(most.count { $0 > ClientProfile.contract.stream.slots } > 20)
    }

    @Test func whatAScenarioExcludesIsSaid() {
        var scenario = SearchBench.scenario()
        #expect(
            CoverageGoal.allCases.filter { scenario.lacks(for: $0) != nil } == [
                .baseRaised, .statusPolled, .statusLimited,
            ])
        scenario.groups[0].profile.status.polling = .always
        scenario.server.backend.retryField = .seconds(3)
        #expect(CoverageGoal.allCases.allSatisfy { scenario.lacks(for: $0) == nil })
    }
}
