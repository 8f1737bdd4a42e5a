import Ledger
import Metrics
import RunJudge
import RunMetrics
import SimBase
import SystemIO

extension RunReport {
    /// What makes the folder of a merge that of a run: its head, its scenario, the sum of the series, and the evidence. The logs of
    /// the phones stay where the parts are.
    ///
    /// - Parameter parts: The folders of the runs that were merged; at least one can be read.
    package func runFiles(of parts: [String]) -> [ReportFile] {
        let parts = parts.compactMap { folder in Self.head(of: folder).map { (folder: folder, head: $0) } }
        guard let head = self.mergedHead(parts.map(\.head)) else { return [] }
        let scenario = parts.lazy.compactMap { part -> [UInt8]? in
            let path = RunDirectory.joined(part.folder, RunDirectory.FileName.scenario)
            return try? File.contents(of: path, bytesMax: InputFile.documentBytesMax)
        }.first
        let series = MergedSeries(parts, head: head)
        return [
            ReportFile(name: RunDirectory.FileName.head, bytes: head.bytes),
            ReportFile(name: RunDirectory.FileName.series, bytes: series.counts),
            ReportFile(name: RunDirectory.FileName.latency, bytes: series.histograms),
        ]
            + (ScansFile.merged(parts.map(\.folder)).map {
                [ReportFile(name: RunDirectory.FileName.scans, bytes: ScansFile.bytes($0))]
            } ?? [])
            + (scenario.map { [ReportFile(name: RunDirectory.FileName.scenario, bytes: $0)] } ?? [])
    }

    /// The evidence of a merge, which is read instead of the log. `files`: those that it belongs to.
    package func evidence(_ files: [ReportFile]) -> ReportFile? {
        guard let bytes = files.first(where: { $0.name == RunDirectory.FileName.head })?.bytes,
            let head = RunHead(reading: bytes)
        else { return nil }
        let nothing = ShardEvidence(
            endedAt: .zero + self.result.length, heardAt: .zero + self.result.length, fleet: nil,
            coverage: [],
            regions: RegionSummary(captures: 0, regions: 0, complete: 0), skipped: SkippedWork(), waiting: [])
        let lanes = self.timeline.worstPhones(EvidenceWriter.phonesMax).map { mark in
            self.timelines.first { $0.mark.device == mark.device } ?? PhoneTimeline(mark: mark)
        }
        let records = EvidenceWriter(head, self.result, self.timeline, nothing)
            .records(lanes: lanes, sizes: [])
        let sealed = EvidenceReader.sealedNames.compactMap { name in files.first { $0.name == name } }
        return ReportFile(
            name: RunDirectory.FileName.evidence, bytes: EvidenceWriter.sealed(records, files: sealed))
    }

    private func mergedHead(_ heads: [RunHead]) -> RunHead? {
        guard var head = heads.first else { return nil }
        if head.shard.isWhole {
            // Each of several runs has phones of its own.
            for index in head.groups.indices where self.result.groups.indices.contains(index) {
                head.groups[index].devices = self.result.groups[index].devices
            }
        }
        head.shard = .whole
        head.machine = self.result.machine
        head.started = self.result.started
        head.hasBackendView = heads.allSatisfy(\.hasBackendView)
        head.command = self.result.command
        head.labels = self.result.labels
        return head
    }
}
