import CurlLoop
package import EventLoop
package import Plan
package import SimBase
import SystemIO

/// A fleet on threads of its own. A phone stays on one of them; they share nothing but mailboxes. Their reports are put
/// together here, on the loop of the thread that made this.
package final class FleetThreads {
    /// Batches that may wait for the main thread, and orders for a fleet's.
    private static let messagesMax = 1_000_000

    private let plan: FleetPlan
    private let deliver: (FleetReport) -> Void
    private let preprocessing: PreprocessingQueue
    private let backlog = ReportBacklog(most: FleetLimits.backlogMost)
    private var orders: [Mailbox<FleetOrder>] = []
    private var threads: [LoopThread<Void>] = []
    private var reader: MailboxReader<ShardReport>?
    private var gauges: [FleetGauges]
    private var outcomes: [FleetOutcome?]
    private var sequences: [ShardSequence]
    /// The sequence error of a thread's reports, if they are incomplete or out of order.
    private var disorder: String?
    private var isStopping = false

    /// Returns the number of threads for a fleet on a machine with so many cores. One core is the backend's
    /// and one is the main thread's, which judges; a thread for fewer phones than share a multi handle gains
    /// nothing.
    package static func count(phones: Int, cores: Int) -> Int {
        let enough = (phones + CurlPool.phonesPerMultiMax - 1) / CurlPool.phonesPerMultiMax
        return max(1, min(cores - 2, enough))
    }

    /// Reads the state folder and starts so many threads, at most one a phone. `deliver` is called on `loop` from its next
    /// turn on; the last report is `finished`.
    package init(_ plan: FleetPlan, threads: Int, loop: Loop, deliver: @escaping (FleetReport) -> Void) throws
    {
        let count = min(threads, plan.phonesMax ?? plan.phones.count)
        precondition(count > 0, "a fleet needs a thread")
        self.plan = plan
        self.deliver = deliver
        var busy = FleetGauges()
        busy.isIdle = false
        self.gauges = Array(repeating: busy, count: count)
        self.outcomes = Array(repeating: nil, count: count)
        self.sequences = Array(repeating: ShardSequence(), count: count)
        var state = try StateFolder(path: plan.stateFolder)
        let locations = try state.journals(threads: count, isKept: state.hasManifest)
        let orders = try locations.map { _ in try Mailbox<FleetOrder>(messagesMax: Self.messagesMax) }
        self.orders = orders
        let shard = plan.shard
        self.preprocessing = try PreprocessingQueue(photos: plan.photos, clock: plan.clock) { done in
            orders[shard.index(of: done.job.device) % orders.count].post(.photo(done))
        }
        let reports = try Mailbox<ShardReport>(messagesMax: Self.messagesMax)
        self.reader = reports.read(on: loop) { [unowned self] batch in
            for report in batch { self.receive(report) }
        }
        CurlGlobal.start()
        do throws(SystemError) {
            for location in locations {
                try self.start(plan.part(self.threads.count, of: count), state, location, reports)
            }
        } catch {
            self.stop()
            self.join()
            throw error
        }
    }

    private func start(
        _ plan: FleetPlan, _ state: StateFolder, _ location: StateJournal.Location,
        _ reports: Mailbox<ShardReport>
    ) throws(SystemError) {
        let thread = plan.thread
        let orders = self.orders[thread]
        let intake = self.preprocessing.intake
        let backlog = self.backlog
        self.threads.append(
            try LoopThread.start(name: "fleet-\(thread)") {
                CurrentThread.wakePromptly()
                do throws(SystemError) {
                    let loop = try Loop(clock: plan.clock)
                    let journal = try StateJournal(location)
                    Fleet(
                        plan, loop: loop, state: state, journal: journal, preprocessing: intake,
                        orders: orders,
                        reports: reports, backlog: backlog
                    ).run()
                } catch {
                    let failure = FleetFailure.other("the phones could not start: \(error)")
                    reports.post(
                        ShardReport(
                            thread: thread, number: 1,
                            payload: .finished(FleetOutcome(failure: failure), observations: 0)))
                }
            })
    }

    deinit { self.backlog.abandon() }

    /// Ends captures; every phone shuts down, bounded by `PhoneLimits.shutdownTime`.
    package func stop() {
        guard !self.isStopping else { return }
        self.isStopping = true
        for orders in self.orders { orders.post(.stop) }
    }

    /// Ends captures; unfinished scans get the time of the plan's drain.
    package func drain() {
        for orders in self.orders { orders.post(.drain) }
    }

    /// Adds a stage to a load in steps; nil ends it.
    package func extend(_ stage: ArrivalStage?) {
        for orders in self.orders { orders.post(.extend(stage)) }
    }

    /// Opens phones of a plan with `phonesMax`.
    package func open(_ phones: [FleetPlan.PhonePlan]) {
        precondition(self.plan.phonesMax != nil, "a fleet of these phones and no others")
        for (thread, orders) in self.orders.enumerated() {
            let news = phones.filter { self.thread(of: $0.number) == thread }
            if !news.isEmpty { orders.post(.open(news)) }
        }
    }

    /// Closes phones; `FleetReport.closed` reports when they have closed.
    package func close(_ devices: [DeviceNumber]) {
        for (thread, orders) in self.orders.enumerated() {
            let those = devices.filter { self.thread(of: $0) == thread }
            if !those.isEmpty { orders.post(.close(those)) }
        }
    }

    /// Carries out what the operator ordered, on every thread.
    package func control(_ control: FleetControl) {
        for orders in self.orders { orders.post(.control(control)) }
    }

    /// As `Shard` has it.
    private func thread(of device: DeviceNumber) -> Int { Int(device.raw) % self.orders.count }

    /// Waits for the threads, which end after their last reports. To be called once.
    package func join() {
        self.backlog.abandon()
        for thread in self.threads { thread.join() }
        self.threads = []
        self.preprocessing.stop()
    }

    private func receive(_ report: ShardReport) {
        if let wrong = self.sequences[report.thread].check(report) {
            let text =
                "the reports of phone thread \(report.thread) are incomplete or out of order (\(wrong))"
            self.disorder = self.disorder ?? text
            self.stop()
        }
        switch report.payload {
        case .observations(let observations, _, let moment):
            self.deliver(.observations(observations, thread: report.thread, upTo: moment))
            self.backlog.remove(observations.count)
        case .gauges(let gauges):
            self.gauges[report.thread] = gauges
            self.deliverGauges()
        case .closed(let phones): self.deliver(.closed(phones))
        case .failing(let moment):
            self.deliver(.failing(at: moment))
            self.stop()
        case .finished(let outcome, _):
            // Also of a thread that never started and reported nothing before.
            if outcome.failure != nil { self.stop() }
            self.outcomes[report.thread] = outcome
            self.gauges[report.thread].isIdle = true
            self.deliver(.observations([], thread: report.thread, upTo: .distantFuture))
            self.finishIfOver()
        }
    }

    private func deliverGauges() {
        var sum = FleetGauges()
        for gauges in self.gauges { sum.add(gauges) }
        self.deliver(.gauges(sum))
        // Nothing is left to wait for but the time, on any thread.
        if sum.isIdle { self.stop() }
    }

    private func finishIfOver() {
        var sum = FleetOutcome(failure: nil)
        for outcome in self.outcomes {
            guard let outcome else { return }
            sum.add(outcome)
        }
        if let disorder = self.disorder { sum.failure = .other(disorder) }
        self.deliver(.finished(sum))
    }
}
