import Foundation
import Ledger
package import Metrics
package import Observations
package import RunJudge
package import RunMetrics
package import SimBase
import SystemIO
import Talaria

/// The folder of one run (Docs/design.md section 8). It is written during the run, so that a killed run can
/// still be reported. Write errors do not stop a run: they are kept, and `finish` throws them with what could
/// be saved.
///
/// Used from one thread.
package final class RunDirectory: RunLog {
    package enum FileName {
        package static let events = "events.ndjson"
        /// What only `--trace` writes to the log, of phones with problems.
        package static let progress = "progress.ndjson"
        package static let scenario = "scenario.resolved"
        package static let summary = "summary.json"
        package static let page = "report.html"
        package static let markdown = "report.md"
        package static let junit = "junit.xml"
        package static let metrics = "metrics.prom"
        package static let latency = "latency.hlog"
        package static let series = "series.ndjson"
        /// What each scan took, for comparisons.
        package static let scans = "scans.ndjson"
        package static let head = "run.json"
        /// What a shard hands over for the merge.
        package static let evidence = "evidence.ndjson"
        /// What a live run that failed did to its phones, for `simulate` and `replay`.
        package static let plan = "plan.json"
        /// What the run was compared with, for `report`.
        package static let baseline = "baseline.json"
        /// All names, the most useful first.
        package static let all = [
            Self.page, Self.summary, Self.markdown, Self.junit, Self.metrics, Self.events,
            Self.progress, Self.latency, Self.series, Self.scans, Self.scenario, Self.head, Self.plan,
            Self.baseline, Self.evidence,
        ]
        /// The files that grow during the run.
        static let growing = [Self.events, Self.latency, Self.series]
    }

    /// Name of the link to the newest run.
    package static let latest = "latest"
    /// The maximum size of the log of one run; a longer log ends with a line that says so.
    package static let eventBytesMax = 1 << 30
    /// The interval of writes. A kill loses at most this much of the run's own time.
    package static let flushEvery = Interval.seconds(1)
    /// Runs of one scenario and seed that may start in the same second.
    private static let sameNameMax = 100

    /// The folder, as it was named.
    package let path: String
    /// The problems that did not affect the results; `finish` adds those that are missing in the result.
    package private(set) var remarks: [Remark] = []
    private var events: ObservationFile
    /// Nil where the log has all.
    private let progress: ProgressFile?
    private var latency: OutputFile
    private var series: OutputFile
    private var head: RunHead?
    /// The scenario as it ran.
    private var scenario: [UInt8] = []
    /// What a shard hands over, but for the digest of its summary.
    private var evidence: [UInt8]?
    private var lock: FolderLock?
    private var failures: [OutputError.Failure] = []
    private var saved: [String] = []
    private var hasTold = false
    /// Hears of every interval that is logged, with its start.
    package var intervalLogged: ((MetricTable, Instant) -> Void)?
    /// Hears of every observation, whether the log has it or not, with its cause.
    package var observationLogged: ((Observation, Cause?) -> Void)?

    private init(path: String, _ lock: FolderLock, log: consuming ObservationLog, eventBytesMax: Int)
        throws(OutputError)
    {
        self.path = path
        self.lock = lock
        self.progress =
            log.isTracing
            ? nil : ProgressFile(path: Self.joined(path, FileName.progress), faults: log.faults)
        do {
            self.events = ObservationFile(
                file: try OutputFile(creating: Self.joined(path, FileName.events)), log: log,
                bytesMax: eventBytesMax)
            self.latency = try OutputFile(creating: Self.joined(path, FileName.latency))
            self.series = try OutputFile(creating: Self.joined(path, FileName.series))
        } catch {
            throw OutputError(failures: [error], saved: [])
        }
    }

    /// Whether a run has written there, to its end or not.
    package static func holdsRun(_ folder: String) -> Bool {
        [FileName.head, FileName.summary].contains {
            FileTree.exists(Self.joined(folder, $0))
        }
    }

    /// Whether a run itself has written there, and not only a report of runs elsewhere.
    package static func holdsLogs(_ folder: String) -> Bool {
        FileTree.exists(Self.joined(folder, FileName.events))
    }

    // MARK: Events

    /// Makes the folder, and begins the log. Where the folder existed, reports of an earlier run are taken away: a
    /// folder never holds two runs.
    package static func create(_ location: RunLocation, log: consuming ObservationLog) throws(OutputError)
        -> RunDirectory
    {
        try Self.create(location, log: log, eventBytesMax: Self.eventBytesMax)
    }

    static func create(_ location: RunLocation, log: consuming ObservationLog, eventBytesMax: Int)
        throws(OutputError) -> RunDirectory
    {
        do {
            switch location {
            case .exactly(let path):
                try Self.at(path) { () throws(SystemError) in try FileTree.makeFolder(path) }
                let lock = try Self.lock(path)
                for name in FileName.all where !FileName.growing.contains(name) {
                    try Self.remove(Self.joined(path, name))
                }
                return try RunDirectory(path: path, lock, log: log, eventBytesMax: eventBytesMax)
            case .dated(let reports, let started, let scenario, let seed):
                let path = try Self.makeDatedFolder(
                    in: reports, named: RunLocation.name(started: started, scenario: scenario, seed: seed))
                let directory = try RunDirectory(
                    path: path, try Self.lock(path), log: log, eventBytesMax: eventBytesMax)
                if let remark = Self.link(to: path, in: reports) { directory.remarks.append(remark) }
                return directory
            }
        } catch let failure as OutputError.Failure {
            throw OutputError(failures: [failure], saved: [])
        } catch let error as OutputError {
            throw error
        } catch {
            throw OutputError(failures: [.init(path: "\(location)", reason: "\(error)")], saved: [])
        }
    }

    /// Writes the data that is known from the start. Called once, before the first observation.
    package func begin(_ head: RunHead) {
        self.head = head
        self.write(head.bytes, as: FileName.head)
        self.latency.append(Array(HistogramLog.head(started: head.started, tool: head.tool).utf8))
        self.latency.flush()
    }

    /// Takes what was measured in one interval, and hands all logs to the system.
    package func log(
        _ table: MetricTable, from: Instant, length: Interval, open: (table: MetricTable, at: Instant)?
    ) {
        self.series.append(Array(SeriesLog.lines(table, from: from, length: length, open: open).utf8))
        self.latency.append(Array(HistogramLog.lines(table, from: from, length: length).utf8))
        self.flush()
        self.series.flush()
        self.latency.flush()
        self.intervalLogged?(table, from)
    }

    /// Takes one observation into the log.
    package func log(_ observation: Observation, cause: Cause? = nil) {
        self.observationLogged?(observation, cause)
        if let progress {
            if cause != nil { progress.follow(observation.device, .error) }
            if observation.level.isTraced { progress.take(observation, logBytes: self.events.file.bytes) }
        }
        guard !self.events.append(observation, cause) else { return }
        self.remarks.append(.end(.logFull(bytes: self.events.bytesMax)))
    }

    package func follow(_ phone: DeviceNumber) { self.progress?.follow(phone, .violation) }

    private var logs: [OutputFile] {
        [self.events.file, self.progress?.file, self.latency, self.series].compactMap { $0 }
    }

    /// Flushes the log to the system, for idle times.
    package func flush() {
        self.events.file.flush()
        self.progress?.flush()
    }

    /// The scenario as it runs, before it runs.
    package func write(scenarioResolved text: String) {
        self.scenario = Array(text.utf8)
        self.write(self.scenario, as: FileName.scenario)
    }

    /// The plan of a run that failed, before the reports.
    package func write(plan text: String) { self.write(Array(text.utf8), as: FileName.plan) }

    /// What each scan took, before the reports.
    package func write(scans: ScanTable) { self.write(ScansFile.bytes(scans), as: FileName.scans) }

    /// What the shard hands over: it is written with the reports, because it says which of them belong to it. The logs are
    /// complete by then.
    package func write(
        evidence: ShardEvidence, of result: RunResult, _ timeline: RunTimeline
    ) {
        guard let head = self.head else { return }
        self.events.file.flush()
        let writer = EvidenceWriter(head, result, timeline, evidence)
        let sizes = [
            (name: FileName.series, bytes: self.series.bytes), (FileName.latency, self.latency.bytes),
        ]
        self.evidence = writer.records(lanes: writer.lanes(folder: self.path), sizes: sizes)
    }

    /// Ends the logs and writes the reports. Returns the names of all files; throws when any of them is missing or cut
    /// short, having written the others: they then say so.
    package func finish(
        _ result: RunResult, _ timeline: RunTimeline, failures: [OutputError.Failure],
        render: ReportRenderer
    ) throws(OutputError) -> [String] {
        self.events.file.close()
        self.latency.close()
        self.series.close()
        self.progress?.close()
        self.failures += failures + [self.progress?.failure].compactMap { $0 }
        for file in self.logs {
            if let reason = file.failure ?? Self.loss(of: file.path, bytes: file.bytes) {
                self.failures.append(.init(path: file.path, reason: reason))
            } else {
                self.saved.append(Self.name(file.path))
            }
        }
        if let head = self.head { self.check(FileName.head, head.bytes.count) }
        if !self.scenario.isEmpty { self.check(FileName.scenario, self.scenario.count) }
        var result = result
        if self.events.leftOut > 0 { self.remarks.append(.end(.eventsOmitted(self.events.leftOut))) }
        result.add(self.remarks)
        if self.failures.isEmpty {
            self.write(reports: render(RunReport(result, timeline, folders: [self.path])))
        }
        // What was written before the failure says that there was none.
        if !self.failures.isEmpty {
            result.failOutput(OutputError(failures: self.failures, saved: self.saved).description)
            self.rewrite(result, timeline, render: render)
        }
        self.lock = nil
        let saved = FileName.all.filter { self.saved.contains($0) }
        guard self.failures.isEmpty else { throw OutputError(failures: self.failures, saved: saved) }
        return saved
    }

    /// Notes if a file of the beginning is no longer there.
    private func check(_ name: String, _ bytes: Int) {
        let path = Self.joined(self.path, name)
        guard let reason = Self.loss(of: path, bytes: bytes),
            !self.failures.contains(where: { $0.path == path })
        else { return }
        self.saved.removeAll { $0 == name }
        self.failures.append(.init(path: path, reason: reason))
    }

    /// What was written is in a file that has no name any more, if somebody takes the folder away during the run.
    private static func loss(of path: String, bytes: Int) -> String? {
        switch FileTree.kind(of: path) {
        case .file(bytes), .other: nil
        case .file, .unreachable: "it was taken away or changed during the run"
        }
    }

    /// Writes the reports again for another result. Those that cannot be written are no longer there.
    package func rewrite(_ result: RunResult, _ timeline: RunTimeline, render: ReportRenderer) {
        let reports = render(RunReport(result, timeline, folders: [self.path]))
        for name in reports.map(\.name) {
            // A folder at the path of a report is not ours.
            try? FileTree.remove(Self.joined(self.path, name))
            self.saved.removeAll { $0 == name }
        }
        self.write(reports: reports)
    }

    private func write(reports: [ReportFile]) {
        for report in reports { self.write(report.bytes, as: report.name) }
        guard let evidence = self.evidence, let head = self.head else { return }
        self.saved.removeAll { $0 == FileName.evidence }
        let files =
            [
                ReportFile(name: FileName.head, bytes: head.bytes),
                ReportFile(name: FileName.scenario, bytes: self.scenario),
            ] + reports.filter { $0.name == FileName.summary }
        self.write(EvidenceWriter.sealed(evidence, files: files), as: FileName.evidence)
    }

    /// Returns the first write error that was not reported yet, while the run continues; later ones are not
    /// reported.
    package func takeTrouble() -> String? {
        guard !self.hasTold else { return nil }
        let failures = [self.progress?.failure].compactMap { $0 }
        let logs = self.logs.compactMap { file in
            file.failure.map { OutputError.Failure(path: file.path, reason: $0) }
        }
        guard let first = (self.failures + failures + logs).first else { return nil }
        self.hasTold = true
        return OutputError(failures: [first], saved: [FileName.head]).description
    }

    // MARK: Files

    private func write(_ bytes: [UInt8], as name: String) {
        do throws(OutputError.Failure) {
            try OutputFile.write(bytes, to: Self.joined(self.path, name))
            self.saved.append(name)
        } catch {
            guard !self.failures.contains(where: { $0.path == error.path }) else { return }
            self.failures.append(error)
        }
    }

    private static func name(_ path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }

    package static func joined(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }

    static func lock(_ path: String) throws(OutputError.Failure) -> FolderLock {
        guard let lock = FolderLock(path) else {
            throw OutputError.Failure(path: path, reason: "another run is writing to this folder")
        }
        return lock
    }

    /// The failure of a step at a path.
    static func at(_ path: String, _ body: () throws(SystemError) -> Void) throws(OutputError.Failure) {
        do throws(SystemError) { try body() } catch { throw OutputError.Failure(path: path, error) }
    }

    static func makeDatedFolder(in reports: String, named name: String) throws(OutputError.Failure) -> String
    {
        try Self.at(reports) { () throws(SystemError) in try FileTree.makeFolder(reports) }
        return try Self.makeNewFolder(in: reports, named: name)
    }

    private static func makeNewFolder(in reports: String, named name: String)
        throws(OutputError.Failure) -> String
    {
        for ordinal in 1...Self.sameNameMax {
            let path = Self.joined(reports, ordinal == 1 ? name : "\(name)-\(ordinal)")
            if FileTree.exists(path) { continue }
            try Self.at(path) { () throws(SystemError) in try FileTree.makeNewFolder(path) }
            return path
        }
        throw OutputError.Failure(
            path: Self.joined(reports, name), reason: "\(Self.sameNameMax) runs with this name exist")
    }

    static func remove(_ path: String) throws(OutputError.Failure) {
        guard FileTree.exists(path) else { return }
        try Self.at(path) { () throws(SystemError) in try FileTree.remove(path) }
    }

    /// Points `latest` at a folder. The new link is made next to the old one and moved over it, so that there
    /// is no time without one. Returns a warning if that fails; the run itself is complete without the link.
    static func link(to path: String, in reports: String) -> Remark? {
        let link = Self.joined(reports, Self.latest)
        let name = URL(fileURLWithPath: path).lastPathComponent
        let fresh = Self.joined(reports, ".\(Self.latest)-\(name)")
        do throws(SystemError) {
            try FileTree.link(fresh, to: name)
            try FileTree.replace(link, by: fresh)
            return nil
        } catch {
            try? FileTree.remove(fresh)
            return .end(.linkNotUpdated(link, reason: error.reason))
        }
    }
}
