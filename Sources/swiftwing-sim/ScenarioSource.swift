import Faults
import Foundation
import Plan
import Reports
import RunArchive
import ScenarioFile

/// A scenario with the file that it came from.
struct LoadedScenario {
    var scenario: Scenario
    var path: String
    var bytes: [UInt8]
}

/// Finds and reads scenarios, and the photos that they name, for the commands.
enum ScenarioSource {
    /// The options that every command with a scenario understands.
    static let options = [
        Option(name: "--seed", value: "N", help: "seed of every random decision (default: the scenario's)"),
        Option(
            name: "--devices", value: "N",
            help: "scale the fleet to N phones, and the arrival rates in proportion"),
        Option(name: "--duration", value: "D", help: "no captures after this time, for example 20s"),
        Option(
            name: "--set", value: "PATH=VALUE", isRepeatable: true, help: "override one value of the scenario"
        ),
    ]

    /// Where bare names are looked for after the current folder.
    static func folders() throws -> [String] {
        ScenarioFinder.folders(executable: try BackendChild.ownPath())
    }

    /// Reads a scenario with the changes that the options ask for.
    static func load(
        _ name: String, _ arguments: Arguments, for purpose: ScenarioCheck.Purpose = .run
    ) throws -> LoadedScenario {
        var loaded = try Self.load(
            path: try Self.find(name), overrides: try Self.overrides(arguments),
            environment: ProcessInfo.processInfo.environment, for: purpose)
        if let devices = try arguments.number("--devices", in: 1...ScenarioLimit.devicesMax) {
            loaded.scenario = loaded.scenario.scaled(devices: devices)
        }
        return loaded
    }

    /// What `--set`, `--seed` and `--duration` change, as `path=value`.
    static func overrides(_ arguments: Arguments) throws -> [String] {
        var overrides = arguments.all("--set")
        if let seed: UInt64 = try arguments.number("--seed", in: 0...(.max)) {
            overrides.append("seed=\(seed)")
        }
        if let duration = arguments["--duration"] { overrides.append("duration=\(duration)") }
        return overrides
    }

    /// Reads a file by its path alone, as a child process does with a resolved scenario.
    static func load(
        path: String, overrides: [String], environment: [String: String],
        for purpose: ScenarioCheck.Purpose = .run
    ) throws -> LoadedScenario {
        let bytes: [UInt8]
        do throws(InputFile.Problem) {
            bytes = try InputFile.contents(of: path, bytesMax: InputFile.documentBytesMax)
        } catch {
            throw CommandFailure(.noInput, "\(error)")
        }
        let scenario = try ScenarioLoader.load(
            path: path, bytes: bytes, overrides: overrides, environment: environment,
            library: .files(
                current: FileManager.default.currentDirectoryPath, folders: (try? Self.folders()) ?? [],
                read: { try? InputFile.contents(of: $0, bytesMax: InputFile.documentBytesMax) }),
            for: purpose)
        return LoadedScenario(scenario: scenario, path: path, bytes: bytes)
    }

    /// The scenario of a server, if the arguments name one, with what no scan would get past said aloud.
    static func served(_ arguments: Arguments, _ console: Console) throws -> Scenario? {
        try arguments.positionals.first.map { name in
            let loaded = try Self.load(name, arguments, for: .serve)
            Self.warn(loaded, for: .serve, console)
            return loaded.scenario
        }
    }

    /// Says on standard error what may be meant and keeps scans from getting through.
    static func warn(
        _ loaded: LoadedScenario, for purpose: ScenarioCheck.Purpose = .run, _ console: Console
    ) {
        for finding in ScenarioCheck.warnings(loaded.scenario, for: purpose) {
            var path = ""
            if case .fault(let index, let key) = finding.subject {
                path = "faults.\(loaded.scenario.faults[index].id).\(key): "
            }
            let help = finding.help.map { " (\($0))" } ?? ""
            console.error("\(loaded.path): warning: \(path)\(finding.message)\(help)")
        }
    }

    static func find(_ name: String) throws -> String {
        do throws(ScenarioFinder.NotFound) {
            return try ScenarioFinder.find(
                name, current: FileManager.default.currentDirectoryPath, folders: (try? Self.folders()) ?? [])
        } catch {
            throw CommandFailure(.noInput, error.text)
        }
    }

    /// The folder of photos, or the photo, that a scenario means: `Images/NAME` in the current folder, beside the
    /// scenario's folder or beside the installed scenarios; a name with a slash may be a path as well.
    static func photoPath(_ name: String, scenarioPath: String) throws -> String {
        if name.contains("/"), FileManager.default.fileExists(atPath: name) { return name }
        let beside = ([URL(filePath: scenarioPath).deletingLastPathComponent().path] + (try Self.folders()))
            .map {
                URL(filePath: $0).deletingLastPathComponent().appending(path: "Images/\(name)").path
            }
        let paths = ["Images/\(name)"] + beside
        guard let found = paths.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw CommandFailure(
                .noInput, "no photos '\(name)'",
                hint: "looked for " + paths.joined(separator: ", "))
        }
        return found
    }
}
