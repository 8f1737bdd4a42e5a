import LiveServer
import SimBase
import SimTestSupport
import Talaria
import Testing

/// A damaged pipe between backend and parent. Nothing traps; what is read is exactly what was written there.
@Suite struct ObservationCodecFuzzTests {
    private static let frames = Mutator(
        corpus: [
            ObservationCodecTests.bytes(ObservationCodecTests.reports),
            ObservationCodecTests.bytes(ObservationCodecTests.reports.suffix(3)),
        ], dictionary: ["\u{1}", "\u{0}\u{0}\u{0}\u{0}", "progress", "completed"])

    private static func read(_ pieces: [[UInt8]]) throws -> (reports: [BackendReport], isOutOfStep: Bool) {
        var reader = BackendReportReader()
        var reports: [BackendReport] = []
        do throws(BackendReportReader.SequenceError) {
            for piece in pieces { try reader.receive(piece[...], into: &reports) }
            return (reports, false)
        } catch { return (reports, true) }
    }

    @Test func `a pipe of any bytes gives what was written, then is out of step, whatever the pieces`() {
        Fuzz.run("pipe", quick: 3_000, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.frames.input(fuzz)
            let expected = try Self.read([bytes])
            let written = ObservationCodecTests.bytes(expected.reports)
            try #require(bytes.starts(with: written))
            try #require(
                expected.isOutOfStep || bytes.count - written.count < 4 + BackendReportWriter.frameBytesMax)
            for pieces in fuzz.cuts(of: bytes) { try #require(try Self.read(pieces) == expected) }
        }
    }
}
