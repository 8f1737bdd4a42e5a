import CEvent
import CSystem
package import SimBase

/// One thread's event loop: descriptors, timers and signals, on libevent's core.
///
/// Not `Sendable`: it is made inside its thread and stays there, and so does everything made from it. Others reach it
/// through a `Mailbox`. What is registered holds the loop, not the other way round.
package final class Loop {
    /// The version of libevent, for example `2.1.12-stable`.
    package static var libraryVersion: String { unsafe String(cString: event_get_version()) }

    package let clock: LoopClock
    let base: EventBase
    private var stopped = false

    package init(clock: LoopClock) throws(SystemError) {
        self.clock = clock
        self.base = try EventBase()
    }

    /// The time now, from the monotonic clock and not from a cache.
    package func now() -> Instant { self.clock.now() }

    /// Handles events until `stop`. Waits for ever when nothing is registered.
    package func run() {
        guard !self.stopped else { return }
        self.base.dispatch(EVLOOP_NO_EXIT_ON_EMPTY)
    }

    /// Waits for at least one event and handles all that are ready. False once the loop was stopped.
    @discardableResult
    package func runOnce() -> Bool {
        guard !self.stopped else { return false }
        self.base.dispatch(EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY)
        return !self.stopped
    }

    /// Handles what is ready now and does not wait. False once the loop was stopped.
    @discardableResult
    package func poll() -> Bool {
        guard !self.stopped else { return false }
        self.base.dispatch(EVLOOP_NONBLOCK)
        return !self.stopped
    }

    /// Ends `run` after the handler that is running now. A stopped loop stays stopped.
    package func stop() {
        self.stopped = true
        self.base.breakOff()
    }

    package var isStopped: Bool { self.stopped }
}

/// libevent's `event_base`.
@safe struct EventBase: ~Copyable {
    private let raw: OpaquePointer

    init() throws(SystemError) {
        guard let config = unsafe event_config_new() else {
            throw SystemError(call: "event_config_new", code: ENOMEM)
        }
        defer { unsafe event_config_free(config) }
        // Without the precise timer, timers fire up to 3 ms early or 4.5 ms late (measured, libevent 2.1.12); with
        // the time cache, a timer armed late in a long turn would be counted from the turn's beginning.
        let flags = EVENT_BASE_FLAG_PRECISE_TIMER.rawValue | EVENT_BASE_FLAG_NO_CACHE_TIME.rawValue
        unsafe event_config_set_flag(config, Int32(flags))
        guard let raw = unsafe event_base_new_with_config(config) else {
            throw SystemError(call: "event_base_new_with_config", code: ENOMEM)
        }
        unsafe self.raw = raw
    }

    deinit { unsafe event_base_free(self.raw) }

    func dispatch(_ flags: Int32) { unsafe event_base_loop(self.raw, flags) }

    func breakOff() { unsafe event_base_loopbreak(self.raw) }

    /// A new event that calls back with `context`, which must outlive it.
    func makeEvent(
        _ number: Int32, _ flags: Int32, _ callback: event_callback_fn, _ context: UnsafeMutableRawPointer
    ) -> EventHandle {
        guard let event = unsafe event_new(self.raw, number, Int16(flags), callback, context) else {
            preconditionFailure("libevent has no memory for an event")
        }
        return unsafe EventHandle(event)
    }
}

/// libevent's `event`: removed and freed with this value.
@safe struct EventHandle: ~Copyable {
    private let raw: OpaquePointer

    @unsafe fileprivate init(_ raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe event_free(self.raw) }

    /// Waits for the event's descriptor or signal, without a time limit.
    func add() {
        let result = unsafe event_add(self.raw, nil)
        precondition(result == 0, "libevent refused an event: is its descriptor closed?")
    }

    /// Waits for `delay`, rounded up to a microsecond so that no timer is early.
    func add(after delay: Interval) {
        let microseconds = max(0, (delay.nanoseconds + 999) / 1_000)
        var time = timeval()
        time.tv_sec = .init(microseconds / 1_000_000)
        time.tv_usec = .init(microseconds % 1_000_000)
        let result = unsafe event_add(self.raw, &time)
        precondition(result == 0, "libevent refused a timer")
    }

    func remove() { unsafe event_del(self.raw) }
}
