import JSON
import Ledger
import Metrics
import Observations
import RunJudge
import RunMetrics
import SimBase
import SystemIO
import Talaria

/// Reads `evidence.ndjson`, as `EvidenceWriter` wrote it. What is not a record of it makes the file unreadable: a merge is exact
/// or is none.
struct EvidenceReader {
    let head: RunHead
    /// Without the operations that were open at the end.
    private var table: MetricTable
    /// By group; the last ones are those of the fleet.
    private(set) var disconnections: [Disconnections]
    private var errors: [[ErrorSummary.Row]]
    private var width = RunTimeline.widthFirst
    private var until = Instant.zero
    private var windows: [TimelineWindow] = []
    private var faults: [FaultTimeline]
    private(set) var streamsOpen: GaugeSeries?
    private(set) var controls: [ControlRecord] = []
    private(set) var lanes: [PhoneTimeline] = []
    private var sets: [SeriesLog.Entry] = []
    private var histograms: [(metric: LatencyMetric, group: String?, histogram: HDRHistogram)] = []
    private var endedAt = Instant.zero
    private(set) var heardAt = Instant.zero
    /// Those of the result, exactly: `summary.json` has milliseconds.
    private(set) var length = Interval.zero
    private(set) var drained: Interval?
    private var fleet = FleetEvidence()
    private var hasFleet = false
    private var coverage: [Int] = []
    private var regions = RegionSummary(captures: 0, regions: 0, complete: 0)
    private var skipped = SkippedWork()
    private var waiting: [WaitingRecord] = []
    private var targetJobs: [TargetJobOwner] = []
    private(set) var remarks: [Remark] = []
    /// The sizes of other files of the run, in bytes.
    private(set) var sizes: [String: Int] = [:]
    /// Those of the other files of the run, by their names.
    private var digests: [String: String] = [:]
    /// That of the records, as the last line has it; nil before that line.
    private var digest: String?
    private let observations: ObservationReader

    /// The files whose digests are in the evidence.
    static let sealedNames = [
        RunDirectory.FileName.head, RunDirectory.FileName.scenario, RunDirectory.FileName.summary,
    ]

    /// Nil if the file is not there, is not whole, or is of another shard or another run.
    init?(folder: String, head: RunHead) {
        self.head = head
        self.table = head.table
        self.disconnections = Array(repeating: Disconnections(), count: head.groups.count + 1)
        self.errors = Array(repeating: [], count: head.groups.count + 1)
        self.faults = Array(repeating: FaultTimeline(), count: head.faults.count)
        self.observations = ObservationReader(faults: head.faults)
        let path = RunDirectory.joined(folder, RunDirectory.FileName.evidence)
        guard var lines = LineReader(path: path) else { return nil }
        var isFirst = true
        var records: [UInt8] = []
        while let bytes = lines.next() {
            guard self.digest == nil, lines.isWhole, let line = JSONNode(Array(bytes)) else { return nil }
            if isFirst {
                guard line["evidence"]?.integer == EvidenceWriter.schema,
                    line["shard"]?.text == head.shard.description,
                    line["started_ms"]?.integer(Int64.self) == head.started,
                    let ended = line["ended"]?.nanoseconds(0), let heard = line["heard"]?.nanoseconds(0),
                    let length = line["length"]?.nanoseconds(0)
                else { return nil }
                self.endedAt = Instant(nanoseconds: ended)
                self.heardAt = Instant(nanoseconds: heard)
                self.length = Interval(nanoseconds: length)
                self.drained = line["drained"]?.nanoseconds(0).map { Interval(nanoseconds: $0) }
                for member in line["files"]?.members ?? [] { self.sizes[member.key] = member.value.count }
                isFirst = false
            } else {
                guard self.read(line, bytes) else { return nil }
            }
            if self.digest == nil { records += bytes + [UInt8(ascii: "\n")] }
        }
        guard self.digest == SHA256.hexadecimal(of: records), self.addMetrics() else { return nil }
    }

    /// The first of the files in this folder that is not the one that this evidence was written for; nil where all are.
    func foreignFile(in folder: String) -> String? {
        Self.sealedNames.first { name in
            let path = RunDirectory.joined(folder, name)
            let bytes = try? File.contents(of: path, bytesMax: InputFile.documentBytesMax)
            return bytes.map { SHA256.hexadecimal(of: $0) } != self.digests[name]
        }
    }

