import RunArchive
import RunDriver
import RunJudge
import ScenarioFile

/// `check --json`: each scenario with all that is wrong with it.
enum CheckJSON {
    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        var code = ExitCode.success
        var scenarios: [JSONValue] = []
        for name in arguments.positionals {
            do {
                let loaded = try ScenarioSource.load(name, arguments, checksPhotos: true)
                scenarios.append(
                    .object([
                        "name": .string(name), "path": .string(loaded.path), "valid": .bool(true),
                        "errors": .array([]), "errors_left_out": .integer(0),
                        "warnings": .array(CheckCommand.warnings(loaded, arguments).map { .string($0) }),
                    ]))
            } catch let errors as ScenarioErrors {
                code = .badData
                scenarios.append(
                    .object([
                        "name": .string(name), "path": .string(try ScenarioSource.find(name)),
                        "valid": .bool(false), "errors": .array(errors.diagnostics.map(Self.error)),
                        "errors_left_out": .integer(errors.more), "warnings": .array([]),
                    ]))
            }
        }
        JSONOutput.print(["scenarios": .array(scenarios)], console)
        return code
    }

    /// `column` and `length` are in Unicode scalars, `column` from 1.
    private static func error(_ diagnostic: Diagnostic) -> JSONValue {
        .object([
            "file": .string(diagnostic.file), "line": .integer(diagnostic.line),
            "column": .integer(diagnostic.column), "length": .integer(diagnostic.caretLength),
            "message": .string(diagnostic.message),
            "help": diagnostic.help.map { .string($0) } ?? .null,
            "source_line": .string(diagnostic.sourceLine),
            "source_offset": .integer(diagnostic.caretOffset),
        ])
    }
}
