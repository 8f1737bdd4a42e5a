import RunArchive
import RunComparison
import RunDriver
import RunJudge
import ScenarioFile

/// `compare`: two runs side by side, and whether the second is worse.
enum CompareCommand {
    static let command = Command(
        name: "compare", usage: "BASE NEW",
        summary:
            "Compares the metrics, SLOs and invariants of two runs; exits with 99 on a regression, and with 98 if none is excluded",
        options: [
            Baseline.maxRegression, Baseline.judge, Baseline.differentScenarios,
            Option(name: "--all", value: nil, help: "also print what did not change"),
            Option(name: "--html", value: "FILE", help: "write an HTML page with the charts of both runs"),
            Option(
                name: "--markdown", value: "FILE",
                help: "write the comparison as Markdown, for a pull request"),
            JSONOutput.option, .noColor,
        ],
        positionalsMin: 2, positionalsMax: 2, example: "swiftwing-sim compare Reports/sample Reports/latest",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let page = try NamedFile.path("--html", .page, arguments)
        let markdown = try NamedFile.path("--markdown", .markdown, arguments)
        let tolerance = try Baseline.tolerance(arguments)
        let heads = try arguments.positionals.map { try ReportCommand.head(of: $0) }
        try Baseline.requireComparable(
            base: (heads[0].world, heads[0].scenario.name), world: heads[1].world,
            scenario: heads[1].scenario.name, arguments)
        let runs = try arguments.positionals.map { try ReportCommand.figures($0) }
        let comparison = RunComparison(
            base: runs[0], new: runs[1], tolerance: tolerance, judged: try Baseline.judged(arguments))
        var files: [(path: String, text: String)] = []
        if let path = page {
            files.append((path: path, text: ComparisonPage.text(comparison)))
        }
        if let path = markdown {
            files.append((path: path, text: ComparisonMarkdown.text(comparison)))
        }
        // The verdict is printed even if no file can be written.
        if arguments.has(JSONOutput.name) {
            JSONOutput.print(ComparisonJSON.members(comparison), console)
        } else {
            console.out(
                ComparisonText.text(comparison, style: console.style, isWhole: arguments.has("--all")))
        }
        try OutputError.write(files)
        return comparison.exitReasons.exit
    }
}