    var evidence: ShardEvidence {
        ShardEvidence(
            endedAt: self.endedAt, heardAt: self.heardAt, fleet: self.hasFleet ? self.fleet : nil,
            coverage: self.coverage,
            regions: self.regions,
            skipped: self.skipped, waiting: self.waiting, targetJobs: self.targetJobs)
    }

    /// The metrics of the whole run. `end`: the last observation of all shards, until which operations that were open grew older.
    func metrics(until end: Instant) -> MetricTable {
        var table = self.table
        for entry in self.sets {
            guard let open = entry.open else { continue }
            var set = MetricSet()
            for metric in LatencyMetric.allCases {
                let unfinished = open.set.unfinished(metric)
                guard !unfinished.isEmpty else { continue }
                set.add(
                    Unfinished(count: unfinished.count, oldest: unfinished.oldest + (end - open.at)),
                    to: metric)
            }
            let index = entry.group.flatMap { name in self.head.groups.firstIndex { $0.name == name } }
            table.add(set, in: index.map { MetricGroup(index: $0) } ?? .none)
        }
        return table
    }

    var timeline: RunTimeline {
        RunTimeline(
            width: self.width, windows: self.windows,
            errors: ErrorSummary(self.errors[self.head.groups.count]), faults: self.faults,
            phones: self.lanes.map(\.mark), until: self.until)
    }

    func errors(ofGroup group: Int) -> ErrorSummary { ErrorSummary(self.errors[group]) }

    // MARK: Records

    private mutating func read(_ line: JSONNode, _ bytes: ArraySlice<UInt8>) -> Bool {
        // Observations have fields of all names.
        if line["what"] != nil { return self.readObservation(bytes) }
        if line["counts"] != nil, line["loss"] == nil { return self.readMetrics(bytes) }
        if line["histogram"] != nil { return self.readHistogram(line) }
        if line["loss"] != nil { return self.readLoss(line) }
        if line["error"] != nil { return self.readError(line) }
        if line["window"] != nil { return self.readWindow(line) }
        if line["width"] != nil { return self.readWidth(line) }
        if line["phone"] != nil { return self.readPhone(line) }
        if line["fault"] != nil { return self.readFault(line) }
        if let code = line["streams"] {
            self.streamsOpen = code.text.flatMap { GaugeCode.series($0) }
            return self.streamsOpen != nil
        }
        if line["surges"] != nil { return self.readSurges(line) }
        if line["drawn_waits"] != nil { return self.readWaits(line) }
        if line["held"] != nil { return self.readHeld(line) }
        if line["waiting"] != nil { return self.readWaiting(line) }
        if line["job"] != nil { return self.readJob(line) }
        if line["coverage"] != nil {
            self.coverage = line["coverage"]?.elements.compactMap(\.count) ?? []
            return true
        }
        if line["regions"] != nil { return self.readRegions(line) }
        if line["remarks"] != nil {
            guard let remarks = RemarkCoding.remarks(line) else { return false }
            self.remarks = remarks
            return true
        }
        if let numbers = line["skipped"]?.elements.compactMap(\.count), numbers.count == 3 {
            self.skipped = SkippedWork(
                deferred: numbers[0], shutdownsTimedOut: numbers[1], heldBack: numbers[2])
            if let held = line["held_ms"]?.elements.compactMap(\.count), held.count == 2 {
                self.skipped.heldTime = PhoneTime(milliseconds: Int64(held[0]))
                self.skipped.phoneTime = PhoneTime(milliseconds: Int64(held[1]))
            }
            return true
        }
        guard line["end"]?.flag == true, let digest = line["sha256"]?.text else { return false }
        self.digest = digest
        for member in line["digests"]?.members ?? [] { self.digests[member.key] = member.value.text }
        return true
    }

    /// The position in lists by group; the fleet's is the last. Nil for a group that the run does not have.
    private func position(_ line: JSONNode) -> Int? {
        guard let group = line["group"] else { return nil }
        guard let name = group.text else { return group.isNull ? self.head.groups.count : nil }
        return self.head.groups.firstIndex { $0.name == name }
    }

    private mutating func readMetrics(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let entry = SeriesLog.entry(bytes) else { return false }
        self.sets.append(entry)
        return true
    }

    private mutating func readHistogram(_ line: JSONNode) -> Bool {
        guard let metric = line["histogram"]?.text.flatMap({ LatencyMetric(rawValue: $0) }),
            let code = line["code"]?.text,
            let histogram = HistogramCode.histogram(Array(code.utf8)[...])
        else { return false }
        self.histograms.append((metric, line["group"]?.text, histogram))
        return true
    }

