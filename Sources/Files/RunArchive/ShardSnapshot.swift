import Ledger
package import RunJudge
package import RunMetrics
import SimBase
import SystemIO

/// The result and the timeline of a shard of a run in progress, for the dashboard of the run.
///
/// They are stored as `summary.json` and `evidence.ndjson` in a folder inside the folder of the shard. The
/// measurements of operations are in the series of the shard.
package struct ShardSnapshot: Sendable {
    private static let folder = "snapshot"
    private static let names = [RunDirectory.FileName.evidence, RunDirectory.FileName.summary]

    package let result: RunResult
    package let timeline: RunTimeline

    /// Reads the snapshot of a shard. Is nil if one of its files is missing or damaged. `folder`: the folder of the shard.
    package init?(of folder: String, head: RunHead, settings: JudgeSettings) {
        let path = RunDirectory.joined(folder, Self.folder)
        guard let summary = try? PastRun.summary(of: path),
            let reader = EvidenceReader(folder: path, head: head)
        else { return nil }
        self.result = reader.result(summary, settings, until: reader.heardAt)
        self.timeline = reader.timeline
    }

    /// Replaces the snapshot of a shard. Returns false if it cannot be written.
    ///
    /// - Parameter timeline: The timeline of the shard without its phones.
    /// - Parameter summary: The result as the bytes of `summary.json`.
    /// - Parameter folder: The folder of the shard.
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

    /// Removes the snapshot of a shard after its run.
    package static func remove(from folder: String) {
        let path = RunDirectory.joined(folder, Self.folder)
        for name in Self.names { try? FileTree.remove(RunDirectory.joined(path, name)) }
        FileTree.removeFolder(path)
    }
}
