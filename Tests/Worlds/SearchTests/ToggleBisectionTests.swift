import Faults
import Ledger
import Phone
import Plan
import Search
import SimBase
import Testing
import VirtualWorld

struct ToggleBisectionTests {
    private static func plan(_ toggles: [ProfileToggle]) -> WorldPlan {
        var plan = SearchBench.plan(
            SearchBench.scenario(
                devices: 1, toggles: toggles,
                faults: [SearchBench.fault(.reset(.betweenEvents, .reply), on: .stream, id: "reset")]))
        plan.settle = .minutes(5)
        return plan
    }

    private static let kind = FailureKind.invariant(.scanSettles, client: "contract")

    @Test func theToggleIsFoundAmongOthers() throws {
        let found = try #require(
            ToggleBisection.toggles(
                behind: Self.kind, in: Self.plan([.statuses, .lostStream, .errorTexts]))
        )
        #expect(found.needed == [.lostStream])
        #expect(!found.staysWithoutAll)
        #expect(found.text == "passes without quirk-9")
    }

    @Test func eachOfTwoThatHideEachOtherIsNotEnough() throws {
        let found = try #require(
            ToggleBisection.toggles(
                behind: Self.kind, in: Self.plan([.lostStream, .relativeURL])))
        #expect(found.needed == [])
        #expect(!found.staysWithoutAll)
    }

    @Test func aClientWithoutDeviationsHasNone() {
        #expect(ToggleBisection.toggles(behind: Self.kind, in: Self.plan([])) == nil)
        #expect(ToggleBisection.toggles(behind: .simulation, in: Self.plan([.lostStream])) == nil)
    }
}
