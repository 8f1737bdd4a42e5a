import LiveBackend
import Serving
import SimBase
import Talaria
import Testing

@Suite struct ObservationCodecTests {
    private static let sightings: [Sighting] = [
        .backend(.connected(connection: 9)), .backend(.requested(.upload, attempt: 3, connection: 9)),
        .backend(.answered(.results, attempt: 1, status: 503)), .backend(.accepted(job: "j-1", books: 5)),
        .backend(.limited(retryAfter: .milliseconds(1_500))),
        .backend(.streamOpened(job: "j", attempt: 2, after: nil)),
        .backend(.streamOpened(job: "j", attempt: 2, after: 0)),
        .backend(.eventWritten(job: "j", id: "17-progress", position: 4, kind: .progress, replayed: true)),
        .backend(.pingWritten(job: "j")), .backend(.streamEnded(job: "j", attempt: 2, byPeer: true)),
        .backend(.finished(job: "j", kind: .completed, books: 8)), .backend(.tokenRevoked(job: "j")),
        .backend(.resultsServed(job: "j", books: 8)), .backend(.cleaned(job: "j", effective: false)),
        .backend(.canceled(job: "j")), .backend(.expired(job: "j")),
        .backend(.vanished(job: "j")),
        .fault(.decided(fault: 1, .stream, attempt: 2, fires: true)),
        .fault(.fired(fault: 1, .upload, attempt: 1)),
        .fault(.began(fault: 4)), .fault(.ended(fault: 4)),
    ]

    static let reports: [BackendReport] =
        sightings.enumerated().map { index, what in
            .observation(
                Observation(
                    at: Instant(nanoseconds: Int64(index) - 3), device: DeviceNumber(.max),
                    scan: ScanNumber(7), what: what))
        } + [
            .upTo(Instant(nanoseconds: 12_345)),
            .streamsOpen(StreamsOpen(least: 3, most: 5_000), at: Instant(nanoseconds: 9)),
        ]

    @Test(arguments: [1, 3, 16, 100_000])
    func `every report goes through the pipe and back, whatever the pieces`(piece: Int) throws {
        var bytes: [UInt8] = []
        for report in Self.reports { ObservationCodec.encode(report, into: &bytes) }
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
        #expect(throws: BackendReportReader.OutOfStep.self) {
            try reader.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8)[...], into: &read)
        }
        #expect(read.isEmpty)
    }

    @Test func `a frame of 4096 bytes is waited for, a longer one is out of step`() throws {
        var reader = BackendReportReader()
        var read: [BackendReport] = []
        try reader.receive([0x00, 0x10, 0, 0], into: &read)
        #expect(throws: BackendReportReader.OutOfStep.self) {
            var reader = BackendReportReader()
            try reader.receive([0x01, 0x10, 0, 0], into: &read)
        }
        #expect(ObservationCodec.frameBytesMax == 0x1000)
    }

    @Test func `a damaged frame never traps`() {
        var bytes: [UInt8] = []
        for report in Self.reports { ObservationCodec.encode(report, into: &bytes) }
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
}
