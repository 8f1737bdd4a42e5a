import Foundation
import JSON
import Ledger
import Metrics
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Testing

@testable import RunArchive

/// Folders of runs that are not shards, such as those of the workers of a test, in one report.
@Suite struct RunMergeTests {
    private let scratch: Scratch

    init() throws { self.scratch = try Scratch() }

    private static func objective(_ metric: String, _ condition: String) throws -> SLO {
        let selector = try MetricSelector(parsing: metric, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false)
    }

    /// A worker with two uploads in each of the first seconds.
    private func worker(
        _ name: String, _ objectives: [SLO], edit: (inout RunHead, inout RunResult) -> Void = { _, _ in }
    ) throws -> PastRun {
        let directory = try RunDirectory.create(
            .exactly(self.scratch.at(name)), log: ObservationLog(isTracing: false, faults: []))
        var head = Samples.head(groups: ["commuters", "readers"])
        var result = Samples.passed()
        result.exitReasons = []
        edit(&head, &result)
        directory.begin(head)
        for second in 0..<Int64(3) {
            var table = head.table
            table.record(.uploadTime, .milliseconds(10), in: MetricGroup(index: 0))
            table.record(.uploadTime, .milliseconds(10), in: MetricGroup(index: 1))
            directory.log(table, from: .zero + .seconds(second), length: .seconds(1), open: nil)
        }
        result.length = .seconds(3)
        result.slos = objectives.map { $0.notKnown }
        _ = try directory.finish(result, RunTimeline(faults: 1))
        return try self.read(name, objectives)
    }

    private func read(_ name: String, _ objectives: [SLO]) throws -> PastRun {
        let path = self.scratch.at(name)
        return try PastRun(
            folder: path, head: try PastRun.head(of: path),
            settings: Samples.settings(objectives: objectives))
    }

    /// Of two workers, each with two a second.
    @Test(arguments: [
        ("count < 4 over 1s", false), ("count < 5 over 1s", true), ("count > 3 over 1s", true),
        ("count > 4 over 1s", false), ("p(95) < 20ms over 1s", true), ("p(95) < 5ms over 1s", false),
    ]) func `windows of runs that count time from one moment are judged by their sum`(
        condition: String, isHeld: Bool
    ) throws {
        let slos = [try Self.objective("upload.time", condition)]
        let workers = [try self.worker("a", slos), try self.worker("b", slos)]
        let result = try #require(
            try PastRun.merged(workers, Samples.settings(objectives: slos))?.result)
        #expect(result.slos.map(\.passed) == [isHeld])
        #expect(result.slos.first?.part?.judged == 3)
        #expect(!result.notes.contains { $0.contains("no series of one time") })
    }

    @Test(arguments: ["another start", "the virtual world", "no series"])
    func `windows of runs that share no series are not judged`(difference: String) throws {
        let slos = [try Self.objective("upload.time", "count < 5 over 1s")]
        let first = try self.worker("a", slos) { head, _ in
            if difference == "the virtual world" { head.world = .virtual }
        }
        let second = try self.worker("b", slos) { head, _ in
            if difference == "another start" { head.started += 1 }
            if difference == "the virtual world" { head.world = .virtual }
        }
        if difference == "no series" {
            try FileManager.default.removeItem(atPath: self.scratch.at("b/series.ndjson"))
        }
        let result = try #require(
            try PastRun.merged([first, second], Samples.settings(objectives: slos))?.result)
        #expect(result.slos.map(\.passed) == [nil])
        #expect(result.notes.contains { $0.contains("no series of one time") })
    }

    @Test func `runs of two versions of the program are not merged`() throws {
        let runs = [
            try self.worker("a", []),
            try self.worker("b", []) { head, _ in head.tool = "swiftwing-sim 0.9.0" },
        ]
        let error = #expect(throws: MergeProblem.self) {
            try PastRun.merged(runs, Samples.settings())
        }
        #expect(
            error
                == .runsDiffer(
                    "the version of the program", first: self.scratch.at("a"), second: self.scratch.at("b")))
    }

    @Test func `runs with other prices are not merged`() throws {
        let runs = [try self.worker("a", []), try self.worker("b", [])]
        var settings = Samples.settings()
        settings.ledger.prices = BookPrices()
        let path = self.scratch.at("b")
        let priced = try PastRun(folder: path, head: try PastRun.head(of: path), settings: settings)
        let error = #expect(throws: MergeProblem.self) {
            try PastRun.merged([runs[0], priced], settings)
        }
        #expect(error == .runsDiffer("the prices", first: self.scratch.at("a"), second: path))
        #expect(try PastRun.merged(runs, settings) != nil)
    }

    @Test(arguments: [("scan.custody", "scan.magic"), ("upload.time", "upload.mood")])
    func `a run with something that this program does not know is not merged`(
        known: String, unknown: String
    ) throws {
        let runs = [try self.worker("a", []), try self.worker("b", [])]
        let path = self.scratch.at("b/summary.json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("\"\(known)\""))
        try text.replacing("\"\(known)\"", with: "\"\(unknown)\"").write(
            toFile: path, atomically: true, encoding: .utf8)
        let other = try self.read("b", [])
        let error = #expect(throws: MergeProblem.self) {
            try PastRun.merged([runs[0], other], Samples.settings())
        }
        #expect(error == .otherVersion(self.scratch.at("b"), id: unknown))
    }

    /// What was read of a run does not show what it broke: it ended with 97 all the same.
    @Test func `a merge is never greener than a run that ended with 97`() throws {
        let runs = [
            try self.worker("a", []),
            try self.worker("b", []) { _, result in result.exitReasons = [.invariantBroken] },
        ]
        #expect(runs[1].result.verdicts.allSatisfy { $0.standing != .broken })
        #expect(try PastRun.merged(runs, Samples.settings())?.result.exit == .invariantBroken)
        #expect(try PastRun.merged([runs[0], runs[0]], Samples.settings())?.result.exit == .success)
    }
}
