import RunDriver
import RunJudge

/// Options as other load tools call them, for the hint of an error.
enum ForeignOption {
    private static let names: [(words: Set<String>, ours: String)] = [
        // k6 and Gatling; curl-like tools count connections or requests.
        (["--vus", "-u", "--users", "-n", "-c", "--connections", "--count"], "--phones"),
        (["-d", "-t", "--time", "--run-time"], "--duration"),
        (["-o", "--out", "--report"], "--output"),
        (["-r", "--rate", "--rps", "--spawn-rate"], "--max-rate"),
        (["-H", "--host"], "--target"), (["-q"], "--quiet"), (["-v", "--verbose"], "--trace"),
        (["-s"], "--seed"),
    ]

    /// An option that the command does not have.
    static func failure(_ name: String, of command: Command) -> CommandFailure {
        let known = command.options.map(\.name)
        if let ours = self.names.first(where: { $0.words.contains(name) && known.contains($0.ours) })?.ours {
            return CommandFailure(.usage, "unknown option '\(name)'", hint: "did you mean '\(ours)'?")
        }
        if name == "--summary-export", known.contains("--output") {
            return CommandFailure(
                .usage, "unknown option '\(name)'",
                hint: "every run writes summary.json to its folder, which --output names")
        }
        if ["--iterations", "-i"].contains(name), known.contains("--set") {
            return CommandFailure(
                .usage, "unknown option '\(name)'",
                hint: "the number of scans is in the scenario: --set fleet.GROUP.scans=N")
        }
        if ["--stage", "--stages"].contains(name), known.contains("--set") {
            return CommandFailure(
                .usage, "unknown option '\(name)'",
                hint:
                    "stages are in the scenario: --set 'fleet.GROUP.arrivals=[{ramp: 1/s..20/s, over: 60s}]'")
        }
        if let owner = Command.all.first(where: { $0.options.contains { $0.name == name } }) {
            return CommandFailure(
                .usage, "'\(command.name)' has no option '\(name)'",
                hint: "'swiftwing-sim \(owner.name)' has it: see 'swiftwing-sim \(owner.name) --help'")
        }
        return .unknown("option", name, among: known, help: "\(command.name) --help")
    }
}
