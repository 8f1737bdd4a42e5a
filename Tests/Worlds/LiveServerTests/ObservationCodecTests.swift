import HTTPServer
import LiveServer
import Observations
import SimBase
import Talaria
import Testing

@Suite struct ObservationCodecTests {
    private static let payloads: [ObservationPayload] = [
        .backend(.connected(connection: 9)), .backend(.requested(.upload, attempt: 3, connection: 9)),
        .backend(.answered(.results, attempt: 1, status: 503)), .backend(.accepted(job: "j-1", books: 5)),
        .backend(.streamOpened(job: "j", attempt: 2, after: nil)),
        .backend(.streamOpened(job: "j", attempt: 2, after: 0)),
        .backend(.eventWritten(job: "j", id: "17-progress", position: 4, kind: .progress, replayed: true)),
        .backend(.pingWritten(job: "j")), .backend(.streamEnded(job: "j", attempt: 2, byPeer: true)),
        .backend(.finished(job: "j", kind: .completed, books: 8)), .backend(.tokenRevoked(job: "j")),
        .backend(.resultsServed(job: "j", books: 8)), .backend(.cleaned(job: "j", effective: false)),
        .backend(.canceled(job: "j")), .backend(.expired(job: "j")),
        .backend(.vanished(job: "j")), .backend(.circuitOpened(job: "j")), .backend(.circuitClosed(job: "j")),
        .backend(.upstreamFailed(.results, attempt: 2, .connectTimedOut)),
        .backend(.failed(job: "j", code: "QUALITY_TOO_LOW", retryable: true)),
        .backend(
            .problem(
                .upload, attempt: 2, status: 422, job: nil, retryable: false,
                retryAfter: .milliseconds(1_500))),
        .backend(
            .problem(.cleanup, attempt: 2, status: 503, job: "j", retryable: true, retryAfter: nil)),
        .fault(.decided(fault: 1, .stream, attempt: 2, fires: true)),
        .fault(.fired(fault: 1, .upload, attempt: 1)),
        .fault(.began(fault: 4)), .fault(.ended(fault: 4)),
    ]

    static let reports: [BackendReport] =
        payloads.enumerated().map { index, what in
            .observation(
                Observation(
                    at: Instant(nanoseconds: Int64(index) - 3), device: DeviceNumber(.max),
                    scan: ScanNumber(7), what: what))
        } + [
            .upTo(Instant(nanoseconds: 12_345), late: .nanoseconds(678)),
            .streamsOpen(StreamsOpen(least: 3, most: 5_000), at: Instant(nanoseconds: 9)),
        ]

    static func bytes(_ reports: [BackendReport]) -> [UInt8] {
        var writer = BackendReportWriter()
        return reports.reduce(into: []) { writer.write($1, into: &$0) }
    }

    @Test(arguments: [1, 3, 16, 100_000])
    func `every report goes through the pipe and back, whatever the pieces`(piece: Int) throws {
        let bytes = Self.bytes(Self.reports)
        var reader = BackendReportReader()
        var read: [BackendReport] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try reader.receive(bytes[start..<min(start + piece, bytes.count)], into: &read)
        }
        #expect(read == Self.reports)
    }

    @Test func `bytes of something else are noticed, not believed`() {
        var reader = BackendReportReader()
        var read: [BackendReport] = []
        #expect(throws: BackendReportReader.SequenceError.self) {
            try reader.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8)[...], into: &read)
        }
        #expect(read.isEmpty)
    }

    @Test func `a frame of 4096 bytes is waited for, a longer one is out of step`() throws {
        var reader = BackendReportReader()
        var read: [BackendReport] = []
        try reader.receive([0x00, 0x10, 0, 0], into: &read)
        #expect(throws: BackendReportReader.SequenceError.self) {
            var reader = BackendReportReader()
            try reader.receive([0x01, 0x10, 0, 0], into: &read)
        }
        #expect(BackendReportWriter.frameBytesMax == 0x1000)
    }

    @Test func `a damaged frame never traps`() {
        let bytes = Self.bytes(Self.reports)
        let random = KeyedRandom(seed: 3)
        for round in 0..<2_000 as Range<UInt64> {
            var damaged = bytes
            damaged[Int(random.below(UInt64(bytes.count), .test, round))] = UInt8(
                truncatingIfNeeded: random.draw(.test, round, 1))
            var reader = BackendReportReader()
            var read: [BackendReport] = []
            try? reader.receive(damaged[...], into: &read)
            #expect(read.count <= bytes.count)
        }
    }

    // MARK: Lies

    /// Each frame by itself, and the last.
    private static var frames: [[UInt8]] {
        var writer = BackendReportWriter()
        var frames = Self.reports.map { report in
            var bytes: [UInt8] = []
            writer.write(report, into: &bytes)
            return bytes
        }
        frames.append([])
        writer.write(.ended(residentMax: 9_000), into: &frames[frames.count - 1])
        return frames
    }

    private static func outcome(_ frames: [[UInt8]]) -> BackendReportReader.SequenceError? {
        var reader = BackendReportReader()
        var read: [BackendReport] = []
        do throws(BackendReportReader.SequenceError) {
            try reader.receive(frames.flatMap(\.self)[...], into: &read)
            try reader.finish()
            return nil
        } catch { return error }
    }

    @Test func `a whole account is in step`() {
        #expect(Self.outcome(Self.frames) == nil)
    }

    @Test func `a line that is lost is told by its number`() {
        for lost in 0..<(Self.frames.count - 1) {
            var frames = Self.frames
            frames.remove(at: lost)
            let due = UInt64(lost + 1)
            #expect(Self.outcome(frames) == .misnumbered(due + 1, due: due))
        }
    }

    @Test func `a line that comes twice, or too early, is told by its number`() {
        var doubled = Self.frames
        doubled.insert(doubled[4], at: 5)
        #expect(Self.outcome(doubled) == .misnumbered(5, due: 6))
        var moved = Self.frames
        moved.swapAt(7, 8)
        #expect(Self.outcome(moved) == .misnumbered(9, due: 8))
    }

    @Test func `an account without its end is not whole`() {
        #expect(Self.outcome(Array(Self.frames.dropLast())) == .unfinished(after: UInt64(Self.reports.count)))
        #expect(Self.outcome([]) == .unfinished(after: 0))
        let last = Array(Self.frames[Self.frames.count - 1].dropLast())
        let cut = Array(Self.frames.dropLast()) + [last]
        #expect(Self.outcome(cut) == .unfinished(after: UInt64(Self.reports.count)))
    }

    @Test func `nothing comes behind the end`() {
        let count = UInt64(Self.frames.count)
        #expect(Self.outcome(Self.frames + [Self.frames[0]]) == .unreadable(due: count + 1))
    }

    @Test func `an observation that says something else than what was seen is noticed at the next mark`() {
        let mark = Self.reports.count - 1
        var frames = Self.frames
        // Of the first: its connection's lowest byte is the ninth from behind its flag.
        frames[0][frames[0].count - 8] ^= 1
        #expect(Self.outcome(frames) == .changed(before: UInt64(mark)))
    }
}
