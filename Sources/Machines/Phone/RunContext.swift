package import SimBase
package import Talaria

/// The values that all phones of a run share.
package struct RunContext: Hashable, Sendable {
    package var random: KeyedRandom
    /// The trace id's run, never 0.
    package var run: UInt64
    /// The monotonic clock of the machine at `Instant.zero`, nanoseconds.
    package var clockZero: Int64?
    /// Milliseconds since 1970 at `Instant.zero`.
    package var wallClockAtZero: Int64
    /// What sets the device ids of this run apart from those of other runs of its seed; nil where no other run meets them.
    package var deviceSalt: DeviceSalt?
    /// The flag of a rollout as the phone knows it; nil in a run without one. A killed app finds it again.
    package var rollout: RolloutFlag?

    package init(random: KeyedRandom, run: UInt64, clockZero: Int64?, wallClockAtZero: Int64) {
        self.random = random
        self.run = run
        self.clockZero = clockZero
        self.wallClockAtZero = wallClockAtZero
    }
}
