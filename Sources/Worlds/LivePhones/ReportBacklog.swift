import EventLoop

/// Counts the observations that wait for the main thread. A thread of the fleet that finds too many waits in
/// its turn until some are judged. While it waits it reads no socket, so a server that floods its phones is
/// slowed down as by any slow client; otherwise observations that arrive faster than they are judged would
/// fill the memory.
final class ReportBacklog: Sendable {
    private struct Contents: Sendable {
        var waiting = 0
        /// Whether judging has stopped.
        var isAbandoned = false
    }

    private let contents = Guarded(Contents())
    private let most: Int

    init(most: Int) {
        precondition(most > 0, "nothing could ever be reported")
        self.most = most
    }

    /// Called before they are posted.
    func add(_ count: Int) { self.contents.withLock { $0.waiting += count } }

    /// Called when they are judged.
    func remove(_ count: Int) { self.contents.withLock { $0.waiting -= count } }

    /// Stops waiting.
    func abandon() { self.contents.withLock { $0.isAbandoned = true } }

    var isFull: Bool { self.contents.withLock { !$0.isAbandoned && $0.waiting >= self.most } }

    /// Returns when there is room.
    func wait() {
        while self.isFull { CurrentThread.pause(milliseconds: 1) }
    }
}
