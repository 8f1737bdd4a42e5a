import BuiltIn
import Foundation
import Phone
package import Plan
package import RunArchive
import RunJudge
import ScenarioFile
import SystemIO
import Talaria

/// A scenario with the file that it came from.
package struct LoadedScenario {
    package var scenario: Scenario
    package let path: String
    let bytes: [UInt8]

    package init(_ scenario: Scenario, path: String, bytes: [UInt8]) {
        self.scenario = scenario
        self.path = path
        self.bytes = bytes
    }

    /// Returns the bytes of the scenario at a path, which may be built in.
    package static func bytes(of path: String) throws -> [UInt8] {
        if let bytes = BuiltInFiles.contents(of: path) { return bytes }
        return try InputFile.read(path, bytesMax: InputFile.documentBytesMax, hint: nil)
    }

    /// Reads a file by its path alone, as a child process does with a resolved scenario.
    package init(
        path: String, overrides: [String], environment: [String: String],
        for purpose: ScenarioCheck.Purpose = .run, checksPhotos: Bool = false
    ) throws {
        let bytes = try Self.bytes(of: path)
        try self.init(
            path: path, bytes: bytes, overrides: overrides, environment: environment, for: purpose,
            checksPhotos: checksPhotos)
    }

    /// Reads a text as if it were the file of this path.
    package init(text: String, path: String, environment: [String: String]) throws {
        try self.init(
            path: path, bytes: Array(text.utf8), overrides: [], environment: environment, for: .run,
            checksPhotos: true)
    }

    private init(
        path: String, bytes: [UInt8], overrides: [String], environment: [String: String],
        for purpose: ScenarioCheck.Purpose, checksPhotos: Bool
    ) throws {
        self.scenario = try ScenarioLoader.load(
            path: path, bytes: bytes, overrides: overrides, environment: environment,
            library: .files(
                current: FileManager.default.currentDirectoryPath, folders: (try? Self.folders()) ?? [],
                read: { try? File.contents(of: $0, bytesMax: InputFile.documentBytesMax) }),
            for: purpose,
            alsoChecking: { checksPhotos ? Self.missingPhotos($0, scenarioPath: path) : [] })
        self.path = path
        self.bytes = bytes
    }

    /// The folders in which bare names are searched after the current folder.
    package static func folders() throws -> [String] {
        ScenarioFinder.folders(
            executable: try ProgramFile.path(), current: FileManager.default.currentDirectoryPath)
    }

    /// Returns what the groups name in `photos` and is not there, or has no photos.
    private static func missingPhotos(_ scenario: Scenario, scenarioPath: String) -> [ScenarioFinding] {
        scenario.groups.enumerated().flatMap { index, group -> [ScenarioFinding] in
            let names: [String] =
                switch group.photos {
                case .folder(let name): [name]
                case .list(let names): names
                case .painted: []
                }
            guard group.profile.journey.takesPhotos else { return [] }
            return names.compactMap { name in
                do {
                    _ = try Self.photoPath(name, scenarioPath: scenarioPath)
                    return nil
                } catch let failure as CommandFailure {
                    return ScenarioFinding(
                        .group(index, key: "photos"), failure.message, help: failure.hint)
                } catch {
                    return ScenarioFinding(.group(index, key: "photos"), "\(error)", help: nil)
                }
            }
        }
    }

    /// The folder of photos, or the photo, that a scenario means.
    static func photoPath(_ name: String, scenarioPath: String) throws -> String {
        try PhotoFinder(
            scenarioPath: scenarioPath, current: FileManager.default.currentDirectoryPath,
            folders: try Self.folders()
        ).find(name)
    }
}

extension InputFile {
    /// The whole file, for a command. `hint`: what else could be done.
    package static func read(_ path: String, bytesMax: Int, hint: String?) throws(CommandFailure) -> [UInt8] {
        do throws(File.Unreadable) {
            return try File.contents(of: path, bytesMax: bytesMax)
        } catch {
            throw CommandFailure(.noInput, "\(error)", hint: hint)
        }
    }
}
