import Ledger
package import RunJudge
package import RunMetrics
import SimBase
import SystemIO

/// The state of a shard of a run in progress, for the dashboard of the run: its result and its timeline, in a
/// folder within its own. They have the form of `summary.json` and of `evidence.ndjson`; the measurements of
/// its operations are in its series.
package struct ShardSnapshot: Sendable {
    private static let folder = "snapshot"
    private static let names = [RunDirectory.FileName.evidence, RunDirectory.FileName.summary]

    package let result: RunResult
    package let timeline: RunTimeline

    /// Nil if there is no complete one. `folder`: of the shard.
    package init?(of folder: String, head: RunHead, settings: JudgeSettings) {
        let path = RunDirectory.joined(folder, Self.folder)
        guard let summary = try? PastRun.summary(of: path),
            let reader = EvidenceReader(folder: path, head: head)
        else { return nil }
        self.result = reader.result(summary, settings, until: reader.heardAt)
        self.timeline = reader.timeline
    }

    /// Writes a snapshot over the one before. False if it cannot be written.
    ///
    /// - Parameter timeline: Without the phones.
    /// - Parameter summary: The result as `summary.json`.
    /// - Parameter folder: Of the shard.
    package static func write(
        _ result: RunResult, _ timeline: RunTimeline, summary: [UInt8], of head: RunHead,
        to folder: String
    ) -> Bool {
        let path = RunDirectory.joined(folder, Self.folder)
        let evidence = ShardEvidence(
            endedAt: .zero, heardAt: .zero, fleet: nil, coverage: [],
            regions: RegionSummary(captures: 0, regions: 0, complete: 0), skipped: SkippedWork(),
            waiting: [])
        let records = EvidenceWriter(head, result, timeline, evidence).records(lanes: [], sizes: [])
        let file = EvidenceWriter.sealed(records, files: [])
        do {
            try FileTree.makeFolder(path)
            for (name, bytes) in zip(Self.names, [file, summary]) {
                try OutputFile.write(bytes, to: RunDirectory.joined(path, name))
            }
            return true
        } catch {
            return false
        }
    }

    /// Removes the snapshot of a shard whose run is over.
    package static func remove(from folder: String) {
        let path = RunDirectory.joined(folder, Self.folder)
        for name in Self.names { try? FileTree.remove(RunDirectory.joined(path, name)) }
        FileTree.removeFolder(path)
    }
}
