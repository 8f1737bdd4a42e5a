import Foundation
import JSON
import Ledger
import Metrics
import Observations
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Testing

@testable import RunArchive

/// What a shard hands over, and whose it is.
@Suite struct EvidenceFileTests {
    private let scratch: Scratch

    init() throws { self.scratch = try Scratch() }

    private static func head(_ started: Int64 = Samples.started) -> RunHead {
        var head = Samples.head(groups: ["commuters", "readers"])
        head.shard = FleetShard(index: 1, count: 3)
        head.started = started
        return head
    }

    private static func evidence(_ fleet: FleetEvidence) -> ShardEvidence {
        ShardEvidence(
            endedAt: .zero + .seconds(9), heardAt: .zero + .seconds(9), fleet: fleet, coverage: [1, 2],
            regions: RegionSummary(captures: 0, regions: 0, complete: 0), skipped: SkippedWork(),
            waiting: [WaitingRecord(device: DeviceNumber(4), scan: ScanNumber(2), cause: .offline)],
            targetJobs: [TargetJobOwner(digest: .max - 7, device: DeviceNumber(4), scan: ScanNumber(2))])
    }

    private static let controls = [
        ControlRecord(at: .zero + .seconds(3), action: .fault(0), faults: Self.head().faults),
        ControlRecord(
            at: .zero + .seconds(4), action: .phones(group: "commuters", active: 7, phones: 12)),
    ]

    /// Those that a merge keeps.
    private static let remarks: [Remark] = [
        .load(.timersLate(.backend, milliseconds: -1)), .load(.photosLate(milliseconds: 1_001)),
        .load(.descriptorsExhausted(connections: 2)),
        .load(.resendsBlocked(3)), .load(.devicesUsedBefore(phones: 4, option: "--state")),
        .start(.photoSkipped("a\u{1}\"b/c\": no JPEG")), .start(.photosRejected(5)),
        .start(.stateShortfall("a")), .start(.stateOfOtherSeed(.max, run: 7)), .start(.stateWithoutManifest),
        .start(.stateLinesSkipped(8)), .start(.stateWritesTorn(9)),
        .start(.recordsLost(LostRecords(["phone 1 scan 2"], more: 3), areBooksKnown: true)),
        .start(.planOfLiveRun(broke: "a", subject: "")), .end(.interruptedBeforeCaptures),
        .end(.endedWithoutReport), .end(.worldFailed(at: 10, events: ["a", "b"])),
        .end(.notReproduced(by: "a", savedBy: "b", digest: "c", events: 11)),
        .end(.linkNotUpdated("a", reason: "b")), .end(.logFull(bytes: .max)), .end(.eventsOmitted(12)),
        .end(.digest("4a9d1d6c228513d8", events: .max)), .end(.phonesLeftOut(13)), .quoted(.note, "𝄞"),
        .end(.exported(exported(trouble: nil))), .end(.exported(exported(trouble: "status 503"))),
    ]

    private static func exported(trouble: String?) -> ExportSummary {
        var export = ExportSummary(url: "http://127.0.0.1:4318")
        (export.exported, export.dropped, export.hasMetrics, export.trouble) = (14, 15, true, trouble)
        return export
    }

    /// Files that it creates itself, or that only it has.
    private static let ofMerges: [Remark] = [
        .load(.controlled), .load(.capturesSkipped(1)), .end(.judgedWhenMerged),
        .end(.regions(RegionSummary(captures: 2, regions: 3, complete: 1))), .merge(.seriesNotWhole),
    ]

    private static var streams: GaugeSeries {
        var series = GaugeSeries()
        for number in 0..<9 {
            let until = Instant.zero + .milliseconds(Int64(number) * 1_001 + 7)
            series.add(least: number, most: 3 * number, upTo: until)
        }
        return series
    }

