import RunDriver
import RunJudge
import ScenarioFile
import Talaria

/// `schema`: the formats that this program reads, and the pages of the documentation that are made from its tables.
enum SchemaCommand {
    private static let texts: [(option: Option, text: @Sendable () -> String)] = [
        (.page("--faults", "print the documentation of all faults as Markdown"), { FaultPage.text }),
        (
            .page("--openapi", "print the API of the backend as an OpenAPI 3.1 document in YAML"),
            { OpenAPIDocument.text }
        ),
        (.page("--scenario", "print the reference of scenario files as Markdown"), { ScenarioPage.text }),
        (.page("--metrics", "print the documentation of all metrics as Markdown"), { MetricPage.text }),
        (.page("--links", "print the documentation of all links as Markdown"), { LinkPage.text }),
        (
            .page("--invariants", "print the documentation of all invariants as Markdown"),
            { InvariantPage.text }
        ),
        (
            .page("--exit-codes", "print the documentation of all exit codes as Markdown"),
            { ExitCodePage.text }
        ),
        (
            .page("--client-rules", "print the documentation of the rules for apps as Markdown"),
            { ClientRulePage.text }
        ),
        (.page("--man", "print the manual page (man 1 swiftwing-sim)"), { ManPage.text }),
    ]

    static let command = Command(
        name: "schema", usage: "",
        summary:
            "Prints the JSON Schema of scenario files, the API of the backend, or a page made from the program's tables",
        options: Self.texts.map(\.option), positionalsMin: 0, positionalsMax: 0,
        example: "swiftwing-sim schema > scenario.schema.json",
        run: { arguments, console in
            let asked = Self.texts.filter { arguments.has($0.option.name) }
            guard asked.count < 2 else {
                throw CommandFailure(
                    .usage, "\(asked[0].option.name) cannot be combined with \(asked[1].option.name)",
                    hint: "run: swiftwing-sim schema \(asked[1].option.name)")
            }
            console.out(String((asked.first?.text() ?? ScenarioSchema.text).dropLast()))
            return .success
        })
}

extension Option {
    fileprivate static func page(_ name: String, _ help: String) -> Option {
        Option(name: name, value: nil, help: help)
    }
}
