import CEvent
import CSystem
package import SimBase
package import SystemIO

/// One thread's event loop: descriptors, timers and signals, on libevent's core.
///
/// A turn waits for descriptors, then calls the handlers of all that are ready, of the timers that are due,
/// and of the tasks that were scheduled during the turn.
///
/// Not `Sendable`: it is made inside its thread and stays there, and so does everything made from it. Others reach it
/// through a `Mailbox`. What is registered holds the loop, not the other way round.
package final class Loop {
    /// The version of libevent, for example `2.1.12-stable`.
    package static var libraryVersion: String { unsafe String(cString: event_get_version()) }

    /// How often tasks that schedule others are followed in one turn; sockets come next.
    private static let taskRoundsMax = 4

    package let clock: LoopClock
    // Freed before the base that its event belongs to.
    private var alarm: Alarm
    let base: EventBase
    private var stopped = false
    // A timer's key is its index.
    private var timers = WakeQueue(keys: 0)
    private var timerHandlers: [((Instant) -> Void)?] = []
    private var freeKeys: [Int] = []
    private var scheduled: [ScheduledWork] = []
    private var runningTasks: [ScheduledWork] = []

    package init(clock: LoopClock) throws(SystemError) {
        let base = try EventBase()
        self.clock = clock
        self.alarm = try Alarm(base)
        self.base = base
    }

    /// The time now, from the monotonic clock and not from a cache.
    package func now() -> Instant { self.clock.now() }

    /// Handles events until `stop`. Waits for ever when nothing is registered.
    package func run() {
        while !self.stopped { self.turn(waits: true) }
    }

    /// Waits for at least one event and handles all that are ready. May return without one. False once the loop was
    /// stopped.
    @discardableResult
    package func runOnce() -> Bool {
        guard !self.stopped else { return false }
        self.turn(waits: true)
        return !self.stopped
    }

    /// Handles what is ready now and does not wait. False once the loop was stopped.
    @discardableResult
    package func poll() -> Bool {
        guard !self.stopped else { return false }
        self.turn(waits: false)
        return !self.stopped
    }

    /// Ends `run` after the handler that is running now. A stopped loop stays stopped.
    package func stop() {
        self.stopped = true
        self.base.breakOff()
    }

    private func turn(waits: Bool) {
        let next = self.timers.nextDue()
        let now = self.now()
        let isDue = !self.scheduled.isEmpty || next.map { $0 <= now } ?? false
        if waits, !isDue { self.alarm.set(at: next.map { $0.nanoseconds + self.clock.zero }) }
        // Once also where it does not wait: libevent would go on for as long as anything is ready, such as the alarm.
        self.base.dispatch(
            EVLOOP_ONCE | (waits && !isDue ? EVLOOP_NO_EXIT_ON_EMPTY : EVLOOP_NONBLOCK))
        self.fireTimers()
        self.runTasks()
    }

    // MARK: Timers

    func addTimer(_ handler: @escaping (Instant) -> Void) -> Int {
        guard let key = self.freeKeys.popLast() else {
            self.timerHandlers.append(handler)
            return self.timerHandlers.count - 1
        }
        self.timerHandlers[key] = handler
        return key
    }

    func removeTimer(_ key: Int) {
        self.timers.set(key: key, at: nil)
        self.timerHandlers[key] = nil
        self.freeKeys.append(key)
    }

    func setTimer(_ key: Int, at moment: Instant?) { self.timers.set(key: key, at: moment) }

    func moment(ofTimer key: Int) -> Instant? { self.timers[key] }

    /// Each timer at most once: one that is always due must not starve the sockets.
    private func fireTimers() {
        guard !self.stopped, self.timers.nextAt != nil else { return }
        let now = self.now()
        var left = self.timerHandlers.count
        while left > 0, !self.stopped, let (key, due) = self.timers.popDue(at: now) {
            left -= 1
            self.timerHandlers[key]?(due)
        }
    }

    // MARK: Tasks

    func schedule(_ work: ScheduledWork) { self.scheduled.append(work) }

    private func runTasks() {
        var rounds = 0
        while !self.scheduled.isEmpty, rounds < Self.taskRoundsMax {
            rounds += 1
            swap(&self.scheduled, &self.runningTasks)
            for work in self.runningTasks where !self.stopped { work.run() }
            self.runningTasks.removeAll(keepingCapacity: true)
        }
    }
}

/// libevent's `event_base`.
@safe struct EventBase: ~Copyable {
    private let raw: OpaquePointer

    init() throws(SystemError) {
        guard let config = unsafe event_config_new() else {
            throw SystemError(call: "event_config_new", code: ENOMEM)
        }
        defer { unsafe event_config_free(config) }
        // Where `Alarm` uses libevent's timers: with its time cache, one that is armed late in a long turn would be
        // counted from the turn's beginning.
        unsafe event_config_set_flag(config, Int32(EVENT_BASE_FLAG_NO_CACHE_TIME.rawValue))
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
        _ number: Int32, _ flags: Int32, _ callback: event_callback_fn, _ context: UnsafeMutableRawPointer?
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
