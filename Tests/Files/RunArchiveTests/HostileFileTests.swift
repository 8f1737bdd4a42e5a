import Foundation
import JSON
import Ledger
import Metrics
import Observations
import ReportSamples
import Reports
import RunJudge
import RunMetrics
import SimBase
import SystemIO
import Talaria
import Testing

@testable import RunArchive

/// Files that a person edited, and other things than files at their paths: they are read within bounds, or
/// refused.
@Suite struct HostileFileTests {
    private let scratch: Scratch

    init() throws { self.scratch = try Scratch() }

    /// The folder of a run that came to its end.
    private func folder() throws -> String {
        let directory = try RunDirectory.create(
            .exactly(self.scratch.at("run")), log: ObservationLog(isTracing: false, faults: []))
        directory.begin(Samples.head(groups: ["commuters", "readers"]))
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        return directory.path
    }

    private func read(_ folder: String) throws -> PastRun {
        let head = try PastRun.head(of: folder)
        return try PastRun(
            folder: folder, head: head, settings: Samples.settings())
    }

    // MARK: Numbers

    @Test(arguments: [
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1125899906842625",
    ])
    func `a summary with a count that no run can have is damaged`(number: String) throws {
        let folder = try self.folder()
        let path = folder + "/summary.json"
        _ = try self.read(folder)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let counts = text.matches(of: #/"(?:captured|received|violations|expected|accepted)": (\d+)/#)
        #expect(counts.count > 4)
        for count in counts {
            var edited = text
            edited.replaceSubrange(count.output.1.startIndex..<count.output.1.endIndex, with: number)
            try Data(edited.utf8).write(to: URL(filePath: path))
            #expect(throws: PastRun.Problem.damagedSummary(folder)) { try self.read(folder) }
        }
    }

    @Test(arguments: [
        #"{"t":9223372036854775807,"for_ns":1,"group":null,"counts":{"sse.events":1}}"#,
        #"{"t":1,"for_ns":9223372036854775807,"group":null,"counts":{"sse.events":1}}"#,
        #"{"t":1,"for_ns":1,"group":null,"counts":{"sse.events":9223372036854775807}}"#,
        #"{"t":1,"for_ns":1,"group":null,"rates":{"upload.failed":[1,9223372036854775807]}}"#,
    ]) func `a line of the series with such a number is none`(line: String) {
        #expect(SeriesLog.entry(Array(line.utf8)[...]) == nil)
    }

    @Test func `as many counts as a line may have add up to no trap`() throws {
        let line =
            #"{"t":1,"for_ns":1,"group":null,"counts":{"sse.events":1125899906842624,"http.200":1125899906842624},"#
            + #""rates":{"upload.failed":[1125899906842624,1125899906842624]}}"#
        let folder = try self.folder()
        try Data(String(repeating: line + "\n", count: 9_000).utf8).write(
            to: URL(filePath: folder + "/series.ndjson"))
        let run = try self.read(folder)
        #expect(!run.report.files.isEmpty)
    }

    @Test func `times of the histogram log are within a run's reach`() throws {
        var histogram = HDRHistogram()
        histogram.record(5_000_000, times: Int64(JSONNode.countMax) + 1)
        let line = try #require(
            HistogramLog.line(tag: "upload.time", from: .zero, length: .seconds(1), histogram))
        #expect(HistogramLog.entry(Array(line.utf8.dropLast())[...]) == nil)
        var one = HDRHistogram()
        one.record(5_000_000)
        let good = try #require(HistogramLog.line(tag: "upload.time", from: .zero, length: .seconds(1), one))
        func entry(times: String) -> HistogramLog.Entry? {
            let edited = good.dropLast().replacing(",0.000,1.000,", with: ",\(times),")
            return HistogramLog.entry(Array(edited.utf8)[...])
        }
        #expect(entry(times: "1.000,2.000")?.length == .seconds(2))
        for times in ["999999999999999,1.000", "1.000,999999999999999", "1.000,-1.000"] {
            #expect(entry(times: times) == nil, "\(times)")
        }
    }