    /// The histograms come behind the counts of their sets.
    private mutating func addMetrics() -> Bool {
        for entry in self.sets {
            var set = entry.set
            for (metric, edges) in entry.edges {
                guard
                    let found = self.histograms.first(where: {
                        $0.metric == metric && $0.group == entry.group
                    })?.histogram,
                    found.total == edges.count,
                    let exact = found.exact(minimum: edges.minimum, maximum: edges.maximum, sum: edges.sum)
                else { return false }
                set.add(exact, to: metric)
            }
            let index = entry.group.map { name in self.head.groups.firstIndex { $0.name == name } }
            switch index {
            case nil: self.table.add(set, in: .none)
            case .some(let index?): self.table.add(set, in: MetricGroup(index: index))
            case .some(nil): return false
            }
        }
        return true
    }

    private mutating func readLoss(_ line: JSONNode) -> Bool {
        let counts = line["counts"]?.elements.compactMap(\.count) ?? []
        guard let cause = line["loss"]?.text.flatMap({ LossCause(rawValue: $0) }), counts.count == 4,
            let position = self.position(line)
        else { return false }
        var times = HDRHistogram()
        if let code = line["code"]?.text {
            let edges = line["times"]?.elements.compactMap { $0.integer(Int64.self) } ?? []
            guard edges.count == 2, let sum = line["sum"]?.integer(UInt128.self),
                let exact = HistogramCode.histogram(Array(code.utf8)[...])?.exact(
                    minimum: edges[0], maximum: edges[1], sum: sum)
            else { return false }
            times = exact
        }
        let row = Disconnection(
            cause: cause, count: Int64(counts[0]), resumed: Int64(counts[1]), restarted: Int64(counts[2]),
            gaveUp: Int64(counts[3]), reconnectTime: times)
        self.disconnections[position].add(Disconnections([row]))
        return true
    }

    private mutating func readError(_ line: JSONNode) -> Bool {
        guard let name = line["error"]?.text, let position = self.position(line),
            let family = line["family"]?.text.flatMap({ ErrorFamily(rawValue: $0) }),
            let count = line["count"]?.count, let first = line["first"]?.nanoseconds(0),
            let last = line["last"]?.nanoseconds(0), let device = line["device"]?.integer(UInt32.self),
            let scan = line["scan"]?.integer(UInt32.self)
        else { return false }
        self.errors[position].append(
            ErrorSummary.Row(
                trouble: RunError(family: family, name: name), count: count,
                first: Instant(nanoseconds: first), last: Instant(nanoseconds: last),
                device: DeviceNumber(device), scan: ScanNumber(scan),
                causes: CauseCounts(reading: line["causes"])))
        return true
    }

    // MARK: History

    private mutating func readWidth(_ line: JSONNode) -> Bool {
        guard let width = line["width"]?.nanoseconds(0), width >= RunTimeline.widthFirst.nanoseconds,
            let until = line["until"]?.nanoseconds(0)
        else { return false }
        self.width = Interval(nanoseconds: width)
        self.until = Instant(nanoseconds: until)
        return true
    }

    private mutating func readWindow(_ line: JSONNode) -> Bool {
        let numbers = line["window"]?.elements.compactMap(\.count) ?? []
        let faults = line["faults"]?.elements.compactMap(\.count) ?? []
        guard self.windows.count < RunTimeline.windowsMax, faults.count <= self.head.faults.count,
            let window = TimelineWindow(numbers: numbers, faults: faults)
        else { return false }
        self.windows.append(window)
        return true
    }

    private mutating func readFault(_ line: JSONNode) -> Bool {
        guard let index = line["fault"]?.integer, self.faults.indices.contains(index),
            let count = line["count"]?.count, let spans = line["spans"]?.elements
        else { return false }
        func moment(_ node: JSONNode?) -> Instant? {
            node?.nanoseconds(0).map { Instant(nanoseconds: $0) }
        }
        self.faults[index] = FaultTimeline(
            count: count, first: moment(line["first"]), last: moment(line["last"]),
            spans: spans.compactMap { span in
                moment(span.elements.first).map {
                    .init(from: $0, to: span.elements.count > 1 ? moment(span.elements[1]) : nil)
                }
            })
        return true
    }

