import Faults
import Ledger
import Observations
import Phone
import Plan
import Search
import SimBase
import Testing
import VirtualWorld

struct TrialTests {
    @Test func aTrialIsTheRunOfItsPlan() throws {
        let plan = SearchBench.plan(SearchBench.scenario())
        var world = World(plan)
        while try world.steps(1_000) {}
        var observations = 0
        let outcome = try #require(Trial.outcome(of: plan, observe: { _ in observations += 1 }))
        #expect(outcome.digest == world.chain.value)
        #expect(outcome.events == world.chain.events)
        #expect(observations == world.observationsMade)
        #expect(outcome.scans == 8)
        #expect(!outcome.isFailing)
    }

    @Test func aBrokenInvariantIsReportedWithItsClient() throws {
        let scenario = SearchBench.scenario(
            toggles: [.unknownEvents],
            faults: [SearchBench.fault(.unknownEvent(nil), on: .stream, id: "unknown")])
        let outcome = try #require(Trial.outcome(of: SearchBench.plan(scenario)))
        let kind = FailureKind.invariant(.streamParseRobust, client: "contract")
        #expect(outcome.kinds.contains(kind))
        #expect(outcome.violation(kind)?.device != nil)
        #expect(outcome.firings == [8])
    }

    @Test func anExpectedBreakIsNoFailure() throws {
        var scenario = SearchBench.scenario(
            toggles: [.unknownEvents],
            faults: [SearchBench.fault(.unknownEvent(nil), on: .stream, id: "unknown")])
        let all = try #require(Trial.outcome(of: SearchBench.plan(scenario)))
        #expect(!all.kinds.isEmpty)
        scenario.expectBroken = all.kinds.map { .invariant(id: $0.name, scope: .fleet) }
        let expected = try #require(Trial.outcome(of: SearchBench.plan(scenario)))
        #expect(expected.kinds.isEmpty && !expected.isFailing)
        #expect(expected.allKinds == all.kinds)
    }

    @Test func aTrialCanBeStopped() {
        #expect(Trial.outcome(of: SearchBench.plan(SearchBench.scenario()), isStopped: { true }) == nil)
    }

    @Test func otherDrawsFromTheMiddleChangeOnlyWhatFollows() throws {
        let scenario = SearchBench.scenario(
            faults: [SearchBench.fault(.reset(.betweenEvents, .reply), on: .stream, id: "reset")])
        let plan = SearchBench.plan(scenario)
        var trial = Trial(plan)
        let goesOn = trial.advance(by: 40)
        #expect(goesOn)
        var other = trial
        other.redraw(seed: 99)
        let (same, changed) = (trial.outcome(), other.outcome())
        #expect(same.digest == Trial.outcome(of: plan)?.digest)
        #expect(same.digest != changed.digest)
    }
}