    @Test(arguments: [
        #"{"name": "a", "devices": 9223372036854775807}"#, #"{"name": "a", "devices": -1}"#,
        #"{"name": "a", "devices": 1000001}"#,
        #"{"name": "a", "devices": 1000000}, {"name": "b", "devices": 1}"#,
    ]) func `a head with more phones than a fleet has is none`(groups: String) throws {
        let head = String(decoding: Samples.head(groups: []).bytes, as: UTF8.self)
        let edited = head.replacing(#/"groups": \[[^\]]*\]/#, with: "\"groups\": [\(groups)]")
        #expect(RunHead(reading: Array(head.utf8)) != nil)
        #expect(edited != head)
        #expect(RunHead(reading: Array(edited.utf8)) == nil)
    }

    @Test func `an observation counts and lasts within bounds`() {
        let reader = ObservationReader(faults: [])
        func line(_ rest: String) -> ArraySlice<UInt8> {
            Array(#"{"t":1,"device":1,"scan":1,"side":"phone",\#(rest)}"#.utf8)[...]
        }
        #expect(reader.observation(line(#""what":"book-repeated","ordinal":7"#)) != nil)
        #expect(reader.observation(line(#""what":"book-repeated","ordinal":9223372036854775807"#)) == nil)
        #expect(reader.observation(line(#""what":"book-repeated","ordinal":-1"#)) == nil)
        #expect(reader.observation(line(#""what":"completed","took_ns":9223372036854775807"#)) == nil)
    }

    // MARK: What is no file

    @Test func `a pipe, a device and a folder are refused before they are opened`() throws {
        let pipe = self.scratch.at("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero", self.scratch.path] {
            #expect(throws: File.Unreadable.notAFile(path)) {
                try File.contents(of: path, bytesMax: 100)
            }
            #expect(LineReader(path: path) == nil)
        }
        let missing = SystemError(call: "stat /nowhere", code: ENOENT)
        #expect(throws: File.Unreadable.failed("/nowhere", missing)) {
            try File.contents(of: "/nowhere", bytesMax: 100)
        }
    }

    @Test(arguments: ["events.ndjson", "series.ndjson", "latency.hlog"])
    func `a run with a pipe among its logs says so`(name: String) throws {
        let folder = try self.folder()
        try FileManager.default.removeItem(atPath: folder + "/" + name)
        #expect(mkfifo(folder + "/" + name, 0o600) == 0)
        #expect(throws: PastRun.Problem.notAFile(folder + "/" + name)) { try self.read(folder) }
    }

    @Test func `a file above its bound is refused unread`() throws {
        let path = self.scratch.at("large")
        #expect(FileManager.default.createFile(atPath: path, contents: Data("0123456789".utf8)))
        #expect(try File.contents(of: path, bytesMax: 10) == Array("0123456789".utf8))
        #expect(throws: File.Unreadable.tooLarge(path, bytes: 10, bytesMax: 9)) {
            try File.contents(of: path, bytesMax: 9)
        }
        // A hole takes no space.
        #expect(truncate(path, 1 << 40) == 0)
        #expect(
            throws: File.Unreadable.tooLarge(path, bytes: 1 << 40, bytesMax: InputFile.recordingBytesMax)
        ) {
            try File.contents(of: path, bytesMax: InputFile.recordingBytesMax)
        }
    }

    // MARK: Floods

    /// What an event of a server's choice may come to, as often as the server likes.
    private static let little: [PhoneObservation] = [
        .eventIgnored(job: "j", id: nil, name: "message", malformed: false),
        .found(
            ContractFinding(
                operation: .stream, part: "event", path: "event", expected: "an event of the contract",
                seen: "message", excerpt: nil, isDecisive: false, count: 1)),
        .eventApplied(job: "j", id: nil, kind: .bookProgress, latency: nil, replayed: false),
    ]

    @Test(arguments: Self.little.indices)
    func `a phone has so many lines for events that change little, and the rest is counted`(index: Int) throws
    {
        func seen(_ device: UInt32) -> Observation {
            Observation(
                at: .zero, device: DeviceNumber(device), scan: ScanNumber(1),
                what: .phone(Self.little[index]))
        }
        let directory = try RunDirectory.create(
            .exactly(self.scratch.at("flood")), log: ObservationLog(isTracing: false, faults: []))
        directory.begin(Samples.head(groups: ["commuters"]))
        for _ in 0..<(ObservationLog.ignoredMax + 5) { directory.log(seen(1)) }
        directory.log(seen(2))
        directory.log(
            Observation(at: .zero, device: DeviceNumber(1), scan: .none, what: .phone(.suspended)))
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        let lines = try #require(self.scratch.text("flood/events.ndjson")).split(separator: "\n")
        #expect(lines.count == ObservationLog.ignoredMax + 2)
        #expect(directory.remarks == [.end(.eventsOmitted(5))])
    }
}
