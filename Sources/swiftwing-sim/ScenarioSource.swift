import Faults
import Foundation
import Plan
import RunDriver
import RunJudge
import ScenarioFile

/// Finds and reads scenarios for the commands.
enum ScenarioSource {
    /// The options that every command with a scenario understands.
    static let options = [
        .seed,
        Option(
            name: "--phones", formerName: "--devices", value: "N",
            help: "scale the fleet to N phones, and the arrival rates in proportion"),
        Option(name: "--duration", value: "D", help: "no captures after this time, for example 20s"),
        .set, .fault,
    ]

    /// Reads a scenario with the changes that the options request. `checksPhotos`: photos that are not there are errors of the
    /// scenario, as for a run that would read them.
    static func load(
        _ name: String, _ arguments: Arguments, for purpose: ScenarioCheck.Purpose = .run,
        checksPhotos: Bool = false
    ) throws -> LoadedScenario {
        let path = try Self.find(name)
        try PlanOptions.requireScenario(path, command: arguments.command)
        var loaded = try LoadedScenario(
            path: path, overrides: try Self.overrides(arguments),
            environment: ProcessInfo.processInfo.environment, for: purpose, checksPhotos: checksPhotos)
        if let devices = try arguments.number("--phones", in: 1...ScenarioLimit.devicesMax) {
            loaded.scenario = loaded.scenario.scaled(devices: devices)
        }
        return loaded
    }

    /// Returns the changes of `--set`, `--seed` and `--duration`, as `path=value`.
    static func overrides(_ arguments: Arguments) throws -> [String] {
        var overrides = arguments.all("--set")
        if let seed: UInt64 = try arguments.number("--seed", in: 0...(.max)) {
            overrides.append("seed=\(seed)")
        }
        if let duration = arguments["--duration"] { overrides.append("duration=\(duration)") }
        return overrides
    }

    /// The scenario of a server, with what no scan would get past said aloud.
    static func served(_ arguments: Arguments, _ console: Console) throws -> Scenario {
        guard let name = arguments.positionals.first else { return try .servedByDefault(arguments) }
        let loaded = try Self.load(name, arguments, for: .serve)
        Self.warn(loaded, for: .serve, console)
        return loaded.scenario
    }

    /// Prints warnings about faults that block scans and may be intended.
    static func warn(
        _ loaded: LoadedScenario, for purpose: ScenarioCheck.Purpose = .run, _ console: Console
    ) {
        Self.print(Self.warnings(loaded, for: purpose), of: loaded, console)
    }

    static func print(_ warnings: [String], of loaded: LoadedScenario, _ console: Console) {
        for warning in warnings { console.error("\(loaded.path): warning: \(warning)") }
    }

    static func warnings(
        _ loaded: LoadedScenario, for purpose: ScenarioCheck.Purpose = .run
    ) -> [String] {
        ScenarioCheck.warnings(loaded.scenario, for: purpose).map { finding in
            let path = Self.path(of: finding.subject, in: loaded.scenario).map { "\($0): " } ?? ""
            let help = finding.help.map { " (\($0))" } ?? ""
            return "\(path)\(finding.message)\(help)"
        }
    }

    /// Returns the path of a finding, as `--set` takes it; nil for one about the whole scenario.
    private static func path(of subject: ScenarioFinding.Subject, in scenario: Scenario) -> String? {
        switch subject {
        case .scenario: nil
        case .group(let index, let key): "fleet.\(scenario.groups[index].name).\(key)"
        case .server(let key): "server.\(key)"
        case .fault(let index, let key): "faults.\(scenario.faults[index].id).\(key)"
        }
    }

    static func find(_ name: String) throws -> String {
        do throws(ScenarioFinder.NotFound) {
            return try ScenarioFinder.find(
                name, current: FileManager.default.currentDirectoryPath,
                folders: (try? LoadedScenario.folders()) ?? [])
        } catch {
            throw CommandFailure(.noInput, error.text)
        }
    }
}
