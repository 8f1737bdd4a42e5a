import RunDriver
import ScenarioFile
import SystemIO

/// `new`: a commented scenario to begin with.
enum NewCommand {
    static let command = Command(
        name: "new", usage: "NAME",
        summary: "Creates NAME.scenario, a commented starter scenario, in the current folder",
        options: [], positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim new rush-hour",
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
        do throws(SystemError) {
            try File.write(Array(StarterFile.text(name: name).utf8), to: path, .create)
        } catch {
            guard error.code != SystemCode.exists else {
                throw CommandFailure(.cannotWrite, "\(path) already exists", hint: "choose another name")
            }
            throw CommandFailure(.cannotWrite, "cannot write \(path): \(error.reason)")
        }
        console.out("created \(path): try 'swiftwing-sim plan \(name)', then 'swiftwing-sim run \(name)'")
        return .success
    }
}
