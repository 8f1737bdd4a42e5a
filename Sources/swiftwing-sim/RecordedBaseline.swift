import JSON
import Metrics
import Reports
import RunArchive
import RunComparison
import RunDriver
import RunJudge
import SystemIO

/// What `--baseline` has left in the folder of a run, so that `report` compares it again.
struct RecordedBaseline {
    private static let bytesMax = 1 << 16

    let folder: String
    /// In parts per million.
    let tolerance: Int64
    let judged: [LatencyMetric]
    /// What the comparison added to the exit of the run.
    let reason: ExitReason?

    init(folder: String, tolerance: Int64, judged: [LatencyMetric], reason: ExitReason?) {
        self.folder = folder
        self.tolerance = tolerance
        self.judged = judged
        self.reason = reason
    }

    /// Nil for a run without a baseline.
    init?(of run: String) {
        let path = RunDirectory.joined(run, RunDirectory.FileName.baseline)
        guard let bytes = try? File.contents(of: path, bytesMax: Self.bytesMax), let node = JSONNode(bytes),
            let folder = node["folder"]?.text, let reason = node["reason"],
            let judged = node["judged"]?.list({ $0.text.flatMap(LatencyMetric.init(rawValue:)) }),
            let tolerance = node["max_regression_per_million"]?.integer(Int64.self), tolerance >= 0
        else { return nil }
        self.init(
            folder: folder, tolerance: tolerance, judged: judged,
            reason: reason.text.flatMap(ExitReason.init(rawValue:)))
    }

    var bytes: [UInt8] {
        JSONValue.object([
            "schema": .integer(JSONOutput.schema), "folder": .string(self.folder),
            "max_regression_per_million": .integer(self.tolerance),
            "judged": .array(self.judged.map { .string($0.rawValue) }),
            "reason": self.reason.map { .string($0.rawValue) } ?? .null,
        ]).document
    }

    /// Compares a run again. Nil, and a warning, if the baseline can no longer be read.
    func comparison(with run: PastRun, _ console: Console) -> RunComparison? {
        do {
            let base = try ReportCommand.figures(self.folder)
            return RunComparison(base: base, new: run, tolerance: self.tolerance, judged: self.judged)
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            console.error("warning: the page has no comparison with the baseline: \(reason)")
            return nil
        }
    }
}