    private mutating func readPhone(_ line: JSONNode) -> Bool {
        guard let device = line["phone"]?.integer(UInt32.self), self.lanes.count < EvidenceWriter.phonesMax,
            let numbers = line["numbers"]?.elements.compactMap({ $0.integer(Int64.self) }),
            numbers.allSatisfy({ (0...Int64(JSONNode.countMax)).contains($0) }),
            let mark = PhoneSummary(device: DeviceNumber(device), numbers: numbers)
        else { return false }
        self.lanes.append(PhoneTimeline(mark: mark, leftOut: line["left_out"]?.count ?? 0))
        return true
    }

    private mutating func readObservation(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let observation = self.observations.observation(bytes) else { return false }
        guard !self.lanes.isEmpty else { return self.add(control: observation) }
        guard var lane = self.lanes.popLast(), lane.observations.count < EvidenceWriter.observationsMax
        else { return false }
        lane.add(observation)
        self.lanes.append(lane)
        return true
    }

    private mutating func add(control observation: Observation) -> Bool {
        guard case .control(let action) = observation.what, action.isByOperator,
            self.controls.count < ControlRecord.recordsMax
        else { return false }
        self.controls.append(ControlRecord(at: observation.at, action: action, faults: self.head.faults))
        return true
    }

    // MARK: Checks

    private mutating func readSurges(_ line: JSONNode) -> Bool {
        guard let name = line["surges"]?.text,
            let windows = line["windows"]?.text.flatMap({ SurgeCode.windows($0) })
        else { return false }
        var end: Int64?
        if let from = line["incomplete_from"], !from.isNull {
            guard let number = from.count.map({ Int64($0) }), number > windows.last?.number ?? -1 else {
                return false
            }
            end = number
        }
        let record = SurgeRecord(windows: windows, incompleteFrom: end)
        switch name {
        case "returns": self.fleet.returns = record
        case "drawn": self.fleet.drawn.retries = record
        case "fixed": self.fleet.fixed.retries = record
        default: return false
        }
        self.hasFleet = true
        return true
    }

    private mutating func readWaits(_ line: JSONNode) -> Bool {
        guard let drawn = line["drawn_waits"]?.elements.compactMap(\.count),
            let fixed = line["fixed_waits"]?.elements.compactMap(\.count),
            let drawnSamples = BackoffSamples(numbers: drawn),
            let fixedSamples = BackoffSamples(numbers: fixed)
        else { return false }
        self.fleet.drawn.samples = drawnSamples
        self.fleet.fixed.samples = fixedSamples
        self.fleet.firstFixed = line["first_fixed"]?.integer(UInt32.self).map { DeviceNumber($0) }
        return true
    }

    private mutating func readHeld(_ line: JSONNode) -> Bool {
        let names = line["held"]?.elements ?? []
        self.fleet.held = names.compactMap { $0.text.flatMap { Invariant(rawValue: $0) } }
        return self.fleet.held.count == names.count
    }

    private mutating func readWaiting(_ line: JSONNode) -> Bool {
        guard let cause = line["waiting"]?.text.flatMap({ WaitingCause(rawValue: $0) }),
            let device = line["device"]?.integer(UInt32.self),
            let scan = line["scan"]?.integer(UInt32.self), self.waiting.count < ShardEvidence.waitingMax
        else { return false }
        self.waiting.append(
            WaitingRecord(device: DeviceNumber(device), scan: ScanNumber(scan), cause: cause))
        return true
    }

    private mutating func readJob(_ line: JSONNode) -> Bool {
        guard let digest = line["job"]?.text.flatMap({ UInt64($0, radix: 16) }),
            let device = line["device"]?.integer(UInt32.self),
            let scan = line["scan"]?.integer(UInt32.self),
            self.targetJobs.count < TargetJobOwner.sampleMax
        else { return false }
        self.targetJobs.append(
            TargetJobOwner(digest: digest, device: DeviceNumber(device), scan: ScanNumber(scan)))
        return true
    }

    private mutating func readRegions(_ line: JSONNode) -> Bool {
        let numbers = line["regions"]?.elements.compactMap(\.count) ?? []
        guard numbers.count == 4 else { return false }
        let named = (line["incomplete"]?.elements ?? []).prefix(RegionSummary.namedMax).compactMap { node in
            node["device"]?.integer(UInt32.self).flatMap { device in
                node["text"]?.text.map {
                    RegionSummary.Incomplete(device: DeviceNumber(device), text: $0)
                }
            }
        }
        self.regions = RegionSummary(
            captures: numbers[0], regions: numbers[1], complete: numbers[2], named: named, more: numbers[3])
        return true
    }
}
