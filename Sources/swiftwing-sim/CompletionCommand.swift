import RunDriver
import RunJudge

/// `completion`: scripts with which shells complete command lines, made from the table of commands.
enum CompletionCommand {
    private static let shells = ["bash", "zsh", "fish"]

    static let command = Command(
        name: "completion", usage: "bash|zsh|fish",
        summary: "Prints a script with which a shell completes commands, options, scenarios and values",
        options: [], positionalsMin: 1, positionalsMax: 1,
        example: "swiftwing-sim completion bash > swiftwing-sim.bash",
        run: { arguments, console in
            switch arguments.positionals[0] {
            case "bash": console.out(BashCompletion.text)
            case "zsh": console.out(ZshCompletion.text)
            case "fish": console.out(FishCompletion.text)
            default: throw CommandFailure.unknown("shell", arguments.positionals[0], among: Self.shells)
            }
            return .success
        })
}
