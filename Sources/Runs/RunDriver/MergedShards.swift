package import Plan
package import RunArchive
package import RunJudge
import RunSetup
import SystemIO

/// Puts the shards of a run together from their folders.
package enum MergedShards {
    /// Returns the report of the whole run. `folders`: at least one.
    package static func report(of folders: [(path: String, head: RunHead)]) throws -> RunReport {
        let head = folders[0].head
        let settings = JudgeSettings(
            mergingShardsOf: try Self.plan(of: folders[0].path, head), world: head.world,
            hasBackendView: head.hasBackendView)
        do {
            guard let report = try ShardSet(folders, settings: settings).report else {
                throw CommandFailure(.internalError, "nothing was merged")
            }
            return report
        } catch let problem as ShardSet.Problem {
            throw CommandFailure(.badData, "\(problem)")
        } catch let problem as PastRun.Problem {
            throw CommandFailure(.badData, "\(problem)")
        }
    }

    /// The plan of the whole fleet, of the scenario as it ran.
    package static func plan(of folder: String, _ head: RunHead) throws -> RunPlan {
        let path = RunDirectory.joined(folder, RunDirectory.FileName.scenario)
        guard FileTree.exists(path) else {
            throw CommandFailure(.badData, "\(folder) has no \(RunDirectory.FileName.scenario)")
        }
        var scenario = try LoadedScenario(path: path, overrides: [], environment: [:]).scenario
        scenario.seed = head.seed
        return RunPlan(scenario, target: head.hasBackendView ? .embedded : .foreign)
    }
}
