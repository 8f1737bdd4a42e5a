import JSON
import Ledger
import Metrics
import Observations
package import RunJudge
package import RunMetrics
import SimBase

/// `evidence.ndjson`: what a shard hands over for the merge beside `run.json`, `summary.json` and `scenario.resolved`. One
/// record a line; the last one says that the file is whole, and which files belong to it.
///
/// It holds the exact metrics of the whole run by group, the times of reconnects by cause, the errors, the history in at most
/// `RunTimeline.windowsMax` windows, the phones with the most problems with the beginning of their log, and what is counted for
/// the checks of the whole fleet. What an operator did to the run comes before the phones, as observations. Its size does not depend on the length of the run or on the number of phones. It also has the
/// sizes of the files that belong to it.
package struct EvidenceWriter {
    package static let schema = 5
    /// Observations of each phone with problems.
    package static let observationsMax = 250
    /// Phones with problems, of which `RunReport.timelinesMax` with observations.
    static let phonesMax = 20

    private let head: RunHead
    private let result: RunResult
    private let timeline: RunTimeline
    private let evidence: ShardEvidence

    package init(
        _ head: RunHead, _ result: RunResult, _ timeline: RunTimeline, _ evidence: ShardEvidence
    ) {
        self.head = head
        self.result = result
        self.timeline = timeline
        self.evidence = evidence
    }

    /// The phones with the most problems, from the log in the folder of the run.
    func lanes(folder: String) -> [PhoneTimeline] {
        var lanes = self.timeline.worstPhones(RunReport.timelinesMax).map { PhoneTimeline(mark: $0) }
        PhoneTimeline.read(&lanes, folder: folder, faults: self.head.faults)
        for mark in self.timeline.worstPhones(Self.phonesMax)
        where !lanes.contains(where: { $0.mark.device == mark.device }) {
            lanes.append(PhoneTimeline(mark: mark))
        }
        return lanes
    }

    /// The file without its end. `sizes`: of the series, in bytes.
    func records(lanes: [PhoneTimeline], sizes: [(name: String, bytes: Int)]) -> [UInt8] {
        var bytes = Self.line { line in
            line.member("evidence", Self.schema)
            line.member("shard", self.head.shard.description)
            line.member("started_ms", self.head.started)
            line.member("ended", self.evidence.endedAt.nanoseconds)
            line.member("heard", self.evidence.heardAt.nanoseconds)
            line.member("length", self.result.length.nanoseconds)
            line.member("drained", self.result.drained?.nanoseconds)
            line.object("files") { line in
                for size in sizes {
                    line.key(text: size.name)
                    line.integer(Int64(size.bytes))
                }
            }
        }
        self.writeMetrics(to: &bytes)
        Self.write(self.result.disconnections, group: nil, to: &bytes)
        for group in self.result.groups {
            Self.write(group.tables.disconnections, group: group.name, to: &bytes)
        }
        Self.write(self.timeline.errors, group: nil, to: &bytes)
        for group in self.result.groups { Self.write(group.errors, group: group.name, to: &bytes) }
        self.writeTimeline(to: &bytes)
        self.writeStreams(to: &bytes)
        self.writeControls(to: &bytes)
        self.writePhones(lanes, to: &bytes)
        self.writeChecks(to: &bytes)
        bytes += Self.line { RemarkCoding.write(self.result.remarks, to: &$0) }
        return bytes
    }

    /// The whole file. It ends with its digest and with those of the files that it belongs to: what is merged must be whole and of
    /// one run.
    static func sealed(_ records: [UInt8], files: [ReportFile]) -> [UInt8] {
        records
            + Self.line { line in
                line.member("end", true)
                line.object("digests") { line in
                    for file in files {
                        line.key(text: file.name)
                        line.text(SHA256.hexadecimal(of: file.bytes))
                    }
                }
                line.member("sha256", SHA256.hexadecimal(of: records))
            }
    }

    private static func line(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var line = JSONWriter(.log, reserving: 512)
        line.object(members)
        line.newline()
        return line.bytes
    }

    // MARK: Metrics

    private func writeMetrics(to bytes: inout [UInt8]) {
        let table = self.measured
        bytes += Array(
            SeriesLog.lines(
                table, from: .zero, length: self.result.length, open: (table, at: self.evidence.heardAt)
            ).utf8)
        for index in -1..<table.groups.count {
            let group = index < 0 ? nil : table.groups[index]
            let set = table.set(in: index < 0 ? .none : MetricGroup(index: index))
            for metric in LatencyMetric.allCases where !set.histogram(metric).isEmpty {
                bytes += Self.line { line in
                    line.member("histogram", metric.rawValue)
                    Self.write(group: group, &line)
                    line.member("code", HistogramCode.text(set.histogram(metric)))
                }
            }
        }
    }

    /// The metrics without what the totals say, which `summary.json` has.
    private var measured: MetricTable {
        var table = self.result.metrics
        for (index, group) in self.result.groups.enumerated() where index < table.groups.count {
            var totals = MetricTable(groups: table.groups)
            group.totals.record(into: &totals, group: MetricGroup(index: index))
            let counted = totals.set(in: MetricGroup(index: index))
            for metric in CountMetric.allCases where counted.count(metric) != 0 {
                table.add(-counted.count(metric), to: metric, in: MetricGroup(index: index))
            }
            for metric in RateMetric.allCases {
                table.subtract(counted.rate(metric), from: metric, in: MetricGroup(index: index))
            }
        }
        return table
    }

    private static func write(group: String?, _ line: inout JSONWriter) {
        line.key("group")
        if let group { line.text(group) } else { line.null() }
    }

    /// The table of the fleet has the phones of no group as well.
    private static func write(_ table: Disconnections, group: String?, to bytes: inout [UInt8]) {
        for row in table.losses {
            let times = row.reconnectTime
            bytes += Self.line { line in
                line.member("loss", row.cause.rawValue)
                Self.write(group: group, &line)
                line.array("counts", [row.count, row.resumed, row.restarted, row.gaveUp]) { $0.integer($1) }
                guard !times.isEmpty else { return }
                line.array("times", [times.minimum ?? 0, times.maximum ?? 0]) { $0.integer($1) }
                line.key("sum")
                line.raw(String(times.sum))
                line.member("code", HistogramCode.text(times))
            }
        }
    }

    private static func write(_ errors: ErrorSummary, group: String?, to bytes: inout [UInt8]) {
        for row in errors.rows {
            bytes += Self.line { line in
                line.member("error", row.trouble.name)
                line.member("family", row.trouble.family.rawValue)
                Self.write(group: group, &line)
                line.member("count", row.count)
                line.member("first", row.first.nanoseconds)
                line.member("last", row.last.nanoseconds)
                line.member("device", row.device.raw)
                line.member("scan", row.scan.raw)
                line.array("causes", row.causes.entries) { line, entry in
                    line.openObject()
                    line.member("by", entry.cause.by)
                    if let fault = entry.cause.fault { line.member("fault", fault) }
                    line.member("count", entry.count)
                    line.closeObject()
                }
            }
        }
    }

    // MARK: History

    private func writeTimeline(to bytes: inout [UInt8]) {
        bytes += Self.line { line in
            line.member("width", self.timeline.width.nanoseconds)
            line.member("until", self.timeline.until.nanoseconds)
        }
        for window in self.timeline.windows {
            bytes += Self.line { line in
                line.array("window", window.numbers) { $0.integer(Int64($1)) }
                guard !window.faults.isEmpty else { return }
                line.array("faults", window.faults) { $0.integer(Int64($1)) }
            }
        }
        for (index, fault) in self.timeline.faults.enumerated() where fault.count > 0 {
            bytes += Self.line { line in
                line.member("fault", index)
                line.member("count", fault.count)
                line.member("first", fault.first?.nanoseconds)
                line.member("last", fault.last?.nanoseconds)
                // One that lasts has no end.
                line.array("spans", fault.spans) { line, span in
                    line.array([span.from, span.to].compactMap { $0?.nanoseconds }) { $0.integer($1) }
                }
            }
        }
    }

    private func writeStreams(to bytes: inout [UInt8]) {
        guard let series = self.result.streamsOpen else { return }
        bytes += Self.line { $0.member("streams", GaugeCode.text(series)) }
    }

    private func writeControls(to bytes: inout [UInt8]) {
        var writer = ObservationLineWriter(faults: self.head.faults)
        for record in self.result.controls {
            writer.write(
                Observation(
                    at: record.at, device: DeviceNumber(0), scan: .none, what: .control(record.action)))
            writer.line.copy(to: &bytes)
        }
    }

    private func writePhones(_ lanes: [PhoneTimeline], to bytes: inout [UInt8]) {
        var writer = ObservationLineWriter(faults: self.head.faults)
        for lane in lanes {
            let shown = lane.observations.prefix(Self.observationsMax)
            bytes += Self.line { line in
                line.member("phone", lane.mark.device.raw)
                line.array("numbers", lane.mark.numbers) { $0.integer($1) }
                line.member("left_out", lane.leftOut + lane.observations.count - shown.count)
            }
            for observation in shown {
                writer.write(observation)
                writer.line.copy(to: &bytes)
            }
        }
    }

    // MARK: Checks

    private func writeChecks(to bytes: inout [UInt8]) {
        if let fleet = self.evidence.fleet { Self.write(fleet, to: &bytes) }
        bytes += Self.line { line in line.array("coverage", self.evidence.coverage) { $0.integer(Int64($1)) }
        }
        Self.write(self.evidence.regions, to: &bytes)
        let skipped = self.evidence.skipped
        bytes += Self.line { line in
            line.array("skipped", [skipped.deferred, skipped.shutdownsTimedOut, skipped.heldBack]) {
                $0.integer(Int64($1))
            }
            line.array("held_ms", [skipped.heldTime, skipped.phoneTime]) { $0.integer($1.milliseconds) }
        }
        for record in self.evidence.waiting {
            bytes += Self.line { line in
                line.member("waiting", record.cause.rawValue)
                line.member("device", record.device.raw)
                line.member("scan", record.scan.raw)
            }
        }
        for owner in self.evidence.targetJobs {
            bytes += Self.line { line in
                line.member("job", String(owner.digest, radix: 16))
                line.member("device", owner.device.raw)
                line.member("scan", owner.scan.raw)
            }
        }
    }

    private static func write(_ fleet: FleetEvidence, to bytes: inout [UInt8]) {
        Self.write(fleet.returns, "returns", to: &bytes)
        Self.write(fleet.drawn.retries, "drawn", to: &bytes)
        Self.write(fleet.fixed.retries, "fixed", to: &bytes)
        bytes += Self.line { line in
            line.array("drawn_waits", fleet.drawn.samples.numbers) { $0.integer(Int64($1)) }
            line.array("fixed_waits", fleet.fixed.samples.numbers) { $0.integer(Int64($1)) }
            line.member("first_fixed", fleet.firstFixed?.raw)
        }
        bytes += Self.line { line in
            line.array("held", fleet.held) { $0.text($1.rawValue) }
        }
    }

    private static func write(_ regions: RegionSummary, to bytes: inout [UInt8]) {
        bytes += Self.line { line in
            line.array("regions", [regions.captures, regions.regions, regions.complete, regions.more]) {
                $0.integer(Int64($1))
            }
            line.array("incomplete", regions.named) { line, named in
                line.object { line in
                    line.member("device", named.device.raw)
                    line.member("text", named.text)
                }
            }
        }
    }

    private static func write(_ record: SurgeRecord, _ name: String, to bytes: inout [UInt8]) {
        bytes += Self.line { line in
            line.member("surges", name)
            line.member("incomplete_from", record.incompleteFrom)
            line.member("windows", SurgeCode.text(record.windows))
        }
    }
}
