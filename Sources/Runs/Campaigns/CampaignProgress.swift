import RunDriver
import Search
import SimBase

/// The state of a search in one line, once a second.
struct CampaignProgress {
    private static let every = Interval.seconds(1)
    /// In a log, where lines are not rewritten.
    private static let everyInLog = Interval.seconds(10)

    private let console: Console
    private let seeds: Int
    private let isQuiet: Bool
    private var shownAt = Instant.zero

    init(_ console: Console, seeds: Int, isQuiet: Bool) {
        self.console = console
        self.seeds = seeds
        self.isQuiet = isQuiet
    }

    /// `now`: since the start of the search.
    mutating func show(_ tally: CampaignTally, at now: Instant) {
        let every = self.console.isInteractive ? Self.every : Self.everyInLog
        guard !self.isQuiet, now - self.shownAt >= every else { return }
        self.shownAt = now
        self.console.progress(Self.text(tally, seeds: self.seeds, after: now - .zero))
    }

    func showShrinking(_ seed: UInt64, _ kind: FailureKind) {
        guard !self.isQuiet, self.console.isInteractive else { return }
        self.console.progress("shrinking seed \(seed): \(kind.name)")
    }

    static func text(_ tally: CampaignTally, seeds: Int, after time: Interval) -> String {
        let milliseconds = max(1, time.wholeMilliseconds)
        let failures = tally.kinds.map { "\($0.name) \(tally.failures[$0]?.count ?? 0)" }
        let parts = [
            "\(tally.seeds) of \(seeds) seeds", "\(Int64(tally.seeds) * 1_000 / milliseconds) seeds/s",
            "\(Int64(tally.events) / milliseconds) thousand events/s",
            failures.isEmpty ? "no failures" : "failing: \(failures.joined(separator: ", "))",
            "\(tally.unreached.count) situations not reached",
        ]
        return parts.joined(separator: "  ")
    }
}
