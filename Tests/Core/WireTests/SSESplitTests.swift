import SimBase
import SimTestSupport
import Testing
import Wire

@Suite struct SSESplitTests {
    /// About 600 bytes with every line end, a mark, comments, ids, retries, invalid UTF-8 and an unfinished end.
    static let stream: [UInt8] = {
        var bytes: [UInt8] = [0xEF, 0xBB, 0xBF]
        bytes += Array(": connection established\nretry: 5000\n\n".utf8)
        bytes += Array("id: 1738419600000-initial\nevent: progress\ndata: {\"progress\":0.05}\n\n".utf8)
        bytes += Array("id: 1738419600001-progress\r\nevent: progress\r\ndata: {\"message\":\r\n".utf8)
        bytes += Array("data: \"Processing photo 1 of 1\u{2026}\"}\r\n\r\n".utf8)
        bytes += Array("event: ping\rdata: {}\r\r".utf8)
        bytes += Array(": t=1234567890\nid: 1738419600002-result\nevent: result\n".utf8)
        bytes +=
            Array("data: {\"title\":\"\u{1F4DA} B\u{FC}cher\",\"author\":\"".utf8) + [0xE2, 0x82, 0x41, 0xFF]
        bytes += Array("\"}\n\n\n\n".utf8)
        bytes += Array("id:\ndata\n\nid: a\0b\ndata:  two spaces\nData: no\nretry: 1x\nretry:07\n\n".utf8)
        bytes += Array("event: only-a-type\n\nid: 1738419600003-completed\nevent: completed\n".utf8)
        bytes += Array("data: {\"resultsUrl\":\"/v3/jobs/scans/1/results\"}\n\n: bye\r\n".utf8)
        bytes += Array("id: never-adopted\ndata: cut".utf8)
        return bytes
    }()

    static let expected: [SSEItem] = [
        .comment("connection established"),
        .retry(.seconds(5)),
        event("{\"progress\":0.05}", type: "progress", id: "1738419600000-initial"),
        event(
            "{\"message\":\n\"Processing photo 1 of 1\u{2026}\"}", type: "progress",
            id: "1738419600001-progress"),
        event("{}", type: "ping", lastID: "1738419600001-progress"),
        .comment("t=1234567890"),
        event(
            "{\"title\":\"\u{1F4DA} B\u{FC}cher\",\"author\":\"\u{FFFD}A\u{FFFD}\"}", type: "result",
            id: "1738419600002-result"),
        event("", id: ""),
        .retry(.milliseconds(7)),
        event(" two spaces"),
        event(
            "{\"resultsUrl\":\"/v3/jobs/scans/1/results\"}", type: "completed", id: "1738419600003-completed"),
        .comment("bye"),
    ]

    @Test func `the whole stream in one piece`() {
        #expect(items([Self.stream]) == Self.expected)
        #expect((550...750).contains(Self.stream.count))
    }

    @Test func `every cut in two gives the same`() {
        withEverySplit(of: Self.stream) { pieces in
            #expect(items(pieces) == Self.expected)
        }
    }

    @Test func `cuts in three give the same`() {
        withSampledSplits(
            of: Self.stream, pieces: 3, samples: 2_000, random: KeyedRandom(seed: 3), entity: 0
        ) { pieces in
            #expect(items(pieces) == Self.expected)
        }
    }

    @Test(arguments: [1, 2, 3, 5, 7])
    func `small pieces give the same`(size: Int) {
        withPieces(of: Self.stream, size: size) { #expect(items($0) == Self.expected) }
    }

    @Test func `slices are read where they lie`() {
        var reader = SSEReader(limits: .standard)
        var items: [SSEItem] = []
        let padded = [0x78, 0x78] + Self.stream + [0x78]
        reader.receive(padded[2..<100], into: &items)
        reader.receive(padded[100..<padded.count - 1], into: &items)
        #expect(items == Self.expected)
    }
}
