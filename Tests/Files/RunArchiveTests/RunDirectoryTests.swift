import Foundation
import Ledger
import Observations
import ReportSamples
import Reports
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import RunArchive

@Suite struct RunDirectoryTests {
    private let scratch: Scratch

    init() throws { self.scratch = try Scratch() }

    private static var log: ObservationLog { ObservationLog(isTracing: false, faults: []) }

    private func dated(_ seed: UInt64) -> RunLocation {
        .dated(
            reports: self.scratch.at("Reports"), started: Samples.started, scenario: "flaky-network",
            seed: seed)
    }

    private static func observation(at seconds: Int64) -> Observation {
        Observation(
            at: .zero + .seconds(seconds), device: DeviceNumber(0), scan: .none, what: .phone(.suspended))
    }

    // MARK: The folder

    @Test func `the newest finished run of a scenario is found`() throws {
        func run(
            _ seed: UInt64, started: Int64, isFinished: Bool = true, of scenario: String = "flaky-network"
        )
            throws -> String
        {
            let directory = try RunDirectory.create(self.dated(seed), log: Self.log)
            var head = Samples.head(groups: ["commuters", "readers"])
            head.started = started
            head.scenario = ScenarioIdentity(name: scenario, description: "", file: [])
            directory.begin(head)
            if isFinished { _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0)) }
            return directory.path
        }
        let reports = self.scratch.at("Reports")
        func newest(except output: String? = nil, world: WorldKind = .live) -> String? {
            PastRun.newest(in: reports, except: output, of: "flaky-network", world: world)
        }
        #expect(newest() == nil)
        let second = try run(1, started: 2_000)
        let third = try run(2, started: 3_000)
        _ = try run(3, started: 1_000)
        _ = try run(4, started: 9_000, isFinished: false)
        _ = try run(5, started: 9_000, of: "outage")
        #expect(newest() == third)
        #expect(newest(except: third) == second)
        #expect(newest(world: .virtual) == nil)
    }

    @Test func `a run leaves its files in a folder named by time, scenario and seed`() throws {
        let directory = try RunDirectory.create(self.dated(42), log: Self.log)
        #expect(directory.path == self.scratch.at("Reports/2026-11-21T093000Z-flaky-network-42"))
        directory.write(scenarioResolved: "scenario: 1\n")
        directory.begin(Samples.head(groups: ["commuters", "readers"]))
        directory.log(Self.observation(at: 1))
        directory.write(plan: "{}\n")
        directory.write(scans: ScanTable())
        let files = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        // A run of all phones hands nothing over.
        #expect(
            files
                == RunDirectory.FileName.all.filter {
                    ![
                        RunDirectory.FileName.evidence, RunDirectory.FileName.baseline,
                        RunDirectory.FileName.progress,
                    ].contains($0)
                })
        let folder = "Reports/2026-11-21T093000Z-flaky-network-42"
        #expect(self.scratch.names(folder) == files.sorted())
        #expect(self.scratch.text(folder + "/scenario.resolved") == "scenario: 1\n")
        #expect(self.scratch.text(folder + "/events.ndjson")?.hasSuffix("\"what\":\"suspended\"}\n") == true)
        #expect(self.scratch.text(folder + "/report.md") == MarkdownReport.text(Samples.passed()))
        #expect(
            self.scratch.text(folder + "/summary.json")
                == String(decoding: SummaryJSON.bytes(Samples.passed()), as: UTF8.self))
        #expect(directory.remarks == [])
    }

    @Test(arguments: [
        ("../../etc/passwd", "..-..-etc-passwd"), ("a b\nc", "a-b-c"), ("é", "--"), ("", ""),
        (String(repeating: "x", count: 300), String(repeating: "x", count: 64)),
    ]) func `no name of a scenario leads out of the reports`(scenario: String, safe: String) {
        #expect(
            RunLocation.name(started: Samples.started, scenario: scenario, seed: .max)
                == "2026-11-21T093000Z-\(safe)-18446744073709551615")
    }

    @Test func `runs of the same second get folders of their own`() throws {
        let names = try (0..<3).map { _ in
            let path = try RunDirectory.create(self.dated(1), log: Self.log).path
            return String(path.dropFirst(self.scratch.at("Reports/").count))
        }
        #expect(
            names == [
                "2026-11-21T093000Z-flaky-network-1", "2026-11-21T093000Z-flaky-network-1-2",
                "2026-11-21T093000Z-flaky-network-1-3",
            ])
    }

    @Test func `a named folder is made with its parents and holds only the newest run`() throws {
        let location = RunLocation.exactly(self.scratch.at("a/b"))
        let first = try RunDirectory.create(location, log: Self.log)
        first.write(scenarioResolved: "first")
        first.log(Self.observation(at: 1))
        _ = try first.finish(Samples.passed(), RunTimeline(faults: 0))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: self.scratch.at("a/b/notes.txt")))
        let second = try RunDirectory.create(location, log: Self.log)
        #expect(second.path == self.scratch.at("a/b"))
        #expect(self.scratch.names("a/b") == (RunDirectory.FileName.growing + ["notes.txt"]).sorted())
        #expect(self.scratch.text("a/b/events.ndjson") == "")
        #expect(self.scratch.names("").contains("latest") == false)
    }

    @Test func `a folder is one run's until its reports are written`() throws {
        let location = RunLocation.exactly(self.scratch.at("run"))
        let first = try RunDirectory.create(location, log: Self.log)
        first.log(Self.observation(at: 1))
        first.flush()
        #expect(FolderLock.isHeld(self.scratch.at("run")))
        let error = #expect(throws: OutputError.self) { try RunDirectory.create(location, log: Self.log) }
        #expect(error?.failures.map(\.reason) == ["another run is writing to this folder"])
        #expect(self.scratch.text("run/events.ndjson")?.isEmpty == false)
        _ = try first.finish(Samples.passed(), RunTimeline(faults: 0))
        #expect(!FolderLock.isHeld(self.scratch.at("run")))
        _ = try RunDirectory.create(location, log: Self.log)
    }

    // MARK: The link

    @Test func `the link names the newest run, relative to itself`() throws {
        let link = self.scratch.at("Reports/latest")
        for seed in [UInt64(1), 2] {
            _ = try RunDirectory.create(self.dated(seed), log: Self.log)
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: link)
                    == "2026-11-21T093000Z-flaky-network-\(seed)")
        }
        #expect(self.scratch.names("Reports/latest") == RunDirectory.FileName.growing.sorted())
        #expect(self.scratch.names("Reports").count == 3, "nothing of the replacing is left over")
    }

    @Test func `a link that leads nowhere is replaced, too`() throws {
        try FileManager.default.createDirectory(
            atPath: self.scratch.at("Reports"), withIntermediateDirectories: true)
        let link = self.scratch.at("Reports/latest")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "gone")
        let directory = try RunDirectory.create(self.dated(1), log: Self.log)
        #expect(directory.remarks == [])
        #expect(self.scratch.names("Reports/latest") == RunDirectory.FileName.growing.sorted())
    }

    @Test func `a folder in the place of the link costs a warning and no run`() throws {
        let taken = self.scratch.at("Reports/latest/mine")
        try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: true)
        let directory = try RunDirectory.create(self.dated(1), log: Self.log)
        guard case .end(.linkNotUpdated(let link, _))? = directory.remarks.first else {
            Issue.record("\(directory.remarks)")
            return
        }
        #expect(directory.remarks.count == 1 && link.hasSuffix("Reports/latest"))
        #expect(self.scratch.names("Reports") == ["2026-11-21T093000Z-flaky-network-1", "latest"])
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        let folder = "Reports/2026-11-21T093000Z-flaky-network-1"
        #expect(self.scratch.text(folder + "/report.md")?.contains("could not be updated") == true)
    }

    // MARK: As the run goes

    @Test func `a killed run leaves all but its last second`() throws {
        let directory = try RunDirectory.create(self.dated(1), log: Self.log)
        let folder = "Reports/2026-11-21T093000Z-flaky-network-1"
        directory.write(scenarioResolved: "scenario: 1\n")
        #expect(self.scratch.text(folder + "/scenario.resolved") == "scenario: 1\n")
        for second in [Int64(0), 1, 1, 2] { directory.log(Self.observation(at: second)) }
        #expect(self.scratch.text(folder + "/events.ndjson")?.count { $0 == "\n" } == 4)
        directory.log(Self.observation(at: 2))
        #expect(self.scratch.text(folder + "/events.ndjson")?.count { $0 == "\n" } == 4)
        directory.flush()
        #expect(self.scratch.text(folder + "/events.ndjson")?.count { $0 == "\n" } == 5)
    }

    @Test func `of a run that was killed no objective is called held`() throws {
        let directory = try RunDirectory.create(.exactly(self.scratch.at("killed")), log: Self.log)
        directory.begin(Samples.head(groups: ["commuters", "readers"]))
        directory.log(Self.observation(at: 0))
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        try FileManager.default.removeItem(atPath: self.scratch.at("killed/summary.json"))
        let slos = Samples.passed().slos.map(\.slo)
        let run = try PastRun(
            folder: directory.path, head: try PastRun.head(of: directory.path),
            settings: Samples.settings(objectives: slos))
        #expect(run.wasCutOff)
        let lost = try #require(
            run.result.slos.first { $0.slo.selector.metric == .count(.scansLost) })
        #expect(lost.passed == nil && !lost.isNotKnown, "the value is known, and nobody judges it")
        #expect(run.result.slos.allSatisfy { $0.passed == nil })
    }

    @Test func `a log that is full ends between lines and says so in the reports`() throws {
        let line = try #require(
            {
                var log = Self.log; return log.line(Self.observation(at: 0))
            }())
        let directory = try RunDirectory.create(
            .exactly(self.scratch.at("full")), log: Self.log, eventBytesMax: line.count * 2 + 5)
        for _ in 0..<9 { directory.log(Self.observation(at: 0)) }
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        #expect(self.scratch.text("full/events.ndjson")?.utf8.count == line.count * 2)
        #expect(
            directory.remarks == [.end(.logFull(bytes: line.count * 2 + 5))])
        #expect(self.scratch.text("full/report.md")?.contains("events.ndjson is full") == true)
    }

    // MARK: What cannot be written

    @Test func `a folder that cannot be made is an error with the system's words`() throws {
        try Data().write(to: URL(fileURLWithPath: self.scratch.at("file")))
        for location in [
            RunLocation.exactly(self.scratch.at("file/below")),
            .dated(reports: self.scratch.at("file"), started: 0, scenario: "x", seed: 1),
        ] {
            let error = #expect(throws: OutputError.self) { try RunDirectory.create(location, log: Self.log) }
            #expect(error?.saved == [])
            #expect(error?.failures.count == 1)
            #expect(error?.description.hasPrefix("cannot write to \(self.scratch.at("file"))") == true)
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `a full disk costs the log, not the reports`() throws {
        try FileManager.default.createDirectory(
            atPath: self.scratch.at("full"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: self.scratch.at("full/events.ndjson"), withDestinationPath: "/dev/full")
        let directory = try RunDirectory.create(.exactly(self.scratch.at("full")), log: Self.log)
        for _ in 0..<3 { directory.log(Self.observation(at: 5)) }
        let error = #expect(throws: OutputError.self) {
            try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        }
        #expect(
            error
                == OutputError(
                    failures: [
                        .init(path: self.scratch.at("full/events.ndjson"), reason: "No space left on device")
                    ],
                    saved: [
                        "report.html", "summary.json", "report.md", "junit.xml", "metrics.prom",
                        "latency.hlog", "series.ndjson",
                    ]))
        let complaint = "cannot write to \(self.scratch.at("full")): No space left on device (events.ndjson)"
        #expect(error?.description == complaint)
        #expect(directory.takeTrouble() == complaint, "told as soon as it is known")
        #expect(directory.takeTrouble() == nil, "and once")
        // The result was a pass.
        let summary = try #require(self.scratch.text("full/summary.json"))
        #expect(summary.contains(#""exit": 74"#) && summary.contains(#""passed": false"#), "\(summary)")
        #expect(summary.contains("No space left on device"))
        #expect(self.scratch.text("full/report.html")?.contains("No space left on device") == true)
        #expect(self.scratch.text("full/report.md")?.contains("No space left on device") == true)
        #expect(self.scratch.text("full/junit.xml")?.contains("No space left on device") == true)
        #expect(self.scratch.text("full/metrics.prom")?.contains("run_passed{") == true)
        #expect(self.scratch.text("full/metrics.prom")?.contains("world=\"live\"} 74") == true)
    }

    @Test(arguments: ["run.json", "scenario.resolved", "events.ndjson", "series.ndjson", "latency.hlog"])
    func `a file that was taken away during the run is missed`(name: String) throws {
        let directory = try RunDirectory.create(.exactly(self.scratch.at("run")), log: Self.log)
        directory.write(scenarioResolved: "scenario: 1\n")
        directory.begin(Samples.head(groups: ["commuters"]))
        directory.log(Self.observation(at: 5))
        directory.flush()
        try FileManager.default.removeItem(atPath: self.scratch.at("run/\(name)"))
        let error = #expect(throws: OutputError.self) {
            try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        }
        #expect(error?.failures.map(\.path) == [self.scratch.at("run/\(name)")])
        #expect(error?.saved.contains(name) == false)
        #expect(self.scratch.text("run/summary.json")?.contains(#""exit": 74"#) == true)
    }

    @Test func `a report that cannot be written does not cost the others`() throws {
        let directory = try RunDirectory.create(.exactly(self.scratch.at("run")), log: Self.log)
        try FileManager.default.createDirectory(
            atPath: self.scratch.at("run/summary.json/in-the-way"), withIntermediateDirectories: true)
        let error = #expect(throws: OutputError.self) {
            try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        }
        #expect(error?.failures.map(\.path) == [self.scratch.at("run/summary.json")])
        #expect(
            error?.saved == [
                "report.html", "report.md", "junit.xml", "metrics.prom", "events.ndjson", "latency.hlog",
                "series.ndjson",
            ])
        #expect(
            error?.description
                == "cannot write to \(self.scratch.at("run")): Is a directory (summary.json)")
        // It was written before the failure was known.
        #expect(self.scratch.text("run/junit.xml")?.contains("Is a directory") == true)
        #expect(self.scratch.names("run").allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test func `reports that are written anew for another result say nothing else`() throws {
        let directory = try RunDirectory.create(.exactly(self.scratch.at("run")), log: Self.log)
        var result = Samples.passed()
        result.files = try directory.finish(result, RunTimeline(faults: 0))
        result.failOutput(
            OutputError(failures: [.init(path: "standard output", reason: "no room")], saved: []).description)
        directory.rewrite(result, RunTimeline(faults: 0))
        #expect(self.scratch.text("run/summary.json")?.contains(#""exit": 74"#) == true)
        #expect(self.scratch.text("run/junit.xml")?.contains("standard output: no room") == true)
    }

    @Test func `many failures are one short line`() {
        let names = ["events.ndjson", "summary.json", "report.md"]
        let failures = names.map { OutputError.Failure(path: "Reports/x/\($0)", reason: "no room") }
        #expect(
            OutputError(failures: failures, saved: []).description
                == "cannot write to Reports/x: no room (events.ndjson and 2 more)")
        #expect(
            OutputError(failures: [.init(path: "Reports/x", reason: "no room")], saved: []).description
                == "cannot write to Reports/x: no room")
        let elsewhere = OutputError.Failure(path: "plan.json", reason: "read-only")
        #expect(
            OutputError(failures: [elsewhere] + failures, saved: []).description
                == "cannot write to plan.json: read-only (and 3 more)")
    }
}
