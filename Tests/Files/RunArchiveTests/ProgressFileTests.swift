import Observations
import ReportSamples
import Reports
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import RunArchive

@Suite struct ProgressFileTests {
    private let scratch: Scratch

    init() throws { self.scratch = try Scratch() }

    private func run(isTracing: Bool = false) throws -> RunDirectory {
        let directory = try RunDirectory.create(
            .exactly(self.scratch.at("run")), log: ObservationLog(isTracing: isTracing, faults: []))
        directory.begin(Samples.head(groups: ["commuters", "readers"]))
        return directory
    }

    private static func ping(_ phone: Int, at seconds: Int64) -> Observation {
        Observation(
            at: .zero + .seconds(seconds), device: DeviceNumber(UInt32(phone)), scan: ScanNumber(1),
            what: .phone(.ping(id: nil, gap: nil)))
    }

    private static func refused(_ phone: Int, at seconds: Int64) -> Observation {
        Observation(
            at: .zero + .seconds(seconds), device: DeviceNumber(UInt32(phone)), scan: ScanNumber(1),
            what: .phone(.replied(.upload, attempt: 1, status: 503, took: .zero)))
    }

    /// The seconds of the lines of one phone, as `inspect` has them.
    private func seconds(of phone: UInt32) -> [Int64] {
        PhoneLog.story(of: DeviceNumber(phone), folder: self.scratch.at("run"), faults: [])
            .map { $0.at.nanoseconds / 1_000_000_000 }
    }

    @Test func `a phone with a problem has its pings from before and after it`() throws {
        let directory = try self.run()
        for second in 1...3 {
            for phone in 0...2 { directory.log(Self.ping(phone, at: Int64(second))) }
        }
        directory.log(Self.refused(1, at: 4), cause: .target)
        directory.follow(DeviceNumber(2))
        for phone in 0...2 { directory.log(Self.ping(phone, at: 5)) }
        let files = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        #expect(files.contains("progress.ndjson"))
        #expect(self.seconds(of: 0) == [])
        #expect(self.seconds(of: 1) == [1, 2, 3, 4, 5])
        #expect(self.seconds(of: 2) == [1, 2, 3, 5])
        // The log itself, of which reports are made again, is the same as without.
        let log = try #require(self.scratch.text("run/events.ndjson"))
        #expect(log.split(separator: "\n").count == 1 && log.contains("\"status\":503"))
    }

    @Test func `a run without a problem and one that writes all have no such file`() throws {
        for isTracing in [false, true] {
            let directory = try self.run(isTracing: isTracing)
            directory.log(Self.ping(0, at: 1))
            if isTracing { directory.log(Self.refused(0, at: 2), cause: .target) }
            let files = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
            #expect(!files.contains("progress.ndjson"))
            #expect(!self.scratch.names("run").contains("progress.ndjson"))
        }
        #expect(self.seconds(of: 0) == [1, 2])
    }

    @Test func `the lines of a phone are where --trace would have put them`() throws {
        let directory = try self.run()
        // The simulated clock has many observations at one time.
        directory.log(Self.refused(1, at: 1))
        directory.log(Self.ping(1, at: 1))
        directory.log(Self.refused(1, at: 1), cause: .target)
        directory.log(Self.ping(1, at: 1))
        directory.log(Self.refused(1, at: 1))
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        let story = PhoneLog.story(of: DeviceNumber(1), folder: self.scratch.at("run"), faults: [])
        #expect(story.map(\.isRoutine) == [false, true, false, true, false])
        var lines: [String] = []
        PhoneLog.eachLine(of: DeviceNumber(1), folder: self.scratch.at("run")) {
            lines.append(String(decoding: $0, as: UTF8.self))
        }
        #expect(
            lines[1]
                == #"{"t":1000000000,"device":1,"scan":1,"side":"phone","what":"ping","id":null,"gap_ns":null}"#
        )
    }

    @Test func `a phone has at most half of its lines from before its problem, the newest`() throws {
        let (lines, earlier, recent) = (
            ProgressFile.linesMax, ProgressFile.earlierMax, ProgressFile.recentMax
        )
        let directory = try self.run()
        // More than can be remembered, so that the ring has begun again.
        for second in 1...(recent + 100) { directory.log(Self.ping(1, at: Int64(second))) }
        directory.follow(DeviceNumber(1))
        for second in (recent + 101)...(recent + 1_100) { directory.log(Self.ping(1, at: Int64(second))) }
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        let first = recent + 100 - earlier + 1
        #expect(self.seconds(of: 1) == (first..<(first + lines)).map(Int64.init))
        #expect(PhoneLog.progressLimit(of: DeviceNumber(1), folder: self.scratch.at("run")) == lines)
        #expect(PhoneLog.progressLimit(of: DeviceNumber(2), folder: self.scratch.at("run")) == nil)
    }

    @Test func `phones with errors leave room for phones with violations`() throws {
        let most = ProgressFile.phonesMax
        let directory = try self.run()
        for phone in 0..<(3 * most) { directory.log(Self.ping(phone, at: 1)) }
        for phone in 0..<(2 * most) { directory.log(Self.refused(phone, at: 2), cause: .target) }
        for phone in (2 * most - 1)..<(3 * most) { directory.follow(DeviceNumber(UInt32(phone))) }
        directory.log(Self.ping(3 * most - 1, at: 3))
        directory.log(Self.refused(3 * most - 1, at: 4), cause: .target)
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        let followed = (0..<(3 * most)).filter { self.seconds(of: UInt32($0)).contains(1) }
        #expect(followed == Array(0..<most) + Array((2 * most - 1)..<(3 * most - 1)))
    }
}
