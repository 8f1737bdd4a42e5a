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

    @Test func `the file is bounded, in phones, in lines and in what it remembers`() throws {
        let (phones, lines, recent) = (
            ProgressFile.phonesMax, ProgressFile.linesMax, ProgressFile.recentMax
        )
        let directory = try self.run()
        directory.log(Self.ping(7, at: 0))
        for _ in 0..<recent { directory.log(Self.ping(1, at: 1)) }
        directory.follow(DeviceNumber(7))
        directory.follow(DeviceNumber(1))
        for phone in 1_000...(1_000 + phones) {
            directory.follow(DeviceNumber(UInt32(phone)))
            directory.log(Self.ping(phone, at: 2))
        }
        _ = try directory.finish(Samples.passed(), RunTimeline(faults: 0))
        #expect(self.seconds(of: 7) == [])
        #expect(self.seconds(of: 1).count == lines)
        let followed = (1_000...(1_000 + phones)).filter { !self.seconds(of: UInt32($0)).isEmpty }
        #expect(followed == Array(1_000..<(1_000 + phones - 2)))
    }
}
