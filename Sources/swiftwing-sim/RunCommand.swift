import Foundation

/// `run`: the live run.
enum RunCommand {
    static let command = Command(
        name: "run", usage: "SCENARIO",
        summary: "Runs a scenario live: phones, backend, faults, verdict and report",
        options: ScenarioSource.options + [
            Option(
                name: "--target", value: "URL",
                help: "against a backend on loopback instead of the simulated one"),
            Option(
                name: "--state", value: "DIR",
                help:
                    "keep the phones' storage there: device ids, queues, library; a later run goes on from it"
            ),
            Option(
                name: "--threads", value: "N",
                help: "share the phones out to N threads instead of as many as suit the machine's cores"),
            Option(name: "--output", value: "DIR", help: "write the report to exactly this folder"),
            Option(
                name: "--trace", value: nil, help: "also write pings and progress events to events.ndjson"),
            Option(name: "--quiet", value: nil, help: "no progress line"),
            Option(name: "--no-color", value: nil, help: "plain text"),
        ],
        positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim run flaky-network.scenario",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        if arguments.has("--no-color") { console.withoutColors() }
        let request = RunRequest(
            loaded: try ScenarioSource.load(arguments.positionals[0], arguments),
            target: try arguments["--target"].map { try TargetURL($0) },
            stateFolder: arguments["--state"], output: arguments["--output"],
            threads: try arguments.number("--threads", in: 1...256), isTraced: arguments.has("--trace"),
            isQuiet: arguments.has("--quiet"), command: Self.command(arguments))
        let preparation = try RunPreparation(request) { shelves in
            if !request.isQuiet {
                console.progress("painting \(shelves.count) \(shelves.count == 1 ? "shelf" : "shelves")")
            }
            defer { console.clearProgress() }
            return try Easel.paint(shelves)
        }
        defer { preparation.state.removeIfTemporary() }
        return try LiveRun(preparation, console: console).run()
    }

    /// The words that run it again: the same scenario and changes, with the seed spelled out.
    private static func command(_ arguments: Arguments) -> [String] {
        var words = ["swiftwing-sim", "run", arguments.positionals[0]]
        for name in ["--devices", "--duration", "--target"] {
            if let value = arguments[name] { words += [name, value] }
        }
        for change in arguments.all("--set") { words += ["--set", change] }
        return words
    }
}
