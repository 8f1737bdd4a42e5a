import Faults
import Ledger
import Phone
import Plan
import Search
import SimBase
import Testing
import VirtualWorld

struct FailureStoryTests {
    /// What happens behind the violation did not lead to it, and a settled end takes most of a run.
    @Test func theLikelihoodEndsWithTheViolation() throws {
        var plan = SearchBench.plan(
            SearchBench.scenario(
                devices: 1, toggles: [.unknownEvents],
                faults: [SearchBench.fault(.unknownEvent(nil), on: .stream, id: "unknown")]))
        plan.settle = .minutes(5)
        let kind = FailureKind.invariant(.streamParseRobust, client: "contract")
        let outcome = try #require(Trial.outcome(of: plan))
        let story = FailureStory(kind, plan, outcome)
        let violation = try #require(story.violation)
        let last = try #require(story.likelihood.points.last)
        #expect(last.at <= violation.at)
        #expect(last.events < outcome.events / 2)
        #expect(story.client?.needed == [.unknownEvents])
    }
}
