import RunDriver
import RunJudge

/// `completion`: scripts with which shells complete command lines. They ask `__complete`.
enum CompletionCommand {
    static let command = Command(
        name: "completion", usage: "bash|zsh|fish",
        summary: "Prints a script with which a shell completes commands, options, scenarios and values",
        options: [], positionalsMin: 1, positionalsMax: 1,
        example: "swiftwing-sim completion bash > swiftwing-sim.bash",
        run: { arguments, console in
            switch arguments.positionals[0] {
            case "bash": console.out(CompletionScript.bash)
            case "zsh": console.out(CompletionScript.zsh)
            case "fish": console.out(CompletionScript.fish)
            case let shell:
                throw CommandFailure.unknown("shell", shell, among: ["bash", "zsh", "fish"])
            }
            return .success
        })

    /// The command that the scripts call. It is in no table, because nobody types it.
    static let question = "__complete"

    /// Prints what the last of the words behind a `--` can become: its form, and the known words, one on a line.
    static func answer(_ words: [String], _ console: Console) -> ExitCode {
        switch Completion.form(of: Array(words.dropFirst())) {
        case .unknown: console.out("words")
        case .file: console.out("files")
        case .folder: console.out("folders")
        case .words(let words): console.out((["words"] + words).joined(separator: "\n"))
        case .scenario:
            console.out("scenario")
            let list = ListCommand.command
            _ = try? list.run(Arguments(["--names"], of: list), console)
        }
        return .success
    }
}
