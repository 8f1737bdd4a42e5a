import CSystem
package import SystemIO

/// The wish to end the program early: SIGINT (Ctrl-C), SIGTERM or SIGHUP, from the first moment on.
///
/// The signals are blocked in every thread, and one thread awaits them. So they are noticed whatever the program is doing,
/// and what answers them may do more than a signal handler may. Work in progress asks `isRequested`.
package enum Interruption {
    private static let count = Guarded(0)

    /// Must be called before any other thread is started. `first` is called at the first signal and `again` at every later
    /// one, both on the awaiting thread.
    package static func watch(
        first: @escaping @Sendable () -> Void, again: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        try SystemError.check("pthread_sigmask", shim_block_interruptions())
        // Lives as long as the program.
        _ = try LoopThread.start(name: "interruptions") {
            while shim_await_interruption() > 0 {
                let count = Self.count.withLock { count in
                    count += 1
                    return count
                }
                if count == 1 { first() } else { again() }
            }
        }
    }

    package static var isRequested: Bool { Self.count.withLock { $0 > 0 } }
}
