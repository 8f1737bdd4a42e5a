import RunDriver
import ScenarioFile

/// `schema`: the scenario format for editors and for the documentation.
enum SchemaCommand {
    static let command = Command(
        name: "schema", usage: "",
        summary: "Prints the JSON Schema of scenario files, or the documentation of all faults",
        options: [
            Option(name: "--faults", value: nil, help: "print the documentation of all faults as Markdown")
        ],
        positionalsMin: 0, positionalsMax: 0,
        example: "swiftwing-sim schema > scenario.schema.json",
        run: { arguments, console in
            let text = arguments.has("--faults") ? FaultPage.text : ScenarioSchema.text
            console.out(String(text.dropLast()))
            return .success
        })
}
