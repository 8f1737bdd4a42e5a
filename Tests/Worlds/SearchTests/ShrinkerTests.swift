import Faults
import Ledger
import Phone
import Plan
import Search
import SimBase
import Testing
import VirtualWorld

struct ShrinkerTests {
    private static let kind = FailureKind.invariant(.streamParseRobust, client: "contract")

    /// Eight scans of four phones, and five faults one of which is to blame.
    private static func plan() -> WorldPlan {
        SearchBench.plan(
            SearchBench.scenario(
                toggles: [.unknownEvents],
                faults: [
                    SearchBench.fault(.noPing, on: .stream, id: "no-ping", chance: .percent(50)),
                    SearchBench.fault(.twoTerminals, on: .stream, id: "two", chance: .percent(50)),
                    SearchBench.fault(
                        .unknownEvent(nil), on: .stream, id: "unknown", chance: .percent(60),
                        after: .afterEvents(1...3)),
                    SearchBench.fault(.stripBooks(.empty), on: .stream, id: "strip", chance: .percent(50)),
                    SearchBench.fault(.truncateResults, on: .results, id: "truncate", chance: .percent(50)),
                ]))
    }

    @Test func oneScanAndOneFaultAreLeft() throws {
        let result = try #require(Shrinker.shrink(Self.plan(), failing: Self.kind))
        #expect(result.plan.captures?.count == 1)
        #expect(result.plan.run.scenario.faults.map(\.kind.name) == ["unknown-event"])
        #expect(result.plan.run.devices == 1)
        #expect(result.plan.run.scenario.faults[0].chance == .always)
        #expect(result.isConfirmed)
        #expect(result.outcome.kinds.contains(Self.kind))
        #expect(Trial.outcome(of: result.plan) == result.outcome)
    }

    /// A fault that acts at once acts on an event as well: to and fro between the two, the search would not end.
    @Test func aFaultIsTiedToAnEventForGood() throws {
        let kind = FailureKind.invariant(.scanSettles, client: "contract")
        var plan = SearchBench.plan(
            SearchBench.scenario(
                toggles: [.lostStream],
                faults: [
                    SearchBench.fault(
                        .reset(.insideEvent, .reply), on: .stream, id: "reset", chance: .percent(60),
                        after: .afterEvents(1...2))
                ]))
        plan.settle = .minutes(10)
        let result = try #require(Shrinker.shrink(plan, failing: kind))
        #expect(result.isConfirmed)
        let fault = try #require(result.plan.run.scenario.faults.first)
        guard case .afterEvents = fault.trigger else {
            Issue.record("it is tied to \(fault.trigger)")
            return
        }
    }

    @Test func eachItemThatIsLeftIsNeeded() throws {
        let plan = try #require(Shrinker.shrink(Self.plan(), failing: Self.kind)).plan
        var withoutFault = plan
        var scenario = plan.run.scenario
        scenario.faults = []
        withoutFault.run = RunPlan(scenario, target: .embedded)
        #expect(Trial.outcome(of: withoutFault)?.isFailing == false)
        var withoutScan = plan
        withoutScan.captures = []
        #expect(Trial.outcome(of: withoutScan)?.isFailing == false)
    }

    @Test func aPlanThatDoesNotFailInThisWayIsNotShrunk() {
        let other = FailureKind.invariant(.bookNeverLost, client: "contract")
        #expect(Shrinker.shrink(Self.plan(), failing: other) == nil)
        #expect(Shrinker.shrink(SearchBench.plan(SearchBench.scenario()), failing: Self.kind) == nil)
    }

    @Test func theNumberOfTrialsIsBounded() throws {
        let result = try #require(Shrinker.shrink(Self.plan(), failing: Self.kind, trialsMax: 10))
        #expect(result.trials <= 11)
        #expect(!result.isConfirmed)
    }

    @Test func anInterruptionKeepsTheBestPlanSoFar() throws {
        var looks = 0
        let result = try #require(
            Shrinker.shrink(
                Self.plan(), failing: Self.kind,
                isStopped: {
                    looks += 1
                    return looks > 12
                }))
        #expect(result.outcome.kinds.contains(Self.kind))
        #expect(!result.isConfirmed)
    }

    /// A failure that only a settled end shows keeps it.
    @Test func aFailureAboutTheEndKeepsItsEnd() throws {
        var plan = SearchBench.plan(SearchBench.scenario(devices: 2, toggles: [.lineReader]))
        plan.settle = .minutes(10)
        let kind = FailureKind.invariant(.deviceNotStuck, client: "contract")
        let result = try #require(Shrinker.shrink(plan, failing: kind))
        #expect(result.plan.captures?.count == 1)
        #expect(result.plan.run.scenario.faults.isEmpty)
        // Two minutes, and one for the scan.
        #expect(result.plan.settle == .minutes(3))
        var whole = result.plan
        whole.settle = plan.settle
        #expect(Trial.outcome(of: whole)?.kinds.contains(kind) == true)
    }

    /// Each trial of a phone that never settles lasts as long as it may: the time follows from what is left of the plan.
    @Test func aPhoneThatNeverSettlesIsShrunkInAFewRunsOfIt() throws {
        var plan = SearchBench.plan(SearchBench.scenario(devices: 2, toggles: [.lineReader]))
        plan.settle = .minutes(50)
        let kind = FailureKind.invariant(.deviceNotStuck, client: "contract")
        let run = try #require(Trial.outcome(of: plan))
        let result = try #require(Shrinker.shrink(plan, failing: kind))
        #expect(result.trials <= 60, "\(result.trials) trials")
        #expect(result.events <= 8 * run.events, "\(result.events) events, and one run has \(run.events)")
    }

    /// A plan never gets more time than it had.
    @Test func theTimeToSettleDoesNotGrow() throws {
        var plan = SearchBench.plan(
            SearchBench.scenario(
                devices: 1, toggles: [.lostStream],
                faults: [SearchBench.fault(.reset(.betweenEvents, .reply), on: .stream, id: "reset")]))
        plan.settle = .seconds(30)
        let kind = FailureKind.invariant(.scanSettles, client: "contract")
        let result = try #require(Shrinker.shrink(plan, failing: kind))
        #expect(result.plan.settle == .seconds(30))
        #expect(result.plan.captures?.count == 1)
    }
}
