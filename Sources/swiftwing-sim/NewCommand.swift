import Foundation
import RunArchive
import RunDriver
import RunJudge
import ScenarioFile
import SystemIO

/// `new`: a commented scenario to begin with, and the schema by which an editor checks it.
enum NewCommand {
    private static let from = "--from"

    static let command = Command(
        name: "new", usage: "NAME",
        summary: "Creates NAME.scenario, a commented starter scenario, and its schema in the current folder",
        options: [
            Option(
                name: Self.from, value: "SCENARIO",
                help: "begin with a copy of this scenario, for example flaky-network")
        ],
        positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim new rush-hour",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let word = arguments.positionals[0]
        let name =
            word.hasSuffix(ScenarioFinder.suffix) ? String(word.dropLast(ScenarioFinder.suffix.count)) : word
        guard StarterFile.accepts(name: name) else {
            throw CommandFailure(
                .usage, "invalid scenario name '\(word)'",
                hint: "a name has at most 64 characters: letters, digits, '-', '_' and '.'")
        }
        let path = name + ScenarioFinder.suffix
        let text =
            try arguments[Self.from].map { try Self.copy(of: $0, name: name) } ?? StarterFile.text(name: name)
        let hidden = try? ScenarioSource.find(name)
        do throws(SystemError) {
            try File.write(Array(text.utf8), to: path, .create)
        } catch {
            guard error.code != SystemCode.exists else {
                throw CommandFailure(.cannotWrite, "\(path) already exists", hint: "choose another name")
            }
            throw CommandFailure(.cannotWrite, "cannot write \(path): \(error.reason)")
        }
        let hasSchema = Self.writeSchema(console)
        console.out(
            "created \(path)\(hasSchema ? " and \(StarterFile.schemaName)" : ""): try 'swiftwing-sim plan \(name)', then 'swiftwing-sim run \(name)'"
        )
        if let hidden {
            console.error("warning: in this folder, '\(name)' now means \(path), and no longer \(hidden)")
        }
        return .success
    }

    /// The text of a scenario under another name. What it takes from other files must be found from the current folder as well.
    private static func copy(of scenario: String, name: String) throws -> String {
        let path = try ScenarioSource.find(scenario)
        let bytes = try LoadedScenario.bytes(of: path)
        let text = StarterFile.text(copying: String(decoding: bytes, as: UTF8.self), name: name)
        do {
            _ = try LoadedScenario(
                text: text, path: name + ScenarioFinder.suffix,
                environment: ProcessInfo.processInfo.environment)
        } catch let errors as ScenarioErrors {
            throw CommandFailure(
                .badData,
                "\(scenario) cannot be copied: \(errors.diagnostics.first?.message ?? "it is invalid")",
                hint: "write `extends: \(path)` in a new scenario instead")
        }
        return text
    }

    /// Writes the schema unless there is one. Returns whether it did.
    private static func writeSchema(_ console: Console) -> Bool {
        let schema = Array(ScenarioSchema.text.utf8)
        do throws(SystemError) {
            try File.write(schema, to: StarterFile.schemaName, .create)
            return true
        } catch {
            guard error.code == SystemCode.exists else {
                console.error("warning: cannot write \(StarterFile.schemaName): \(error.reason)")
                return false
            }
            let present = try? File.contents(of: StarterFile.schemaName, bytesMax: InputFile.documentBytesMax)
            if present != schema {
                console.error(
                    "warning: \(StarterFile.schemaName) is of another version; 'swiftwing-sim schema > \(StarterFile.schemaName)' replaces it"
                )
            }
            return false
        }
    }
}
