package import EventLoop
import LivePhones
package import Metrics
import Plan
package import RunArchive
import RunJudge
import RunMetrics
package import SimBase

/// What makes a run that of a worker: its phones start and stop while it runs, and its captures end when they
/// are ordered to.
package struct WorkerTerms {
    /// The loop that also serves the master.
    let loop: Loop
    /// The number of phones that may be opened.
    let phonesMax: Int
    /// Milliseconds since 1970: the zero of all workers of the test.
    let started: Int64
    /// Read before the test.
    let photos: PhotoCorpus

    package init(loop: Loop, phonesMax: Int, started: Int64, photos: PhotoCorpus) {
        self.loop = loop
        self.phonesMax = phonesMax
        self.started = started
        self.photos = photos
    }
}

/// A phone that a worker opens.
package struct WorkerPhone: Hashable, Sendable {
    package var number: DeviceNumber
    /// The index of its group.
    package var group: Int
    package var lastScan: ScanNumber

    package init(number: DeviceNumber, group: Int, lastScan: ScanNumber) {
        self.number = number
        self.group = group
        self.lastScan = lastScan
    }
}

/// The phones of a worker's run.
struct WorkerPhones {
    /// What was wanted before there was a fleet.
    var waiting: [WorkerPhone] = []
    var isToDrain = false
    /// Every phone that was opened, by group.
    private var opened: [Set<DeviceNumber>]
    var onClosed: ([(number: DeviceNumber, lastScan: ScanNumber)]) -> Void = { _ in }

    init(_ plan: RunPlan) { self.opened = plan.groups.map { _ in [] } }

    mutating func add(_ phones: [WorkerPhone]) {
        for phone in phones { self.opened[phone.group].insert(phone.number) }
    }

    func closed(_ phones: [FleetClosing]) {
        self.onClosed(phones.map { ($0.device, $0.lastScan) })
    }

    /// The numbers of phones of each group that this worker has had.
    var counts: [Int] { self.opened.map(\.count) }

    /// The plan has room for the phones of all workers; a result is about its own.
    func count(in result: inout RunResult) {
        for (index, count) in self.counts.enumerated() where result.groups.indices.contains(index) {
            result.groups[index].devices = count
        }
    }
}

extension LiveRun {
    package func open(_ phones: [WorkerPhone]) {
        self.workerPhones?.add(phones)
        self.workerPhones?.waiting += phones
        self.openWaitingPhones()
    }

    func openWaitingPhones() {
        guard let fleet = self.fleet, let waiting = self.workerPhones?.waiting else { return }
        self.workerPhones?.waiting = []
        let planner = self.plan.faultDesk
        if !waiting.isEmpty {
            fleet.open(
                waiting.map {
                    var phone = self.phonePlan($0.number, group: $0.group, planner)
                    phone.lastScan = $0.lastScan
                    return phone
                })
        }
        if self.workerPhones?.isToDrain == true { fleet.drain() }
    }

    /// The phones capture nothing more and shut down once their scans are settled, or the drain is over.
    package func close(_ devices: [DeviceNumber]) {
        let waiting = self.workerPhones?.waiting.filter { devices.contains($0.number) } ?? []
        self.workerPhones?.waiting.removeAll { devices.contains($0.number) }
        if !waiting.isEmpty {
            self.workerPhones?.onClosed(waiting.map { ($0.number, $0.lastScan) })
        }
        self.fleet?.close(devices)
    }

    /// Ends all captures; unfinished scans get the time of the drain.
    package func drain() {
        self.workerPhones?.isToDrain = true
        self.fleet?.drain()
    }

    /// Ends the run now, as an interruption does.
    package func endAtOnce() {
        guard !self.feed.judge.isInterrupted else { return }
        self.feed.judge.interrupted(at: self.clock.now())
        self.fleet?.stop()
    }

    package func onClosed(
        _ handler: @escaping ([(number: DeviceNumber, lastScan: ScanNumber)]) -> Void
    ) {
        self.workerPhones?.onClosed = handler
    }

    /// `handler` gets the measurements of each interval and the second since 1970 in which it began.
    package func onInterval(_ handler: @escaping (MetricTable, Int64) -> Void) {
        self.directory.intervalLogged = { [unowned self] table, from in
            handler(table, self.startedWall / 1_000 + from.nanoseconds / 1_000_000_000)
        }
    }

    /// All errors so far, in the order of their first occurrences.
    package var errors: [(name: String, count: Int)] {
        self.feed.judge.timeline.errors.rows.map { ($0.trouble.name, $0.count) }
    }

    /// What a merged verdict needs of this run, once it has ended.
    package var evidence: [ReportFile] {
        RunDirectory.evidence(of: self.directory.path, devices: self.workerPhones?.counts ?? [])
    }
}
