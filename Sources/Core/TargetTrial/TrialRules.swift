package import SimBase
package import Talaria

/// What a trial takes for granted of a target, by its dialect and by the scenario.
package struct TrialRules: Hashable, Sendable {
    /// Rules whose violations are findings.
    package var lenient: [TargetRule] = []
    /// Whether ids rise within a stream (Docs/contract.md section 2.2).
    package var hasRisingIDs = true
    /// How many terminal events a stream may have.
    package var terminalsMax = 1
    /// Whether errors have the form of RFC 9457 and nothing else.
    package var hasProblems = true
    /// The time for which a target can send an event again.
    package var buffer = Interval.seconds(60)
    package var tokenLifetime = Interval.hours(2)
    /// The time after a DELETE, or after a terminal event, in which a target may still say what was before.
    package var settle = Interval.seconds(2)
    /// A stream that the target ends sooner has a terminal event.
    package var streamMin = Interval.seconds(25)
    /// The most time from a 202 to the terminal event; nil if none is stated.
    package var jobMax: Interval?
    /// The uploads that a device may make in a time; nil if none is stated.
    package var limit: Quota?
    /// Whether what the target sends is read when it comes, also for a phone that is in the background.
    package var readsAtOnce = false
    /// The host that was asked; nil if it is not known.
    package var host: String?
    /// Whether the clients are phones of this program.
    package var isOfOwnPhones = true
    /// The share of jobs that probes ask for and open a second stream of, in parts per million.
    package var witness: UInt32 = 0
    /// Whether the target is asked what a second device would ask.
    package var probes = false
    var isProbing: Bool { self.witness > 0 || self.probes }
    /// Milliseconds since 1970 at `Instant.zero`.
    package var wallClockAtZero: Int64 = 0

    package init() {}
}
