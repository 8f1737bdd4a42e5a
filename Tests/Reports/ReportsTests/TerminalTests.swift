import Ledger
import ReportSamples
import RunJudge
import SimBase
import Testing

@testable import Reports
@testable import RunArchive

@Suite struct TerminalTests {
    private static let samples: [(name: String, result: RunResult)] = [
        ("passed", Samples.passed()), ("failed SLO", Samples.failedSLO()),
        ("broken invariant", Samples.brokenInvariant()), ("interrupted", Samples.interrupted()),
        ("aborted", Samples.aborted()), ("foreign", Samples.foreign()), ("hostile", Samples.hostile()),
    ]

    private static func text(_ result: RunResult) -> String {
        TerminalSummary.text(result, style: .plain)
    }

    /// The first paragraphs: the verdict, the SLOs, the invariants, the scans, …
    private static func head(_ result: RunResult, _ count: Int) -> String {
        var rest = Self.text(result)[...]
        var head = ""
        for _ in 0..<count {
            let end = rest.firstRange(of: "\n\n")?.upperBound ?? rest.endIndex
            head += rest[..<end]
            rest = rest[end...]
        }
        return String(head.dropLast())
    }

    // MARK: Goldens

    @Test func `a run that held looks like this`() {
        #expect(Self.text(Samples.passed()) == TerminalGoldens.passed)
    }

    @Test func `a run against a foreign target says what it cannot know`() {
        #expect(Self.text(Samples.foreign()) == TerminalGoldens.foreign)
    }

    @Test func `a failed SLO is named at the top and marked in its row`() {
        #expect(Self.head(Samples.failedSLO(), 2) == TerminalGoldens.failedSLO)
    }

    @Test func `a broken invariant is named at the top and told with examples`() {
        #expect(Self.head(Samples.brokenInvariant(), 4) == TerminalGoldens.brokenInvariant)
    }

    @Test func `an interrupted run tells what ran`() {
        #expect(Self.head(Samples.interrupted(), 5) == TerminalGoldens.interrupted)
    }

    @Test func `an aborted run says everything that speaks against it`() {
        #expect(Self.head(Samples.aborted(), 1) == TerminalGoldens.aborted)
    }

    @Test func `a narrow terminal without signs gets words and whole lines`() {
        let style = TerminalStyle(columns: 60, isColored: false, isASCII: true)
        #expect(TerminalSummary.text(Samples.foreign(), style: style) == TerminalGoldens.foreignNarrow)
    }

    @Test func `a missed limit of scan.time names the command that lists the slow scans`() throws {
        var result = Samples.passed()
        let limits = [Samples.slo("scan.time", "p(95) < 6s"), Samples.slo("scan.time", "p(50) <= 5s")]
        result.slos += limits.compactMap { $0?.evaluate(against: result.metrics) }
        let directory = try #require(result.directory)
        // Without the line breaks of a long command.
        let words = Self.text(result).split { $0.isWhitespace || $0 == "\\" }.joined(separator: " ")
        #expect(words.contains("Slow scans swiftwing-sim inspect \(directory) --slower-than 5s"), "\(words)")
        result.files.removeAll { $0 == "events.ndjson" }
        #expect(!Self.text(result).contains("Slow scans"))
    }

    // MARK: Properties

    @Test(arguments: [40, 53, 80, 132], [false, true])
    func `no line is wider than the terminal`(columns: Int, isASCII: Bool) {
        let style = TerminalStyle(columns: columns, isColored: false, isASCII: isASCII)
        for sample in Self.samples {
            for line in TerminalSummary.text(sample.result, style: style).split(separator: "\n") {
                // A path stays whole, so that it opens, and that a command can be copied.
                let isPath = sample.result.directory.map { line.contains($0) } ?? false
                #expect(isPath || Printable.width(String(line)) <= columns, "\(sample.name): \(line)")
                #expect(!line.hasSuffix(" "), "\(sample.name): \(line)")
                #expect(!isASCII || line.utf8.allSatisfy { $0 < 0x80 }, "\(sample.name): \(line)")
            }
        }
    }

    @Test func `colors change nothing but colors`() throws {
        for sample in Self.samples {
            let colored = TerminalSummary.text(
                sample.result, style: TerminalStyle(columns: 80, isColored: true, isASCII: false))
            #expect(colored != Self.text(sample.result))
            #expect(colored.replacing(try Regex("\u{1B}\\[[0-9;]*m"), with: "") == Self.text(sample.result))
        }
    }

    @Test func `a terminal narrower than anybody can read is taken for wider`() {
        #expect(
            TerminalStyle(columns: 3, isColored: false, isASCII: false).columns == TerminalStyle.columnsMin)
    }

    @Test func `text of a server never reaches the terminal as a control`() {
        let text = Self.text(Samples.hostile())
        #expect(
            !text.unicodeScalars.contains {
                $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value)
            })
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .format })
        #expect(text.utf8.count < 20_000)
    }

    @Test func `a long command is broken in a way that a shell reads as one`() {
        let command = [
            "swiftwing-sim", "run", "flaky-network.scenario", "--set", "fleet.commuters.phones=400",
            "--header", "X-Team: secret", "--seed", "42",
        ]
        #expect(
            Self.text(Samples.passed(command: command)).hasSuffix(
                #"""
                Reproduce with  swiftwing-sim run flaky-network.scenario --set \
                                fleet.commuters.phones=400 --header 'X-Team: (left-out)' \
                                --seed 42

                """#))
    }

    @Test func `the service time stands beside the response time only when they differ by more than a tenth`()
    {
        func shown(service: Int64) -> Bool {
            var result = Samples.interrupted()
            result.metrics.reset()
            result.metrics.record(.uploadTime, .milliseconds(100), in: .none)
            result.metrics.record(.uploadServiceTime, .milliseconds(service), in: .none)
            return Self.text(result).contains("upload.service_time")
        }
        #expect(
            [80, 89, 91, 100, 109, 112].map { shown(service: $0) } == [true, true, false, false, false, true])
    }
}
