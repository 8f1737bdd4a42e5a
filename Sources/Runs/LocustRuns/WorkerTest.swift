import LocustWorker
import RunArchive
import RunDriver
import RunJudge
import SimBase

/// A test of the master on this worker: its run, from the order to the evidence.
final class WorkerTest {
    let id: String
    /// What the run of this worker alone ends with.
    var code = ExitCode.internalError
    private var run: LiveRun?
    private var groups: [String] = []
    private var gathering = StatsGathering(groups: [])
    // What was wanted before there was a run.
    private var opening: [LeasedPhone] = []
    private var end: RunEnd?

    init(_ order: TestOrder) { self.id = order.test }

    /// `groups`: in the order of the scenario.
    func begin(_ run: LiveRun, groups: [String]) {
        self.run = run
        self.groups = groups
        self.gathering = StatsGathering(groups: groups)
        run.onInterval { [unowned self] table, second in self.gathering.add(table, second: second) }
        self.open(self.opening)
        self.opening = []
        if let end = self.end { self.end(end) }
    }

    func open(_ phones: [LeasedPhone]) {
        guard let run = self.run else {
            self.opening += phones
            return
        }
        run.open(
            phones.compactMap { phone in
                self.groups.firstIndex(of: phone.group).map {
                    WorkerPhone(number: phone.number, group: $0, lastScan: phone.lastScan)
                }
            })
    }

    /// Returns phones that were never opened.
    func close(_ devices: [DeviceNumber]) -> [ClosedPhone] {
        let unopened = self.opening.filter { devices.contains($0.number) }
        self.opening.removeAll { devices.contains($0.number) }
        self.run?.close(devices)
        return unopened.map { ClosedPhone(number: $0.number, lastScan: $0.lastScan) }
    }

    func end(_ end: RunEnd) {
        self.end = end
        switch end {
        case .drained: self.run?.drain()
        case .atOnce: self.run?.endAtOnce()
        }
    }

    func report(_ users: [SpawnOrder.Count]) -> StatsReport {
        self.gathering.take(errors: self.run?.errors ?? [], users: users)
    }

    var folder: String { self.run?.folder ?? "" }

    /// Empty for a run that did not begin.
    var evidence: [ReportFile] { self.run?.evidence ?? [] }
}
