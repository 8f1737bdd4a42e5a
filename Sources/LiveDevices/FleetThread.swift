package import EventLoop

/// A fleet on a thread of its own.
package final class FleetThread {
    /// Batches that may wait for the main thread.
    package static let reportsMax = 1_000_000

    package let reports: Mailbox<FleetReport>
    private let orders: Mailbox<FleetOrder>
    private let thread: LoopThread<Bool>

    package init(_ plan: FleetPlan) throws(SystemError) {
        let reports = try Mailbox<FleetReport>(messagesMax: Self.reportsMax)
        let orders = try Mailbox<FleetOrder>(messagesMax: Self.reportsMax)
        self.reports = reports
        self.orders = orders
        self.thread = try LoopThread.start(name: "fleet") {
            do {
                let loop = try Loop(clock: plan.clock)
                try Fleet(plan, loop: loop, orders: orders, reports: reports).run()
                return true
            } catch {
                reports.post(.finished(FleetOutcome(failure: .other("the phones could not start: \(error)"))))
                return false
            }
        }
    }

    /// Ends captures; every phone says goodbye, bounded by `FleetLimits.farewellTime`.
    package func stop() { self.orders.post(.stop) }

    /// Waits for the thread, which ends after its last report.
    package func join() { _ = self.thread.join() }
}
