import Foundation
import JSON
import Ledger
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

/// What distinguishes a run from others of its scenario is in every report: the target, and the tags of
/// `--tag`.
@Suite struct LabelTests {
    private static let target = "http://127.0.0.1:8080"

    private static func labels(_ tags: [String] = ["build=1432", "branch=fix/queue"]) throws -> RunLabels {
        RunLabels(target: Self.target, tags: try RunTag.list(parsing: tags))
    }

    private static func result(_ labels: RunLabels) -> RunResult {
        var result = Samples.foreign()
        result.labels = labels
        return result
    }

    private static func head(_ labels: RunLabels) -> RunHead {
        var head = Samples.head(groups: ["commuters", "readers"])
        head.labels = labels
        return head
    }

    // MARK: Reports

    @Test func `how the target was spoken to stands in every report and in the head`() throws {
        var labels = try Self.labels()
        for decision in SpokenHTTP.Decision.allCases {
            for version in SpokenHTTP.Version.allCases {
                labels.http = SpokenHTTP(version, by: decision)
                #expect(RunHead(reading: Self.head(labels).bytes)?.labels == labels)
            }
        }
        let words = SpokenHTTP(.http2, by: .alpn).text
        labels.http = SpokenHTTP(.http2, by: .alpn)
        let result = Self.result(labels)
        let report = RunReport(result, RunTimeline(faults: 0), folders: [])
        #expect(TerminalSummary.text(result, style: .plain).contains(" · \(words) · "))
        #expect(MarkdownReport.text(report).contains("`\(words)`"))
        #expect(HTMLPage(report).header.text.contains(words))
        #expect(HTMLPage(report).environment.body.text.contains(words))
        #expect(OpenMetrics.text(result).contains(",http=\"2\",http_by=\"alpn\","))
        #expect(JUnitReport.text(result).contains("<property name=\"http\" value=\"\(words)\"/>"))
        let summary = JSONNode(SummaryJSON.bytes(result))
        #expect(summary?["http"]?["version"]?.text == "2" && summary?["http"]?["by"]?.text == "alpn")
        labels.http = SpokenHTTP(.http1, by: .option)
        #expect(
            RunLabels.differences(base: result.labels, new: labels) == [
                "HTTP/2 in BASE, HTTP/1.1 in NEW"
            ])
    }

    @Test func `the target and the tags stand in every report`() throws {
        let result = Self.result(try Self.labels())
        let report = RunReport(result, RunTimeline(faults: 0), folders: [])
        for file in report.files {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for word in [Self.target, "build", "1432", "branch", "fix/queue"] {
                #expect(text.contains(word), "\(file.name): \(word)")
            }
        }
        #expect(
            TerminalSummary.text(result, style: .plain).contains(
                "\n  target \(Self.target) · branch=fix/queue · build=1432\n"))
        #expect(
            MarkdownReport.text(report).contains(
                "\n`target \(Self.target)`, `branch=fix/queue`, `build=1432`\n"))
        let page = HTMLPage(report)
        let line = "<p class=\"about\">target \(Self.target) · branch=fix/queue · build=1432</p>"
        #expect(page.header.text.contains(line))
        #expect(page.environment.body.text.contains("tag build"))
        #expect(
            OpenMetrics.text(result).contains(
                ",target=\"\(Self.target)\",tag_branch=\"fix/queue\",tag_build=\"1432\"} 1\n"))
        let junit = JUnitReport.text(result)
        #expect(junit.contains("<property name=\"target\" value=\"\(Self.target)\"/>"))
        #expect(junit.contains("<property name=\"tag.build\" value=\"1432\"/>"))
        // The schema of JUnit wants them before the first case of a suite.
        #expect(junit.contains("\">\n    <properties>\n"))
        let summary = try #require(JSONNode(SummaryJSON.bytes(result)))
        #expect(summary["target"]?.text == Self.target)
        #expect(summary["tags"]?.members.map(\.key) == ["branch", "build"])
        #expect(summary["tags"]?["build"]?.text == "1432")
    }

    @Test func `a run without labels says nothing of them`() throws {
        let result = Samples.passed()
        let report = RunReport(result, RunTimeline(faults: 0), folders: [])
        for file in report.files where file.name != RunDirectory.FileName.summary {
            let text = String(decoding: file.bytes, as: UTF8.self)
            #expect(!text.contains("<properties>") && !text.contains("target="), "\(file.name)")
        }
        let summary = String(decoding: SummaryJSON.bytes(result), as: UTF8.self)
        #expect(summary.contains("\"target\": null") && summary.contains("\"tags\": {}"))
    }

    @Test func `a tag is text in every format`() throws {
        let text = RunReport(
            Self.result(try Self.labels([#"note=<b>"a" & 'b'|`c`\@all"#])), RunTimeline(faults: 0),
            folders: [])
        #expect(!HTMLPage(text).text.contains("<b>\"a\""))
        #expect(JUnitReport.text(text.result).contains("value=\"&lt;b&gt;"))
        #expect(OpenMetrics.text(text.result).contains(#"tag_note="<b>\"a\" & 'b'|`c`\\@all""#))
        #expect(MarkdownReport.text(text).contains("`note=<b>\"a\" & 'b'\\|'c'\\@all`"))
    }

    // MARK: run.json

    @Test func `labels come back from the folder of a run`() throws {
        let head = Self.head(try Self.labels())
        #expect(RunHead(reading: head.bytes) == head)
        #expect(!String(decoding: Samples.head(groups: []).bytes, as: UTF8.self).contains("\"tags\""))
    }

    @Test func `a run of an earlier version names its target in its command`() {
        var head = Self.head(RunLabels())
        head.command = ["swiftwing-sim", "run", "staging-smoke", "--target", Self.target + "/?key=1"]
        #expect(RunHead(reading: head.bytes)?.labels == RunLabels(target: Self.target + "/"))
        head.command = ["swiftwing-sim", "run", "staging-smoke", "--target"]
        #expect(RunHead(reading: head.bytes)?.labels == RunLabels())
    }

    @Test func `what is no tag is left out`() throws {
        let head = String(decoding: Self.head(try Self.labels(["build=1"])).bytes, as: UTF8.self)
        let many = (0..<40).map { "\"k\($0)\": \"v\"" }.joined(separator: ", ")
        for (tags, kept) in [
            (#"{"build": "1", "a b": "1", "x": 7, "y": "\u001b[2J", "z": ""}"#, 1), ("[1]", 0),
            ("{\(many)}", RunTag.countMax),
        ] {
            let edited = head.replacing(#/"tags": \{[^}]*\}/#, with: "\"tags\": \(tags)")
            #expect(edited != head)
            #expect(RunHead(reading: Array(edited.utf8))?.labels.tags.count == kept)
        }
    }

    @Test func `a target has no user, no password and no query`() {
        for (text, shown) in [
            ("https://me:secret@host:8443/v3?token=secret#secret", "https://host:8443/v3"),
            ("http://a@b@host", "http://host"), ("http://host/a@b", "http://host/a@b"),
            ("http://host?@secret", "http://host"), ("\u{1B}[2Jhost\u{202E}", "[2Jhost"),
        ] {
            #expect(RunLabels(target: text).target == shown)
        }
    }

    // MARK: Several runs

    @Test func `shards share the labels that agree`() throws {
        let scratch = try Scratch()
        func shard(_ name: String, _ labels: RunLabels) throws -> PastRun {
            let directory = try RunDirectory.create(
                .exactly(scratch.at(name)), log: ObservationLog(isTracing: false, faults: []))
            let head = Self.head(labels)
            directory.begin(head)
            _ = try directory.finish(Self.result(labels), RunTimeline(faults: 0))
            return try PastRun(
                folder: directory.path, head: try PastRun.head(of: directory.path),
                settings: Samples.settings())
        }
        let first = try shard("a", Self.labels(["build=1432", "shard=1"]))
        #expect(try first.report.result.labels == Self.labels(["build=1432", "shard=1"]))
        let second = try shard("b", Self.labels(["build=1432", "shard=2"]))
        let merged = try #require(try PastRun.merged([first, second], Samples.settings()))
        #expect(try merged.result.labels == Self.labels(["build=1432"]))
        let other = try shard("c", RunLabels(target: "http://127.0.0.1:9090"))
        let mixed = try #require(try PastRun.merged([first, other, first], Samples.settings()))
        #expect(mixed.result.labels == RunLabels())
        #expect(mixed.result.notes.contains("the runs used 2 different backends"))
    }

    // MARK: --tag

    @Test func `a tag that would not reach every report as it is is refused`() throws {
        func problem(_ texts: String...) -> RunTag.Problem? {
            do {
                _ = try RunTag.list(parsing: texts)
                return nil
            } catch {
                return error
            }
        }
        for good in ["a=1", "Build_2=a=b c", "b=" + String(repeating: "x", count: 200), "note=書"] {
            #expect(problem(good) == nil, "\(good)")
        }
        #expect(problem("build") == .noPair("build"))
        for key in ["", "1a", "_a", "a b", "a-b", "a.b", "ä", "a\n", String(repeating: "k", count: 33)] {
            #expect(problem(key + "=1") == .badKey(key), "\(key)")
        }
        #expect(problem("build=") == .noValue(key: "build"))
        for value in [
            "a\nb", "\u{1B}[2J", "a\0b", "\u{202E}a", "a\u{9B}b", " a", "a ",
            String(repeating: "x", count: 201),
        ] {
            #expect(problem("build=" + value) == .badValue(key: "build"), "\(value)")
        }
        #expect(problem("a=1", "b=1", "a=2") == .twice(key: "a"))
        #expect(RunTag.Problem.noPair("\u{1B}[2J").description == "expects KEY=VALUE, not '[2J'")
        let many = (0..<21).map { "k\($0)=v" }
        #expect(throws: RunTag.Problem.tooMany(21)) { try RunTag.list(parsing: many) }
        #expect(try RunTag.list(parsing: Array(many.dropLast())).count == 20)
        #expect(try RunTag.list(parsing: ["ci=https://me:pw@host/7"])[0].value == "https://(left-out)@host/7")
    }
}
