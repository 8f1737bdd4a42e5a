import Ledger
package import Plan
package import RunArchive
package import RunJudge
import RunSetup
import SimBase
import SystemIO

/// Puts the shards of a run together from their folders.
package enum MergedShards {
    /// The folders of shards that can be read, with their heads, and those that cannot.
    package typealias Folders = (readable: [(path: String, head: RunHead)], unreadable: [String])

    /// Reads the heads of folders. One that is not there or is damaged must not cost the others their verdict.
    package static func folders(_ paths: [String]) -> Folders {
        var folders: Folders = ([], [])
        for path in paths {
            if let head = try? PastRun.head(of: path) {
                folders.readable.append((path: path, head: head))
            } else {
                folders.unreadable.append(path)
            }
        }
        return folders
    }

    /// Returns the report of the whole run. `folders`: at least one can be read.
    package static func report(of folders: Folders) throws -> RunReport {
        try Self.merged(folders, exits: [:]).report
    }

    /// Returns the report of the whole run, and the first of the scans that waited at its end.
    ///
    /// - Parameter folders: At least one can be read.
    /// - Parameter exits: What the processes ended with.
    static func merged(
        _ folders: Folders, exits: [FleetShard: ExitCode]
    ) throws -> (report: RunReport, waiting: [WaitingRecord]) {
        let head = folders.readable[0].head
        let withScenario = folders.readable.first { folder in
            FileTree.exists(RunDirectory.joined(folder.path, RunDirectory.FileName.scenario))
        }
        let settings = JudgeSettings(
            mergingShardsOf: try Self.plan(of: (withScenario ?? folders.readable[0]).path, head),
            world: head.world, hasBackendView: head.hasBackendView)
        do {
            var shards = try ShardSet(folders.readable, settings: settings)
            shards.exits = exits
            shards.unreadable = folders.unreadable
            guard let report = shards.report else {
                throw CommandFailure(.internalError, "nothing was merged")
            }
            return (report, shards.waiting)
        } catch let problem as MergeProblem {
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
