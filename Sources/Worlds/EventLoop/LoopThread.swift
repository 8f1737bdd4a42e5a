import CSystem
package import SystemIO

/// A named thread whose body makes its own loop and everything on it.
///
/// The body is `@Sendable`, so a loop made outside cannot be captured: confinement is proven by the compiler.
package final class LoopThread<Result: Sendable> {
    /// Enough for libcurl with OpenSSL, and the same on every platform.
    private static var stackBytes: Int { 1 << 20 }

    private let outcome: Guarded<Result?>
    private var thread: UInt?

    private init(outcome: Guarded<Result?>, thread: UInt) {
        self.outcome = outcome
        self.thread = thread
    }

    /// Starts the thread. `name` is cut to 15 bytes.
    package static func start(name: String, body: @escaping @Sendable () -> Result) throws(SystemError)
        -> LoopThread
    {
        let outcome = Guarded<Result?>(nil)
        let work = ThreadWork {
            unsafe shim_name_thread(String(decoding: name.utf8.prefix(15), as: UTF8.self))
            let result = body()
            outcome.withLock { $0 = result }
        }
        let context = unsafe Unmanaged.passRetained(work)
        var thread: UInt = 0
        let code = unsafe shim_start_thread(
            &thread, Self.stackBytes,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().run()
                }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            throw SystemError(call: "pthread_create", code: -code)
        }
        return LoopThread(outcome: outcome, thread: thread)
    }

    /// Waits for the body to return. To be called once.
    package func join() -> Result {
        guard let thread = self.thread else { preconditionFailure("a thread is joined once") }
        self.thread = nil
        shim_join_thread(thread)
        guard let result = self.outcome.withLock({ $0 }) else {
            preconditionFailure("a thread ended without its result")
        }
        return result
    }

    deinit {
        if let thread = self.thread { shim_detach_thread(thread) }
    }
}

/// The thread that asks.
package enum CurrentThread {
    /// Lowers the thread's priority, for long work: all other threads run first.
    package static func lowerPriority() { shim_stand_back() }

    /// Has the thread run soon after it wakes, before threads that compute for long. For one that measures times.
    package static func wakePromptly() { shim_wake_promptly() }

    /// Lets other threads that are ready on this processor run first. Costs a system call if there is none.
    package static func yield() { shim_yield() }

    /// Does nothing for a time; its loop does not turn during it.
    package static func pause(milliseconds: Int32) { shim_pause(milliseconds) }
}

private final class ThreadWork: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}
