import CSystem
package import SimBase

/// CLOCK_MONOTONIC, the one clock of a live run: the same for every process of one machine.
package enum MonotonicClock {
    /// Nanoseconds since some moment before this process began.
    package static func now() -> Int64 { shim_monotonic_nanoseconds() }
}

/// Wall time, for the names of folders and the heads of reports; never for measuring.
package enum WallClock {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    package static func now() -> Int64 { shim_wall_nanoseconds() }
}

/// The run's time: nanoseconds since its zero.
package struct LoopClock: Hashable, Sendable {
    /// The reading of `MonotonicClock` that counts as `Instant.zero`.
    package let zero: Int64

    package init(zero: Int64) { self.zero = zero }

    /// A clock whose zero is this moment.
    package static func startingNow() -> LoopClock { LoopClock(zero: MonotonicClock.now()) }

    package func now() -> Instant { Instant(nanoseconds: MonotonicClock.now() - self.zero) }

    /// The instant of a reading of `MonotonicClock`, also of another process's.
    package func instant(monotonic: Int64) -> Instant { Instant(nanoseconds: monotonic - self.zero) }
}
