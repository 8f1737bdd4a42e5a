import Backend
import ClientTrial
import Foundation
import HTTPServer
import LiveServer
import Phone
import Plan
import RunDriver
import RunJudge
import RunSetup
import SimBase

/// The trial of the clients of `serve` and `proxy`: its options, its summary and its exit code.
struct ClientJudge {
    static let options = [
        Option(
            name: "--judge", value: nil,
            help:
                "end with 97 if a client broke a rule of the contract that is not expected, and with 98 if no client made a job"
        ),
        Option(
            name: "--expect-broken", value: "RULE", isRepeatable: true,
            help: "with --judge: this rule must be broken, for example client.last-event-id"),
        Option(
            name: "--profile", value: "NAMES",
            help: "what these profiles are known to break is expected; several are separated by commas"),
        Option(
            name: "--phones", value: "N",
            help: "the number of phones that use the server: more device ids are a broken rule"),
        Option(
            name: "--own-phones", value: nil,
            help: "judge phones of this program as well, which 'run --target' or 'proxy' bring"),
    ]

    private let decides: Bool
    private let isQuiet: Bool
    private let expectations: ClientExpectations

    init(_ arguments: Arguments) throws {
        self.decides = arguments.has("--judge")
        self.isQuiet = arguments.has("--quiet")
        var expectations = ClientExpectations()
        for text in arguments.all("--expect-broken") {
            guard let rule = ClientRule(id: text) else {
                throw CommandFailure.unknown(
                    "rule", text, among: ClientRule.allCases.map(\.id), help: "help client-rules")
            }
            if !expectations.breaks.contains(rule) { expectations.breaks.append(rule) }
        }
        for name in try arguments["--profile"].map(ProfileRuns.names) ?? [] {
            if let profile = ProfileTable.named(name) { expectations.add(profile.profile()) }
        }
        self.expectations = expectations
    }

    func watch(
        _ arguments: Arguments, _ plan: RunPlan, wallClockAtZero: Int64
    ) throws -> ClientWatchConfiguration {
        var rules = ClientTrialSettings()
        rules.photoPart = plan.scenario.server.backend.dialect.photoPart
        rules.allowsOtherParts = rules.photoPart != ClientTrialSettings().photoPart
        rules.allowsTokenInQuery = arguments.has("--browser")
        rules.phones = try arguments.number("--phones", in: 1...1_000_000)
        rules.wallClockAtZero = wallClockAtZero
        return ClientWatchConfiguration(
            rules: rules, followsOwnPhones: arguments.has("--own-phones"), expectations: self.expectations)
    }

    /// Prints the summary: as the result where it decides, and else as the end of the log. Returns the exit code.
    func finish(_ report: ClientReport, wallClockAtZero: Int64, _ console: Console) -> ExitCode {
        let verdict = ClientVerdict(report, self.expectations)
        let summary = ClientSummary(report, self.expectations, wallClockAtZero: wallClockAtZero)
        guard self.decides else {
            guard !report.isEmpty, !self.isQuiet else { return .success }
            for line in summary.lines(columns: nil) + [Self.text(verdict)] {
                console.error(line)
            }
            return .success
        }
        for line in summary.lines(columns: console.tableColumns) { console.out(line) }
        console.outFolded(Self.text(verdict))
        switch verdict {
        case .passed: return .success
        case .broken, .heldUnexpectedly: return .invariantBroken
        case .nothingToJudge: return .untrusted
        }
    }

    private static func text(_ verdict: ClientVerdict) -> String {
        func list(_ rules: [ClientRule]) -> String { rules.map(\.id).joined(separator: ", ") }
        return switch verdict {
        case .passed: "clients PASSED: no rule is broken that is not expected to be"
        case .broken(let rules): "clients FAILED: broken: \(list(rules))"
        case .heldUnexpectedly(let rules):
            "clients FAILED: expected to be broken, and not broken: \(list(rules))"
        case .nothingToJudge: "clients NOT JUDGED: no client made a job"
        }
    }
}

/// What a trial of clients has found, as text.
struct ClientSummary {
    private let report: ClientReport
    private let expectations: ClientExpectations
    private let wallClockAtZero: Int64

    init(_ report: ClientReport, _ expectations: ClientExpectations, wallClockAtZero: Int64) {
        self.report = report
        self.expectations = expectations
        self.wallClockAtZero = wallClockAtZero
    }

    func lines(columns: Int?) -> [String] {
        let head =
            "clients: \(self.report.clients.count), \(self.report.requests) requests, \(self.report.jobs) jobs"
        let broken = self.report.results.filter { $0.breaks > 0 && !$0.rule.isNote }
        let notes = self.report.results.filter { $0.breaks > 0 && $0.rule.isNote }
        let held = self.report.results.filter { $0.breaks == 0 && $0.occasions > 0 }
        let idle = self.report.results.filter { $0.breaks == 0 && $0.occasions == 0 }
        return [head] + (broken + notes).flatMap { self.lines($0, columns: columns) }
            + Self.list("held", held, columns: columns) + Self.list("no occasion", idle, columns: columns)
    }

    private func lines(_ result: ClientReport.Result, columns: Int?) -> [String] {
        let standing =
            self.expectations.covers(result.rule)
            ? "broken as expected" : result.rule.isNote ? "note" : "BROKEN"
        var lines = [
            "  \(standing) \(result.rule.id), \(result.breaks) of \(result.occasions): "
                + "\(result.rule.statement) (contract \(result.rule.source))"
        ]
        if let example = result.example {
            var words = [self.time(example.at)]
            if let request = example.request { words.append(request) }
            if let device = example.device { words.append("device \(device)") }
            if let job = example.job { words.append("job \(job)") }
            lines.append("    first: \(Printable.line(words.joined(separator: " "), bytesMax: 300)):")
            lines.append("      \(Printable.line(example.text, bytesMax: 300))")
        }
        return lines.map { TextFold.text($0, columns: columns) }
    }

    private static func list(
        _ title: String, _ results: [ClientReport.Result], columns: Int?
    ) -> [String] {
        guard !results.isEmpty else { return [] }
        let names = results.map(\.rule.rawValue).joined(separator: ", ")
        return [TextFold.text("  \(title): \(names)", columns: columns)]
    }

    private func time(_ moment: Instant) -> String {
        let wall = self.wallClockAtZero + (moment - Instant.zero).wholeMilliseconds
        return String(Timestamp.iso8601(unixMilliseconds: wall).dropFirst(11))
    }
}
