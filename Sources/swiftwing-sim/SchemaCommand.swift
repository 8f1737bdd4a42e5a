import RunDriver
import ScenarioFile
import Talaria

/// `schema`: the formats that this program reads, for editors, other tools and the documentation.
enum SchemaCommand {
    static let command = Command(
        name: "schema", usage: "",
        summary:
            "Prints the JSON Schema of scenario files, all faults, or the API of the backend",
        options: [
            Option(name: "--faults", value: nil, help: "print the documentation of all faults as Markdown"),
            Option(
                name: "--openapi", value: nil,
                help: "print the API of the backend as an OpenAPI 3.1 document in YAML"),
        ],
        positionalsMin: 0, positionalsMax: 0,
        example: "swiftwing-sim schema > scenario.schema.json",
        run: { arguments, console in
            if arguments.has("--faults"), arguments.has("--openapi") {
                throw CommandFailure(
                    .usage, "--faults cannot be combined with --openapi",
                    hint: "run: swiftwing-sim schema --openapi")
            }
            let text =
                arguments.has("--faults")
                ? FaultPage.text : arguments.has("--openapi") ? OpenAPIDocument.text : ScenarioSchema.text
            console.out(String(text.dropLast()))
            return .success
        })
}
