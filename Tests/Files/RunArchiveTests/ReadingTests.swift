import Ledger
import Metrics
import Observations
import ReportSamples
import RunJudge
import SimBase
import SimTestSupport
import Talaria
import Testing

@testable import RunArchive

/// What is written is read back, and what is damaged is rejected.
@Suite struct ReadingTests {
    // MARK: Observations

    @Test func `every line of the log is read back as what it was`() throws {
        var log = ObservationLog(isTracing: true, faults: ["rate-limit-1", "reset-1"])
        let reader = ObservationReader(faults: ["rate-limit-1", "reset-1"])
        for payload in ObservationLogTests.payloads {
            let observation = Observation(
                at: Instant(nanoseconds: 1_250_000_007), device: DeviceNumber(7), scan: ScanNumber(2),
                what: payload)
            let written = log.line(observation)
            let line = try #require(written)
            let found = reader.observation(line.dropLast())
            // The log leaves out the small print of books.
            let book = Book(
                title: "T", author: "A", isbn: nil, confidence: nil, enrichmentStatus: .pending, coverUrl: nil
            )
            switch payload {
            case .phone(.bookAdded): #expect(found?.what == .phone(.bookAdded(ordinal: 0, book: book)))
            case .phone(.bookRepeated): #expect(found?.what == .phone(.bookRepeated(ordinal: 0, book: book)))
            default: #expect(found == observation)
            }
        }
    }

    private static let causes: [RefusalCause?] = [
        .answer(.upload, attempt: 2, status: 422, retryable: false),
        .answer(.upload, attempt: 2, status: 422, retryable: nil), .event(job: "j", retryable: true),
        .event(job: "j", retryable: nil), .photo, .storage, .queue, nil,
    ]

    @Test(arguments: Self.causes) func `what a scan was refused for is read back`(cause: RefusalCause?) throws
    {
        var log = ObservationLog(isTracing: false, faults: [])
        let refused = ObservationPayload.phone(.refused(code: "X", cause: cause))
        let written = log.line(
            Observation(at: .zero, device: DeviceNumber(1), scan: ScanNumber(1), what: refused))
        let line = try #require(written)
        #expect(ObservationReader(faults: []).observation(line.dropLast())?.what == refused)
    }

    @Test func `the log of an older version says nothing of the cause`() {
        let line = #"{"t":1,"device":7,"scan":2,"side":"phone","what":"refused","code":"X"}"#
        let seen = ObservationReader(faults: []).observation(Array(line.utf8)[...])
        #expect(seen?.what == .phone(.refused(code: "X", cause: nil)))
    }

