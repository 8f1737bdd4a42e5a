import EventLoop
package import RunDriver
package import RunJudge
import Search
import SimBase

/// A search through many seeds: workers run them, and what fails is shrunk and reported.
package final class Campaign {
    /// Every so many seeds, and at most so many, are run again in a process of their own.
    private static let repeatEvery: UInt64 = 20
    private static let repeatsMax = 50
    /// Failing seeds of a kind that are shrunk.
    private static let shrunkPerKind = 5
    /// The time between two looks at whether the search is to end.
    private static let lookEvery = Interval.milliseconds(100)
    /// The time that workers have to end when they are ordered to.
    private static let patience = Interval.seconds(10)

    private let request: CampaignRequest
    private let console: Console
    private let loop: Loop
    private var progress: CampaignProgress
    private var findings: CampaignFindings

    package init(_ request: CampaignRequest, console: Console) throws {
        self.request = request
        self.console = console
        self.loop = try Loop(clock: .startingNow())
        self.progress = CampaignProgress(console, seeds: request.seeds.count, isQuiet: request.isQuiet)
        self.findings = CampaignFindings(request)
    }

    /// Searches, shrinks, prints what was found, and returns what the process ends with.
    package func run() throws -> ExitCode {
        try self.search()
        self.findings.searchTime = self.loop.now() - .zero
        try self.repeatSeeds()
        self.shrinkFailures()
        self.console.clearProgress()
        return CampaignReport(self.request, self.findings, console: self.console).finish()
    }

    // MARK: Search

    private func search() throws {
        let seeds = self.request.seeds
        let step = UInt64(self.request.jobs)
        let lanes = (0..<step).map { index in
            WorkerLane(
                self.request.words, from: seeds.first + index, to: seeds.last, step: step, loop: self.loop,
                receive: { [unowned self] in self.receive($0) },
                crashed: { [unowned self] in self.findings.crashes.append($0) })
        }
        for lane in lanes { try lane.start() }
        while !lanes.allSatisfy(\.isOver), self.end == nil {
            _ = self.loop.turn(until: { lanes.allSatisfy(\.isOver) }, atMost: Self.lookEvery)
            self.progress.show(self.findings.tally, at: self.loop.now())
        }
        if let end = self.end, !lanes.allSatisfy(\.isOver) { self.findings.endedEarly = end }
        for lane in lanes { lane.stop() }
        _ = self.loop.turn(until: { lanes.allSatisfy(\.isOver) }, atMost: Self.patience)
        if let failure = lanes.compactMap(\.failure).first { throw failure }
    }

    /// Why the search ends before its last seed; nil if it goes on.
    private var end: CampaignEnd? {
        if Interruption.isRequested { return .interrupted }
        if let budget = self.request.budget, self.loop.now() - .zero >= budget { return .budget(budget) }
        if let most = self.request.stopAfter, self.findings.tally.failingSeeds >= most { return .failures }
        return nil
    }

    private func receive(_ result: SeedResult) {
        self.findings.tally.add(result)
        let isRepeated = (result.seed - self.request.seeds.first) % Self.repeatEvery == 0
        if isRepeated, self.findings.digests.count < Self.repeatsMax {
            self.findings.digests[result.seed] = result.digest
        }
    }

    // MARK: Repetition

    /// Runs some seeds again, each in a process of its own: a seed must not depend on its position in the
    /// search.
    private func repeatSeeds() throws {
        for seed in self.findings.digests.keys.sorted() {
            guard !Interruption.isRequested else { return }
            let lane = WorkerLane(
                self.request.words, from: seed, to: seed, step: 1, loop: self.loop,
                receive: { [unowned self] in self.findings.repeated($0) },
                crashed: { [unowned self] in self.findings.crashes.append($0) })
            try lane.start()
            while !lane.isOver {
                _ = self.loop.turn(until: { lane.isOver }, atMost: Self.lookEvery)
                if Interruption.isRequested { lane.stop() }
            }
        }
    }

    // MARK: Shrinking

    /// Shrinks the first failing seeds of each kind.
    private func shrinkFailures() {
        for kind in self.findings.tally.kinds {
            for seed in (self.findings.tally.failures[kind] ?? []).prefix(Self.shrunkPerKind) {
                guard !Interruption.isRequested else { return }
                self.progress.showShrinking(seed, kind)
                let before = self.loop.now()
                let plan = self.request.plans.plan(seed: seed)
                let result = Shrinker.shrink(plan, failing: kind, isStopped: { Interruption.isRequested })
                self.findings.shrunk.append(
                    ShrunkFailure(
                        kind: kind, seed: seed, original: plan, result: result, time: self.loop.now() - before
                    ))
            }
        }
    }
}
