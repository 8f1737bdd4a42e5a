internal import OriginServer
internal import SimBase

/// A queue of deadlines. A deadline is not removed: it becomes stale if its purpose has ended or its time has
/// changed. Stale deadlines are dropped when they reach the front or outnumber the others.
struct DeadlineQueue: Sendable {
    enum Deadline: Hashable, Sendable {
        /// The next event of the job, or the next step of its end.
        case job(JobKey)
        case ping(ExchangeID)
        /// The time of an armed fault that acts by itself.
        case fault(ExchangeID)
        /// The end of a stream that outlives its terminal event.
        case linger(ExchangeID)
        /// The longest time of a stream of v2.
        case timeout(ExchangeID)
        /// A stream looks for changes of its job.
        case poll(ExchangeID)
        /// A WebSocket was not ready, is to be closed, or its peer does not answer the close.
        case socket(ExchangeID)
    }

    private static let staleMin = 1_024
    private var heap = EventHeap<Deadline>()

    var nextAt: Instant? { self.heap.nextAt }
    var count: Int { self.heap.count }

    mutating func add(_ deadline: Deadline, at: Instant) { self.heap.insert(deadline, at: at) }

    mutating func popDue(at now: Instant) -> (at: Instant, deadline: Deadline)? {
        self.heap.popDue(at: now).map { ($0.at, $0.element) }
    }

    /// Drops stale deadlines. `live`: the number of others; `isLive` returns whether a deadline is one of
    /// them.
    mutating func drop(live: Int, isLive: (Deadline, Instant) -> Bool) {
        while let next = self.heap.next, !isLive(next.element, next.at) { _ = self.heap.popFirst() }
        guard self.heap.count > 2 * live + Self.staleMin else { return }
        var kept = EventHeap<Deadline>()
        while let next = self.heap.popFirst() {
            if isLive(next.element, next.at) { kept.insert(next.element, at: next.at) }
        }
        self.heap = kept
    }
}