    @Test func `what an older version says of a limit is read as it was meant`() {
        let line =
            #"{"t":1,"device":7,"scan":2,"side":"backend","what":"limited","retry_after_ns":5000000000}"#
        let seen = ObservationReader(faults: []).observation(Array(line.utf8)[...])
        #expect(
            seen?.what
                == .backend(
                    .problem(
                        .upload, attempt: 0, status: 429, job: nil, retryable: true,
                        retryAfter: .seconds(5))))
    }

    @Test func `a line that is cut anywhere is no observation`() throws {
        var log = ObservationLog(isTracing: true, faults: [])
        let reader = ObservationReader(faults: [])
        let written = log.line(
            Observation(
                at: .zero, device: DeviceNumber(1), scan: .none,
                what: .phone(.refused(code: "\"\\\u{0}\u{1B}é", cause: .photo))))
        let line = try #require(written)
        for end in 0..<(line.count - 1) { #expect(reader.observation(line[..<end]) == nil, "\(end)") }
        #expect(
            reader.observation(line.dropLast())?.what
                == .phone(.refused(code: "\"\\\u{0}\u{1B}é", cause: .photo)))
    }

    @Test func `a moment that no run can reach is no observation`() throws {
        var log = ObservationLog(isTracing: true, faults: [])
        let reader = ObservationReader(faults: [])
        func line(_ nanoseconds: Int64) throws -> ArraySlice<UInt8> {
            let written = log.line(
                Observation(
                    at: Instant(nanoseconds: nanoseconds), device: DeviceNumber(1), scan: .none,
                    what: .phone(.suspended)))
            return try #require(written).dropLast()
        }
        #expect(reader.observation(try line(86_400_000_000_000)) != nil)
        for moment in [Int64.max, .min, .max / 2] { #expect(reader.observation(try line(moment)) == nil) }
    }

    // MARK: Histograms

    private static func histogram(_ values: [Int64]) -> HDRHistogram {
        var histogram = HDRHistogram()
        for value in values { histogram.record(value) }
        return histogram
    }

    @Test(
        arguments: [
            [], [0], [1_000], [999_999_999, 1, 1, 3_600_000_000_000],
            Array(stride(from: 1, to: 9_000_000, by: 9_973)),
        ] as [[Int64]])
    func `a histogram comes back with every count`(values: [Int64]) throws {
        let histogram = Self.histogram(values)
        let text = try #require(HistogramCode.text(histogram))
        let found = try #require(HistogramCode.histogram(Array(text.utf8)[...]))
        #expect(found.total == histogram.total)
        guard let minimum = histogram.minimum, let maximum = histogram.maximum else { return }
        let exact = HDRHistogram(
            counts: found.countsByIndex, minimum: minimum, maximum: maximum, sum: histogram.sum)
        #expect(exact == histogram)
    }

    @Test func `a damaged histogram is none`() throws {
        let text = Array(try #require(HistogramCode.text(Self.histogram([5, 5_000_000]))).utf8)
        for index in text.indices {
            #expect(HistogramCode.histogram(text[..<index]) == nil)
            var damaged = text
            damaged[index] = damaged[index] == 0x41 ? 0x42 : 0x41
            // One sign changed may still be a histogram of ours; it must not be a trap.
            _ = HistogramCode.histogram(damaged[...])
        }
    }

    @Test func `edges of another histogram are not believed`() {
        let counts = Self.histogram([5_000_000]).countsByIndex
        #expect(HDRHistogram(counts: counts, minimum: 1, maximum: 5_000_000, sum: 5_000_000) == nil)
        #expect(HDRHistogram(counts: counts, minimum: 5_000_000, maximum: 5_000_000, sum: 7_000_000) == nil)
        #expect(
            HDRHistogram(counts: counts, minimum: 5_000_000, maximum: 5_000_000, sum: 5_000_000)
                == Self.histogram([5_000_000]))
    }

    // MARK: Intervals

    @Test func `intervals come back from their files as they were measured`() throws {
        let scratch = try Scratch()
        let head = Samples.head(groups: ["commuters", "readers"])
        let directory = try RunDirectory.create(
            .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: head.faults))
        directory.begin(head)
        var written: [MetricTable] = []
        for second in 0..<3 {
            var table = head.table
            for index in 0...1 where index != second {
                let group = MetricGroup(index: index)
                table.record(.uploadTime, .microseconds(Int64(81_234 + 1_000 * second + index)), in: group)
                table.record(.uploadFailed, failed: second == 1, in: group)
                table.add(7, to: .sseEvents, in: group)
                table.answered(status: 429, in: group)
                table.fired(fault: "offline-1", in: group)
            }
            table.record(.generatorLateness, .microseconds(20), in: .none)
            directory.log(table, from: .zero + .seconds(Int64(second)), length: .seconds(1))
            written.append(table)
        }
        // What the driver counted itself, of the whole run, whatever its length.
        var whole = head.table
        whole.record(.generatorLateness, .microseconds(77), in: .none)
        whole.add(12, to: .arrivalsPlanned, in: .none)
        directory.log(whole, from: .zero, length: .nanoseconds(2_345_678_901))
        written.append(whole)
        let starts: [Int64] = [0, 1, 2, 0]
        var reader = IntervalReader(folder: scratch.at("run"), head: head)
        for (index, table) in written.enumerated() {
            let next = reader.next()
            let moment = try #require(next)
            #expect(moment.from == .zero + .seconds(starts[index]))
            #expect(moment.table == table)
        }
        let end = reader.next()
        #expect(end == nil)
        #expect(reader.skipped == 0)
    }

    @Test func `the figures of a run need no log`() throws {
        let folder = Checkout.root.appending(path: "Reports/sample").path
        let head = try PastRun.head(of: folder)
        func read(needsTimeline: Bool) throws -> RunResult {
            try PastRun(
                folder: folder, head: head, settings: Samples.settings(objectives: []),
                needsTimeline: needsTimeline
            ).result
        }
        let (whole, figures) = (try read(needsTimeline: true), try read(needsTimeline: false))
        #expect(whole.disconnections.losses.count > 1 && whole.errors.count > 1)
        #expect(figures.disconnections.counts == whole.disconnections.counts)
        for (index, group) in whole.groups.enumerated() {
            #expect(
                figures.groups[index].tables.disconnections.counts == group.tables.disconnections.counts)
        }
        #expect(figures.errors.map(\.trouble) == whole.errors.map(\.trouble))
        #expect(figures.errors.map(\.count) == whole.errors.map(\.count))
        #expect(figures.errors.allSatisfy { $0.causes.injected == $0.count }, "faults made all of them")
        #expect(figures.metrics == whole.metrics && figures.totals == whole.totals)
    }

    @Test func `objectives of a run that was killed are shown and not judged`() throws {
        let scratch = try Scratch()
        let head = Samples.head(groups: ["commuters", "readers"])
        // The folder is the run's as long as the value lives.
        func write() throws {
            try RunDirectory.create(
                .exactly(scratch.at("run")), log: ObservationLog(isTracing: false, faults: head.faults)
            ).begin(head)
        }
        try write()
        let selector = try MetricSelector(parsing: "scans.completed", vocabulary: nil)
        let slo = SLO(
            selector: selector, condition: try SLOCondition(parsing: "count > 3", for: .count),
            severity: .error, abort: false)
        let past = try PastRun(
            folder: scratch.at("run"), head: head, settings: Samples.settings(objectives: [slo]))
        #expect(past.wasCutOff && past.result.exit == .interrupted)
        #expect(past.result.slos.map(\.passed) == [nil])
        #expect(past.result.slos.map(\.actual) == ["0"])
    }

    @Test func `what a run knows of itself comes back`() {
        let head = Samples.head(groups: ["a \"quoted\" group", "\u{1B}[31m"])
        #expect(RunHead(reading: head.bytes) == head)
        #expect(RunHead(reading: Array(head.bytes.dropLast(3))) == nil)
        // Virtual runs, and those of earlier versions, name no machine.
        var nowhere = head
        nowhere.machine = nil
        #expect(RunHead(reading: nowhere.bytes) == nowhere)
        // Only a run against a target has a salt.
        var salted = head
        salted.deviceSalt = DeviceSalt(bits: 0xAB)
        #expect(RunHead(reading: salted.bytes) == salted && head.deviceSalt == nil)
        // A trial measures what is else unknown of a target.
        var tried = head
        tried.hasBackendView = false
        #expect(tried.table.histogram(.sseEventLatency, of: .fleet).known == nil)
        tried.isOnTrial = true
        #expect(RunHead(reading: tried.bytes) == tried)
        #expect(tried.table.histogram(.sseEventLatency, of: .fleet).known != nil)
        #expect(tried.table.histogram(.sseEventDelay, of: .fleet).known == nil)
        let text = String(decoding: salted.bytes, as: UTF8.self)
        #expect(text.contains("\"device_salt\": \"00000000000000ab\""))
        #expect(RunHead(reading: Array(text.replacing("00ab\"", with: "pear\"").utf8)) == nil)
    }

    @Test func `what the scenario does to a run comes back, as far as it can be read`() throws {
        var head = Samples.head(groups: ["commuters"])
        let window = RunConditions.Window(from: .zero + .seconds(9), to: .zero + .seconds(13))
        head.conditions = RunConditions(
            faults: [
                .init(id: "reset-1", text: "resets \"the\" connection", expected: 42, window: nil),
                .init(id: "offline-1", text: "takes the network away", expected: nil, window: window),
            ],
            itineraries: [
                .init(
                    groups: ["commuters"],
                    phases: [
                        .init(link: "lte", window: .init(from: .zero, to: window.from)),
                        .init(link: nil, window: window),
                    ])
            ])
        #expect(RunHead(reading: head.bytes) == head)
        // A report explains with it, and judges nothing by it.
        let edited = String(decoding: head.bytes, as: UTF8.self)
            .replacing("\"from_ns\": 9000000000", with: "\"from_ns\": -1")
        let read = try #require(RunHead(reading: Array(edited.utf8)))
        #expect(read.conditions.faults.map(\.window) == [nil, nil])
        #expect(read.conditions.itineraries.map(\.phases.count) == [1])
    }
}
