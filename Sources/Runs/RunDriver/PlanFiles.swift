import Plan
package import RunArchive
package import RunJudge
package import ScenarioFile
import SimBase
package import VirtualWorld

/// Plans on disk and plans that a world understands.
package enum PlanFiles {
    /// More captures are not listed: they would not be read.
    private static let capturesWrittenMax = 100_000

    package static func load(_ path: String) throws -> (plan: SavedPlan, bytes: [UInt8]) {
        let bytes = try InputFile.read(
            path, bytesMax: InputFile.planBytesMax,
            hint: "`swiftwing-sim simulate NAME --save-plan FILE` writes a plan")
        return (try PlanLoader.load(path: path, bytes: bytes), bytes)
    }

    /// `digest` and `events`: the outcome of the run of the plan.
    package static func save(
        _ plan: WorldPlan, digest: UInt64, events: Int, note: String, to path: String
    ) throws(OutputError) {
        let text = Self.text(plan, digest: digest, events: events, note: note)
        try OutputError.write([(path: path, text: text)])
    }

    package static func text(_ plan: WorldPlan, digest: UInt64, events: Int, note: String) -> String {
        PlanWriter.text(Self.saved(plan, digest: digest, events: events, note: note))
    }

    private static func saved(
        _ plan: WorldPlan, digest: UInt64, events: Int, note: String
    ) -> SavedPlan {
        var saved = Self.saved(plan, note: note)
        saved.outcome = .init(digest: Hexadecimal.text(digest, digits: 16), events: events)
        return saved
    }

    /// The plan of a live run, which no simulated run has an outcome of yet.
    package static func saved(_ plan: WorldPlan, live: LiveRecord, note: String) -> SavedPlan {
        var saved = Self.saved(plan, note: note)
        saved.live = live
        return saved
    }

    private static func saved(_ plan: WorldPlan, note: String) -> SavedPlan {
        let isScheduled = plan.captures == nil && plan.run.expectedArrivals.scans > Self.capturesWrittenMax
        var saved = SavedPlan(
            tool: ThisProgram.tool, note: note, scenario: plan.run.scenario,
            photos: plan.photoSizes,
            captures: isScheduled ? nil : plan.captures ?? Array(plan.run.arrivals), settle: plan.settle,
            wallClockAtZero: plan.wallClockAtZero, splits: plan.splits, heapMax: plan.limits.heapMax,
            eventsPerInstantMax: plan.limits.eventsPerInstantMax, outcome: nil)
        saved.staysOffline = plan.staysOffline
        saved.shufflesTies = plan.shufflesTies
        return saved
    }
}

extension WorldPlan {
    package init(_ saved: SavedPlan) {
        self.init(RunPlan(saved.scenario, target: .embedded))
        self.photoSizes = saved.photos
        self.captures = saved.captures
        self.settle = saved.settle
        self.wallClockAtZero = saved.wallClockAtZero
        self.splits = saved.splits
        self.staysOffline = saved.staysOffline
        self.shufflesTies = saved.shufflesTies
        self.limits.heapMax = saved.heapMax
        self.limits.eventsPerInstantMax = saved.eventsPerInstantMax
    }
}
