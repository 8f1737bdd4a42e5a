import Faults
import Ledger
import Phone
import Plan
import Search
import SimBase
import Testing
import VirtualWorld

struct ClientBisectionTests {
    private static func plan(
        _ toggles: [ProfileToggle], setting: (inout ClientProfile) -> Void = { _ in }
    ) -> WorldPlan {
        var scenario = SearchBench.scenario(
            devices: 1, toggles: toggles,
            faults: [
                SearchBench.fault(
                    .reset(.betweenEvents, .reply), on: .stream, id: "reset", after: .afterEvents(2...2))
            ])
        setting(&scenario.groups[0].profile)
        var plan = SearchBench.plan(scenario)
        plan.settle = .minutes(5)
        return plan
    }

    private static let kind = FailureKind.invariant(.scanSettles, client: "contract")

    @Test func theToggleIsFoundAmongOthers() throws {
        let found = try #require(
            ClientBisection.causes(
                behind: Self.kind, in: Self.plan([.statuses, .lostStream, .errorTexts]))
        )
        #expect(found.needed == [.lostStream])
        #expect(!found.staysWithoutAll)
        #expect(found.text == "passes without quirk-9")
    }

    @Test func eachOfTwoThatHideEachOtherIsNotEnough() throws {
        let found = try #require(
            ClientBisection.causes(
                behind: Self.kind, in: Self.plan([.lostStream, .relativeURL])))
        #expect(found.needed == [])
        #expect(!found.staysWithoutAll)
    }

    @Test func aClientWithoutDeviationsHasNone() {
        #expect(ClientBisection.causes(behind: Self.kind, in: Self.plan([])) == nil)
        #expect(ClientBisection.causes(behind: .simulation, in: Self.plan([.lostStream])) == nil)
    }

    @Test func aValueThatTheScenarioSetsIsFound() throws {
        let kind = FailureKind.invariant(.streamIDMonotone, client: "contract")
        let plan = Self.plan([.errorTexts]) {
            $0.stream.resumes = false
            $0.stream.slots = 3
        }
        let found = try #require(ClientBisection.causes(behind: kind, in: plan))
        #expect(found.needed == [] && found.settings == ["resume: off"] && !found.staysWithoutAll)
        #expect(found.text == "passes without `resume: off`")
    }
}
