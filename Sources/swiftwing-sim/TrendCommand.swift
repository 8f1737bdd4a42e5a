import RunArchive
import RunComparison
import RunDriver
import RunJudge

/// `trend`: several runs of one scenario over time.
enum TrendCommand {
    static let command = Command(
        name: "trend", usage: "RUNDIR...",
        summary: "Shows how the figures of several runs of one scenario change over time",
        options: [
            Option(name: "--html", value: "FILE", help: "write an HTML page with a chart for each latency"),
            Baseline.maxRegression, Baseline.judge, Baseline.differentScenarios, JSONOutput.option, .noColor,
        ],
        positionalsMin: 2, positionalsMax: 200, example: "swiftwing-sim trend Reports/2026-11-*",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let page = try NamedFile.path("--html", .page, arguments)
        let heads = try arguments.positionals.map { try ReportCommand.head(of: $0) }
        for head in heads.dropFirst() {
            try Baseline.requireComparable(
                base: heads[0], world: head.world, scenario: head.scenario.name, arguments)
        }
        // One after the other: of a run only its result is kept.
        var trend = RunTrend(
            try arguments.positionals.map { RunTrend.Run(try ReportCommand.figures($0)) })
        if let (base, new) = trend.lastTwo {
            trend.comparison = RunComparison(
                base: try ReportCommand.figures(base), new: try ReportCommand.figures(new),
                tolerance: try Baseline.tolerance(arguments), judged: try Baseline.judged(arguments))
        }
        if arguments.has(JSONOutput.name) {
            JSONOutput.print(TrendJSON.members(trend), console)
        } else {
            console.out(TrendText.text(trend, style: console.style))
        }
        if let path = page {
            try OutputError.write([(path: path, text: TrendPage.text(trend))])
        }
        return .success
    }
}
