package import Phone
package import Plan
package import RunJudge
package import SimBase

/// A virtual run in full: everything that happens in it follows from this and from the build. It is made from
/// a scenario and a seed; it can be edited and reduced without changing the seed.
package struct SavedPlan: Hashable, Sendable {
    /// The format of the files that this build writes and reads.
    package static let format = "1"

    /// The program that wrote it, for example `swiftwing-sim 0.1.0`.
    package var tool: String
    /// The reason why the plan is kept.
    package var note: String
    package var scenario: Scenario
    /// Sizes of the photos of each group, as they are uploaded.
    package var photos: [[Int]]
    /// The captures of open groups in order; nil is what the scenario's schedule says.
    package var captures: [Arrival]?
    /// The time in which phones settle their scans after the faults have ended; nil ends the run with its
    /// faults, as a live run does.
    package var settle: Interval?
    /// The share of phones that stay offline after that.
    package var staysOffline = Odds.never
    /// Whether what is due at one time happens in a drawn order.
    package var shufflesTies = false
    /// Milliseconds since 1970 at the start.
    package var wallClockAtZero: Int64
    /// Whether what a server sends comes in pieces at drawn locations.
    package var splits: Bool
    /// Events that may wait, and events of one instant: more of them is a mistake of ours.
    package var heapMax: Int
    package var eventsPerInstantMax: Int
    /// The outcome of the run when the plan was written.
    package var outcome: Outcome?
    /// What the plan was kept for, if it is that of a live run; nil for others.
    package var live: LiveRecord?

    package struct Outcome: Hashable, Sendable {
        /// Sixteen hexadecimal digits.
        package var digest: String
        package var events: Int

        package init(digest: String, events: Int) {
            self.digest = digest
            self.events = events
        }
    }

    package init(
        tool: String, note: String, scenario: Scenario, photos: [[Int]], captures: [Arrival]?,
        settle: Interval?, wallClockAtZero: Int64, splits: Bool, heapMax: Int, eventsPerInstantMax: Int,
        outcome: Outcome?
    ) {
        self.tool = tool
        self.note = note
        self.scenario = scenario
        self.photos = photos
        self.captures = captures
        self.settle = settle
        self.wallClockAtZero = wallClockAtZero
        self.splits = splits
        self.heapMax = heapMax
        self.eventsPerInstantMax = eventsPerInstantMax
        self.outcome = outcome
    }
}

/// The limits of a plan.
enum PlanLimit {
    static let bytesMax = 64 << 20
    static let capturesMax = ScenarioLimit.scansMax
    static let photosMax = 10_000
    static let photoBytesMax = 100_000_000
    static let noteBytesMax = 4_096
    static let eventsMax = 1_000_000_000
    /// 9999-12-31, in milliseconds since 1970.
    static let wallClockMax = 253_402_300_799_999
}
