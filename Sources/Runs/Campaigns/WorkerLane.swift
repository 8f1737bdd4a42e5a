import EventLoop
import RunDriver
import RunJudge
import Search
import SimBase

/// A worker that died by a trap or a signal.
struct WorkerCrash: Hashable, Sendable {
    var seed: UInt64
    /// `killed by signal 4`.
    var cause: String
    /// The last lines of its error output: the message of the trap and its backtrace.
    var complaint: [String]
    /// The event in which it died when its seed was run again, with its time in nanoseconds; nil if it did not die again.
    var lastEvent: String?
}

/// Every n-th seed of a search, run by one worker after the other: a worker that dies is replaced by one that goes on behind
/// the seed that killed it.
final class WorkerLane {
    private static let complaintLinesMax = 40

    private let words: [String]
    private let last: UInt64
    private let step: UInt64
    private let loop: Loop
    private let receive: (SeedResult) -> Void
    private let crashed: (WorkerCrash) -> Void
    private(set) var next: UInt64?
    private var process: WorkerProcess?
    private var isStopped = false
    /// A crash whose seed is run again to find its last event.
    private var traced: WorkerCrash?
    /// Why a worker could not be started, or gave up.
    private(set) var failure: CommandFailure?

    /// `words`: the command of a worker without its seeds.
    init(
        _ words: [String], from first: UInt64, to last: UInt64, step: UInt64, loop: Loop,
        receive: @escaping (SeedResult) -> Void, crashed: @escaping (WorkerCrash) -> Void
    ) {
        self.words = words
        self.last = last
        self.step = step
        self.loop = loop
        self.receive = receive
        self.crashed = crashed
        self.next = first <= last ? first : nil
    }

    var isOver: Bool { self.process == nil && (self.next == nil || self.isStopped || self.failure != nil) }

    /// Starts a worker if there are seeds left.
    func start() throws {
        guard let next = self.next, self.process == nil, !self.isStopped else { return }
        let seeds = ["--seeds", "\(next)..\(self.last)", "--worker", "0/\(self.step)"]
        self.process = try WorkerProcess(
            self.words + seeds, loop: self.loop,
            receive: { [unowned self] result in
                self.receive(result)
                self.advance(behind: result.seed)
            },
            ended: { [unowned self] in self.ended() })
    }

    func stop() {
        self.isStopped = true
        self.process?.stop()
    }

    private func advance(behind seed: UInt64) {
        let (next, isOver) = seed.addingReportingOverflow(self.step)
        self.next = isOver || next > self.last ? nil : next
    }

    /// Runs the seed of a crash alone, with a line for each event. Searches print none, so that they lose no time.
    private func trace(_ crash: WorkerCrash) throws {
        self.traced = crash
        let seeds = ["--seeds", "\(crash.seed)..\(crash.seed)", "--worker", "0/1", "--trace"]
        self.process = try WorkerProcess(
            self.words + seeds, loop: self.loop, receive: { _ in }, ended: { [unowned self] in self.ended() })
    }

    /// Reports a crash, and goes on behind its seed.
    private func report(_ crash: WorkerCrash) throws {
        self.crashed(crash)
        self.advance(behind: crash.seed)
        try self.start()
    }

    private func ended() {
        guard let process = self.process else { return }
        self.process = nil
        if var crash = self.traced {
            self.traced = nil
            crash.lastEvent = process.crash == nil ? nil : process.lastEvent
            return self.continueOrFail { try self.report(crash) }
        }
        if let refusal = process.refusal {
            self.failure = CommandFailure(.internalError, "a process of the search gave up: \(refusal)")
        }
        guard let cause = process.crash, let seed = self.next, !self.isStopped else { return }
        let crash = WorkerCrash(
            seed: seed, cause: cause,
            complaint: CrashText.lines(process.complaint, linesMax: Self.complaintLinesMax))
        self.continueOrFail { try self.trace(crash) }
    }

    private func continueOrFail(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            self.failure =
                error as? CommandFailure
                ?? CommandFailure(.internalError, "cannot start a worker of the search: \(error)")
        }
    }
}