    private func write(_ evidence: ShardEvidence, sizes: [(name: String, bytes: Int)]) throws -> Int {
        var result = Samples.passed()
        result.controls = Self.controls
        result.remarks = Self.ofMerges + Self.remarks
        result.streamsOpen = Self.streams
        for (index, group) in result.groups.enumerated() {
            group.totals.record(into: &result.metrics, group: MetricGroup(index: index))
        }
        let writer = EvidenceWriter(Self.head(), result, RunTimeline(faults: 1), evidence)
        let records = writer.records(lanes: writer.lanes(folder: self.scratch.at("run")), sizes: sizes)
        let bytes = EvidenceWriter.sealed(records, files: Self.files)
        try FileManager.default.createDirectory(
            atPath: self.scratch.at("run"), withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: self.scratch.at("run/evidence.ndjson")))
        for file in Self.files {
            try Data(file.bytes).write(to: URL(filePath: self.scratch.at("run/\(file.name)")))
        }
        return bytes.count
    }

    private static let files = EvidenceReader.sealedNames.map { ReportFile(name: $0, bytes: Array($0.utf8)) }

    @Test func `remarks are read as they were written`() throws {
        _ = try self.write(Self.evidence(FleetEvidence()), sizes: [])
        let reader = try #require(EvidenceReader(folder: self.scratch.at("run"), head: Self.head()))
        #expect(reader.remarks == Self.remarks)
    }

    /// What a merge takes must be whole: each line is counted once.
    @Test func `evidence with a line less, twice or changed is none`() throws {
        _ = try self.write(Self.evidence(FleetEvidence()), sizes: [])
        let path = self.scratch.at("run/evidence.ndjson")
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(EvidenceReader(folder: self.scratch.at("run"), head: Self.head()) != nil)
        #expect(lines.count > 6)
        for index in lines.indices {
            var (less, twice, changed) = (lines, lines, lines)
            less.remove(at: index)
            twice.insert(lines[index], at: index)
            changed[index] = lines[index].replacing(#/[0-9]/#) { _ in "7" }[...]
            for edited in [less, twice, changed] where edited != lines {
                try Data((edited.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
                #expect(
                    EvidenceReader(folder: self.scratch.at("run"), head: Self.head()) == nil, "line \(index)")
            }
        }
    }

    @Test(arguments: EvidenceReader.sealedNames) func `a file of another run does not belong to it`(
        name: String
    ) throws {
        _ = try self.write(Self.evidence(FleetEvidence()), sizes: [])
        let reader = try #require(EvidenceReader(folder: self.scratch.at("run"), head: Self.head()))
        #expect(reader.foreignFile(in: self.scratch.at("run")) == nil)
        try Data("another".utf8).write(to: URL(filePath: self.scratch.at("run/\(name)")))
        #expect(reader.foreignFile(in: self.scratch.at("run")) == name)
        try FileManager.default.removeItem(atPath: self.scratch.at("run/\(name)"))
        #expect(reader.foreignFile(in: self.scratch.at("run")) == name)
    }

    /// Waits of a busy fleet: no two windows are alike.
    private static func busy(_ windows: Int, seed: UInt64) -> SurgeRecord {
        var record = SurgeRecord()
        let random = KeyedRandom(seed: seed)
        for number in 0..<UInt64(windows) {
            let draw = random.draw(.deviceIdentity, number, 1)
            record.change(Int64(number) * 2 + Int64(draw % 2)) {
                $0.begins = Int64(draw % 40) * 85_899_345 + Int64(draw % 9) * 1_431_655
                $0.ends = Int64(draw % 37) * 85_899_345
                $0.came = Int64(draw % 50)
                $0.lastCame = draw % 5 == 0 ? nil : DeviceNumber(UInt32(draw % 18_000))
            }
        }
        return record
    }

    @Test func `evidence is read as it was written`() throws {
        var fleet = FleetEvidence()
        fleet.returns = Self.busy(100, seed: 1)
        fleet.drawn.retries = SurgeRecord(
            windows: Self.busy(5, seed: 2).windows, incompleteFrom: 12)
        fleet.held = [.retryBudget]
        fleet.firstFixed = DeviceNumber(3)
        let evidence = Self.evidence(fleet)
        _ = try self.write(evidence, sizes: [("series.ndjson", 120), ("latency.hlog", 7)])
        let reader = try #require(EvidenceReader(folder: self.scratch.at("run"), head: Self.head()))
        #expect(reader.evidence == evidence)
        #expect(reader.controls == Self.controls && reader.controls.first?.fault != nil)
        #expect(reader.streamsOpen == Self.streams)
        #expect(reader.sizes == ["series.ndjson": 120, "latency.hlog": 7])
        #expect(
            EvidenceReader(folder: self.scratch.at("run"), head: Self.head(Samples.started + 1)) == nil,
            "that of an earlier run in the folder")
    }

    /// With what else it has at most, which is about 350 KB, a file stays below 1 MB.
    @Test func `windows of a busy fleet take no more than 600 KB`() throws {
        var fleet = FleetEvidence()
        for seed in 1...3 as ClosedRange<UInt64> {
            let record = Self.busy(FleetEvidence.windowsMax, seed: seed)
            switch seed {
            case 1: fleet.returns = record
            case 2: fleet.drawn.retries = record
            default: fleet.fixed.retries = record
            }
        }
        let most = try self.write(Self.evidence(fleet.bounded), sizes: [])
        let least = try self.write(Self.evidence(FleetEvidence()), sizes: [])
        #expect(most - least < 600_000, "\(most - least)")
        #expect(EvidenceReader(folder: self.scratch.at("run"), head: Self.head()) != nil)
    }

    @Test(arguments: [
        #""windows":"""#, #""windows":"AAAA""#, #""windows":7"#, #""windows":null"#,
        #""incomplete_from":1,"windows":"#, #""incomplete_from":-4,"windows":"#,
    ]) func `what are no windows is no evidence`(text: String) throws {
        var fleet = FleetEvidence()
        fleet.drawn.retries = Self.busy(9, seed: 3)
        _ = try self.write(Self.evidence(fleet), sizes: [])
        let path = self.scratch.at("run/evidence.ndjson")
        let whole = try String(contentsOfFile: path, encoding: .utf8)
        let pattern =
            text.hasSuffix(":") ? #/("surges":"drawn",)"windows":/# : #/("surges":"drawn",)"windows":"[^"]*"/#
        let edited = whole.replacing(pattern) { "\($0.output.1)\(text)" }
        try #require(edited != whole)
        let records = edited.split(separator: "\n").dropLast().joined(separator: "\n") + "\n"
        try Data(EvidenceWriter.sealed(Array(records.utf8), files: [])).write(to: URL(filePath: path))
        #expect(EvidenceReader(folder: self.scratch.at("run"), head: Self.head()) == nil)
    }

    @Test(arguments: [
        [0, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1], [1, 1], [1, 1, Int64.max], [.max, 1, 1, .max, 1, 1],
    ])
    func `what are no samples is no gauge`(numbers: [Int64]) throws {
        #expect(GaugeCode.series(try #require(PackedNumbers.text(numbers))) == nil)
    }

    @Test func `windows go up, and count what a run can count`() throws {
        let windows = Self.busy(20, seed: 4).windows
        #expect(SurgeCode.windows(try #require(SurgeCode.text(windows))) == windows)
        #expect(SurgeCode.windows(try #require(SurgeCode.text([]))) == [])
        #expect(SurgeCode.windows(try #require(SurgeCode.text([windows[1], windows[0]]))) == nil)
        #expect(SurgeCode.windows(try #require(SurgeCode.text([windows[0], windows[0]]))) == nil)
        var many = windows[0]
        many.came = Int64(JSONNode.countMax) + 1
        #expect(SurgeCode.windows(try #require(SurgeCode.text([many]))) == nil)
    }

    @Test func `a file that is shorter than its shard says is damage`() throws {
        try FileManager.default.createDirectory(
            atPath: self.scratch.at("run"), withIntermediateDirectories: true)
        for name in ["series.ndjson", "latency.hlog"] {
            try Data("12345678".utf8).write(to: URL(filePath: self.scratch.at("run/\(name)")))
        }
        func damage(_ sizes: [String: Int]) -> String? {
            ShardSpans.damage(in: self.scratch.at("run"), sizes: sizes).map {
                "\($0.file): \($0.bytes) of \($0.all)"
            }
        }
        #expect(damage(["series.ndjson": 8, "latency.hlog": 8]) == nil)
        #expect(damage([:]) == nil)
        #expect(damage(["series.ndjson": 8, "latency.hlog": 20]) == "latency.hlog: 8 of 20")
        try FileManager.default.removeItem(atPath: self.scratch.at("run/latency.hlog"))
        #expect(damage(["series.ndjson": 8, "latency.hlog": 20]) == nil, "one that was not collected")
    }

    // MARK: Folders

    @Test func `folders of shards are known by their names`() {
        let names = [
            "1-of-3", "notes.txt", "0-of-3", "10-of-3", "01-of-3", "2-of-3.bak", ".DS_Store", "2-of-3", "2",
        ]
        let shards = RunFolder.shards(among: names)
        #expect(shards.map { RunFolder.name(of: $0) } == ["0-of-3", "1-of-3", "2-of-3"])
    }
}
