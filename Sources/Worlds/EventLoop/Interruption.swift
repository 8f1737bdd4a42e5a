import CSystem
import SimBase
package import SystemIO

/// The wish to end the program early: SIGINT (Ctrl-C), SIGTERM or SIGHUP, from the first one on.
///
/// The signals are blocked in every thread, and one thread awaits them. So they are noticed whatever the program is doing,
/// and what answers them may do more than a signal handler may. Work in progress asks `isRequested`.
package enum Interruption {
    private static let burst = Guarded(SignalBurst())

    /// Must be called before any other thread is started. `first` is called at the first signal and `again` at every later
    /// one that is not the same wish, both on the awaiting thread.
    ///
    /// - Parameter ofTerminal: Whether a terminal may interrupt the program. A process that another one ends ignores Ctrl-C and
    ///   the end of the terminal.
    package static func watch(
        ofTerminal: Bool, first: @escaping @Sendable () -> Void, again: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        try SystemError.check("pthread_sigmask", shim_block_interruptions(ofTerminal ? 1 : 0))
        // Lives as long as the program.
        _ = try LoopThread.start(name: "interruptions") {
            while shim_await_interruption() > 0 {
                let now = Instant(nanoseconds: MonotonicClock.now())
                switch Self.burst.withLock({ $0.received(at: now) }) {
                case .first: first()
                case .same: break
                case .again: again()
                }
            }
        }
    }

    package static var isRequested: Bool { Self.burst.withLock { $0.hasBegun } }
}

/// Signals that mean one wish: `timeout` signals a program and then its group, which are two signals within microseconds.
struct SignalBurst: Sendable {
    enum Meaning: Hashable, Sendable {
        case first, same, again
    }

    /// Signals of any kind this soon after the first are the first. A person presses Ctrl-C again only after
    /// seeing what it did.
    static let length = Interval.milliseconds(500)

    private var began: Instant?

    var hasBegun: Bool { self.began != nil }

    mutating func received(at now: Instant) -> Meaning {
        guard let began = self.began else {
            self.began = now
            return .first
        }
        return now - began < Self.length ? .same : .again
    }
}
