import CSystem
package import SimBase

/// CLOCK_MONOTONIC, the one clock of a live run: the same for every process of one machine.
package enum MonotonicClock {
    /// Nanoseconds since some time before this process began.
    package static func now() -> Int64 { shim_monotonic_nanoseconds() }
}

/// Wall time, for the names of folders and the heads of reports; never for measuring.
package enum WallClock {
    /// Nanoseconds since 1970-01-01T00:00:00Z, as far as 64 bits go.
    package static func now() -> Int64 { shim_wall_nanoseconds() }

    /// Why a live run cannot use a time: its event ids and expiries are milliseconds since 1970, and its arithmetic is in
    /// nanoseconds. Nil if it can.
    package static func flaw(of nanoseconds: Int64) -> String? {
        let (year1970, year2250): (Int64, Int64) = (0, 8_835_955_200_000_000_000)
        guard nanoseconds < year1970 || nanoseconds >= year2250 else { return nil }
        return nanoseconds < year1970 ? "a time before 1970" : "a time after 2249"
    }
}

/// The run's time: nanoseconds since its zero.
package struct LoopClock: Hashable, Sendable {
    /// The reading of `MonotonicClock` that counts as `Instant.zero`.
    package let zero: Int64

    package init(zero: Int64) { self.zero = zero }

    /// A clock whose zero is this time.
    package static func startingNow() -> LoopClock { LoopClock(zero: MonotonicClock.now()) }

    package func now() -> Instant { Instant(nanoseconds: MonotonicClock.now() - self.zero) }

    /// The instant of a reading of `MonotonicClock`, also of another process's.
    package func instant(monotonic: Int64) -> Instant { Instant(nanoseconds: monotonic - self.zero) }
}
