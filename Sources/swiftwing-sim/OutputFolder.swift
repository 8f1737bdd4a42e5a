import Foundation
import RunArchive

/// The folder of `--output`: a run that it holds already is not replaced unless `--force` says so.
enum OutputFolder {
    static let options = [
        Option(name: "--output", value: "DIR", help: "write the report to exactly this folder"),
        Option(name: "--force", value: nil, help: "replace the run that the folder of --output holds"),
    ]

    /// Where the run is to be written; nil where nothing was said.
    static func path(_ arguments: Arguments) throws -> String? {
        guard let folder = arguments["--output"] else {
            guard !arguments.has("--force") else {
                throw CommandFailure(.usage, "--force is about the folder of --output, and none is named")
            }
            return nil
        }
        guard !folder.isEmpty else { throw CommandFailure(.usage, "--output needs the path of a folder") }
        try Self.requirePermission(folder, arguments)
        return folder
    }

    /// A folder that another run is writing to is refused later, with a message of its own.
    private static func requirePermission(_ folder: String, _ arguments: Arguments) throws {
        guard !arguments.has("--force"), RunDirectory.holdsRun(folder), !FolderLock.isHeld(folder) else {
            return
        }
        throw CommandFailure(
            .usage, "\(folder) holds a run already",
            hint: "name another folder, or replace that run with --force")
    }
}
