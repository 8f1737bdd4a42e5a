import Foundation
import Plan
import RunArchive
import RunDriver
import RunJudge

/// The folder of `--output`. A run that is already in it is replaced only with `--force`.
enum OutputFolder {
    static let options = [
        Option(
            name: "--output", value: "DIR",
            help: "write the report to this folder (default: a new folder in Reports/)"),
        Option(name: "--force", value: nil, help: "replace the run in the --output folder"),
    ]

    /// Returns the folder of `--output`; nil if the option is missing.
    static func path(_ arguments: Arguments) throws -> String? {
        guard let folder = arguments["--output"] else {
            guard !arguments.has("--force") else {
                throw CommandFailure(.usage, "--force requires --output")
            }
            return nil
        }
        guard !folder.isEmpty else { throw CommandFailure(.usage, "--output needs the path of a folder") }
        try Self.requirePermission(folder, arguments)
        return folder
    }

    /// A new folder in `Reports` for several runs of a scenario.
    static func forSeveral(_ scenario: Scenario, of what: String = "profiles") -> String {
        self.new(scenario, for: what)
    }

    /// A new folder in `Reports` for a search.
    static func forSearch(_ scenario: Scenario) -> String { self.new(scenario, for: "search") }

    private static func new(_ scenario: Scenario, for purpose: String) -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let name = RunLocation.name(started: now, scenario: scenario.name, seed: scenario.seed)
        return "Reports/\(name)-\(purpose)"
    }

    /// Throws if the folder contains a run and `--force` is missing. A folder that another run writes to is refused when the run
    /// locks it.
    private static func requirePermission(_ folder: String, _ arguments: Arguments) throws {
        guard !arguments.has("--force"), RunDirectory.holdsRun(folder), !FolderLock.isHeld(folder) else {
            return
        }
        throw CommandFailure(
            .usage, "\(folder) already contains a run",
            hint: "choose another folder, or replace that run with --force")
    }
}
