/// Work for the end of a turn of the loop, after the handlers of all sockets that are ready and of all timers that are due.
/// However often it is scheduled until then, it runs once.
package final class LoopTask {
    private let loop: Loop
    private let work: ScheduledWork

    package init(loop: Loop, handler: @escaping () -> Void) {
        self.loop = loop
        self.work = ScheduledWork(handler)
    }

    deinit { self.work.handler = nil }

    package func schedule() {
        guard !self.work.isScheduled else { return }
        self.work.isScheduled = true
        self.loop.schedule(self.work)
    }
}

/// What the loop holds of a task. The task may go away before it runs.
final class ScheduledWork {
    fileprivate var handler: (() -> Void)?
    fileprivate var isScheduled = false

    fileprivate init(_ handler: @escaping () -> Void) { self.handler = handler }

    func run() {
        self.isScheduled = false
        self.handler?()
    }
}
