import EventLoop
package import RunDriver
package import RunJudge
package import Search
import SimBase
import SystemIO

/// One process of a search. It runs its part of the seeds in ascending order and prints a line for each.
package struct CampaignWorker {
    /// Which seeds are its own: every `of`-th, beginning with number `index`, both counted from the first seed.
    package struct Part: Hashable, Sendable {
        package var index: Int
        package var of: Int

        package init(index: Int, of: Int) {
            self.index = index
            self.of = of
        }

        /// Reads `I/N`.
        package init?(_ text: String) {
            let numbers = text.split(separator: "/").map { Int($0) }
            guard numbers.count == 2, let index = numbers[0], let of = numbers[1], of > 0,
                (0..<of).contains(index)
            else { return nil }
            self.init(index: index, of: of)
        }
    }

    /// What a line about an event begins with.
    static let eventMark = "event\t"
    /// Events of the canary before it traps.
    private static let canaryEvents = 100

    private let plans: SeedPlans
    private let seeds: SeedRange
    private let part: Part
    /// Whether each event is printed before it is handled, instead of results.
    package var isTracing = false
    /// A seed in which the worker traps, as a self-test of the search; nil for none.
    package var canary: UInt64?

    package init(_ plans: SeedPlans, seeds: SeedRange, part: Part) {
        self.plans = plans
        self.seeds = seeds
        self.part = part
    }

    package func run(_ console: Console) -> ExitCode {
        var seed = self.seeds.first + UInt64(self.part.index)
        while seed <= self.seeds.last {
            if self.isTracing || seed == self.canary {
                guard self.trace(seed, console) else { return .interrupted }
                seed += UInt64(self.part.of)
                continue
            }
            guard let result = self.plans.result(of: seed, isStopped: { Interruption.isRequested }) else {
                return .interrupted
            }
            console.out(result.line)
            guard !Interruption.isRequested else { return .interrupted }
            seed += UInt64(self.part.of)
        }
        return .success
    }

    /// Runs a seed event by event. Returns false if it was stopped.
    private func trace(_ seed: UInt64, _ console: Console) -> Bool {
        var trial = Trial(self.plans.plan(seed: seed))
        while let next = trial.upcoming {
            guard !Interruption.isRequested else { return false }
            if self.isTracing { console.out(Self.eventMark + next) }
            if seed == self.canary, trial.events >= Self.canaryEvents { fatalError("the canary of --canary") }
            guard trial.advance(by: 1) else { break }
        }
        if self.isTracing { console.out(Self.eventMark + "the end of the run") }
        _ = trial.outcome()
        return true
    }
}
