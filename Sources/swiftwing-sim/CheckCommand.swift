import Foundation
import JSON
import RunDriver
import RunJudge
import ScenarioFile

/// `check`: everything that is wrong with scenarios, at once.
enum CheckCommand {
    static let command = Command(
        name: "check", usage: "SCENARIO...",
        summary: "Validates scenarios and prints every error with its line, its column and a fix",
        options: [
            Option(
                name: "--format", value: "text|json",
                help: "output format; json prints one object per error (default: text)"),
            Option(
                name: JSONOutput.name, value: nil,
                help: "print one JSON document: each scenario with its errors and warnings"),
            UnjudgedWithTarget.option, .set, .fault, .noColor,
        ],
        positionalsMin: 1, positionalsMax: 1_000, example: "swiftwing-sim check flaky-network.scenario",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let format = arguments["--format"] ?? "text"
        guard ["text", "json"].contains(format) else {
            throw CommandFailure(.usage, "--format expects text or json, not '\(format)'")
        }
        guard !arguments.has(JSONOutput.name) else {
            guard arguments["--format"] == nil else {
                throw CommandFailure(.usage, "--format cannot be combined with \(JSONOutput.name)")
            }
            return try CheckJSON.run(arguments, console)
        }
        var code = ExitCode.success
        for name in arguments.positionals {
            do {
                let loaded = try ScenarioSource.load(name, arguments, checksPhotos: true)
                ScenarioSource.print(Self.warnings(loaded, arguments), of: loaded, console)
                if format == "text" { console.out("\(loaded.path): ok") }
            } catch let errors as ScenarioErrors {
                code = .badData
                if format == "text" {
                    console.outQuoting(errors.render(color: console.colors, columns: console.tableColumns))
                } else {
                    Self.printJSON(errors, console)
                }
            }
        }
        return code
    }

    /// What `plan` warns of, except of faults that seldom fire: that takes a draw for each fault and capture.
    static func warnings(_ loaded: LoadedScenario, _ arguments: Arguments) -> [String] {
        ScenarioSource.warnings(loaded)
            + PlanWarnings(checking: loaded.scenario, target: UnjudgedWithTarget.target(arguments)).all
    }

    private static func printJSON(_ errors: ScenarioErrors, _ console: Console) {
        for diagnostic in errors.diagnostics {
            console.out(String(decoding: JSON.encode(diagnostic), as: UTF8.self))
        }
        // Not on standard output, where each line is one error with its position.
        if errors.more > 0 { console.error("warning: \(errors.more) more errors are not listed") }
    }
}
