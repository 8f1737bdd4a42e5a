import Testing
import Wire

/// Bytes that are counted and not looked at.
@Suite struct SkipTests {
    private static let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"

    @Test func `bytes of a body that are passed over count towards its length`() throws {
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        try reader.receive(Array((Self.head + "abcde").utf8), into: &events)
        try reader.skip(94)
        #expect(reader.isInsideRequest)
        try reader.receive(Array("z".utf8), into: &events)
        #expect(!reader.isInsideRequest)
        #expect(events.last == .end)
        #expect(events.dropFirst() == [.body(Array("abcde".utf8)[...]), .body(Array("z".utf8)[...]), .end])
    }

    @Test(arguments: [0, 1, 40, 9_990]) func `bytes of a part that are passed over count as its own`(
        before: Int
    ) throws {
        let limits = MultipartReader.Limits(
            partsMax: 2, headBytesMax: 1_000, partBytesMax: 20_000, prefixBytesMax: 8)
        var reader = try MultipartReader(boundary: "B", limits: limits)
        let start = "--B\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\n"
        let content = [UInt8](repeating: 0x2D, count: before)
        try reader.receive(Array(start.utf8) + content)
        try reader.skip(10_000 - before)
        try reader.receive(Array("\r\n--B--\r\n".utf8))
        let parts = try reader.finish()
        #expect(parts.map(\.byteCount) == [10_000])
        #expect(parts.map(\.prefix) == [Array(content.prefix(8))])
    }

    @Test func `a part of sizes is too large like one of bytes`() throws {
        let limits = MultipartReader.Limits(
            partsMax: 2, headBytesMax: 1_000, partBytesMax: 500, prefixBytesMax: 8)
        var reader = try MultipartReader(boundary: "B", limits: limits)
        try reader.receive(Array("--B\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\nx".utf8))
        #expect(throws: MultipartError.partTooLarge(0)) { try reader.skip(500) }
    }
}
