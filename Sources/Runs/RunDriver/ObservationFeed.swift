import EventLoop
import HTTPServer
import LivePhones
import LiveServer
import Metrics
import Observations
import RunArchive
import RunControl
import RunJudge
import SimBase

/// Brings what the phones' threads and the backend saw into one order, and has it judged and logged.
struct ObservationFeed {
    /// About 50 µs of judging.
    private static let judgedPerYield = 16

    /// Sources of the merge: the phones' threads, and then the backend.
    private let threads: Int
    /// Whether another side than the phones reports observations: the backend, or the gateway for its faults.
    private let hasReports: Bool
    private let directory: RunDirectory
    private var merge: ObservationMerge
    /// Observations of all sources.
    private(set) var received = 0
    private var judged = 0
    var judge: RunJudge
    /// Steers the phones by what they observe; nil without a rollout. Observations have no effects of their own.
    var rollout: Rollout?
    private var rolloutEffects: [RolloutEffect] = []
    /// Open event streams as the backend counts them.
    private(set) var streamsOpen = GaugeSeries()

    /// The timer lag of the process of the backend, or of the gateway.
    private(set) var lateness = TickLateness(interval: EmbeddedBackend.reportInterval)
    /// The most memory that this process has had; nil if it died.
    private(set) var backendResidentMax: Int64?

    init(_ judge: RunJudge, threads: Int, hasReports: Bool, directory: RunDirectory) {
        self.judge = judge
        self.threads = threads
        self.hasReports = hasReports
        self.directory = directory
        self.merge = ObservationMerge(sources: threads + (hasReports ? 1 : 0))
    }

    /// Reports the scans that the state folder has lost, before any other observation.
    mutating func lost(_ scans: [StateFolder.LostScan]) {
        self.received += scans.count
        for scan in scans {
            self.judge.receive(
                Observation(
                    at: .zero, device: scan.device, scan: scan.scan,
                    what: .phone(.lostFromStorage(books: scan.books))), into: self.directory)
        }
        self.directory.flush()
    }

    mutating func receive(phones observations: [Observation], thread: Int, upTo moment: Instant) {
        self.received += observations.count
        self.merge.add(contentsOf: observations, of: thread)
        self.merge.mark(source: thread, upTo: moment)
        self.settle()
    }

    /// What the operator does now. The threads have reported nothing of this time yet, so that one of them
    /// can be its source.
    mutating func receive(control action: ControlObservation, at moment: Instant) {
        self.received += 1
        self.merge.add(
            Observation(at: moment, device: DeviceNumber(0), scan: .none, what: .control(action)), of: 0)
        self.settle()
    }

    mutating func receive(backend reports: [BackendReport]) {
        for report in reports {
            switch report {
            case .observation(let observation):
                self.received += 1
                self.merge.add(observation, of: self.threads)
            case .streamsOpen(let streams, let moment):
                self.streamsOpen.add(least: streams.least, most: streams.most, upTo: moment)
            case .upTo(let moment, let late):
                self.lateness.passed(to: moment, late: late)
                self.merge.mark(source: self.threads, upTo: moment)
            case .ended(let residentMax): self.backendResidentMax = residentMax
            }
        }
        self.settle()
    }

    /// The process of the backend, or of the gateway, died: how far its account goes is known, and nothing else comes.
    mutating func lostBackend() {
        guard self.hasReports else { return }
        self.judge.lostBackend(after: self.merge.mark(of: self.threads))
        self.closeBackend()
    }

    /// The phones will report nothing more.
    mutating func closePhones() {
        for thread in 0..<self.threads { self.merge.close(source: thread) }
    }

    /// The backend will report nothing more.
    mutating func closeBackend() {
        if self.hasReports { self.merge.close(source: self.threads) }
    }

    /// Judges the remaining observations, and then the run.
    mutating func finish(_ facts: RunFacts, of head: RunHead) -> RunResult {
        self.closePhones()
        self.closeBackend()
        self.settle()
        return self.judge.finish(facts, of: head, into: self.directory)
    }

    /// A batch takes milliseconds. Where the phones' threads share its processor, they must not wait for its end: what they
    /// measure would be late.
    private mutating func settle() {
        while let observation = self.merge.next() {
            self.rollout?.handle(.observed(observation), at: observation.at, into: &self.rolloutEffects)
            self.judge.receive(consume observation, into: self.directory)
            self.judged += 1
            if self.judged % Self.judgedPerYield == 0 { CurrentThread.yield() }
        }
    }
}
