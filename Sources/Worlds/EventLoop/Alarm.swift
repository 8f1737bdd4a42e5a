import CEvent
import CSystem
import SimBase
import SystemIO

/// Ends a loop's wait at a time. It has no callback: the loop looks at its timers after every wait.
///
/// On Linux this is a timerfd of our own. libevent's ordinary timers there are late by up to 4.5 ms and early by up to
/// 3 ms, and its precise ones make a system call in every turn (measured, libevent 2.1.12). Elsewhere it is a timer of
/// libevent: kqueue takes the exact time together with the wait.
struct Alarm: ~Copyable {
    // Freed before its descriptor is closed.
    private let event: EventHandle
    private let descriptor: Descriptor?
    /// The number of the descriptor; negative without one.
    private let number: Int32
    /// What was set last, by the monotonic clock; nil when nothing is.
    private var moment: Int64?

    init(_ base: borrowing EventBase) throws(SystemError) {
        let descriptor = shim_timer_open()
        guard descriptor >= 0 || descriptor == -ENOSYS else {
            throw SystemError(call: "timerfd_create", code: -descriptor)
        }
        let isOwn = descriptor >= 0
        self.number = descriptor
        self.event = unsafe base.makeEvent(
            isOwn ? descriptor : -1, isOwn ? EV_READ | EV_PERSIST : 0, { _, _, _ in }, nil)
        self.descriptor = isOwn ? Descriptor(owning: descriptor) : nil
        if isOwn { self.event.add() }
    }

    /// Makes sure that the next wait ends at `time` at the latest. It may end sooner: what was set for an
    /// earlier time is left as it is, since most timers are pushed back before they are due.
    mutating func set(at moment: Int64?) {
        let now = MonotonicClock.now()
        if let set = self.moment, set > now, moment.map({ set <= $0 }) ?? true { return }
        // Setting it again silences an alarm that has rung.
        guard moment != nil || self.moment != nil else { return }
        self.moment = moment
        if self.number >= 0 {
            shim_timer_set(self.number, moment ?? 0)
        } else if let moment {
            self.event.add(after: .nanoseconds(moment - now))
        } else {
            self.event.remove()
        }
    }
}
