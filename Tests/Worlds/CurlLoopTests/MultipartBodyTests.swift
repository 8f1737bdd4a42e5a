import Testing

@testable import CurlLoop

/// What RequestTests do not send.
@Suite struct MultipartBodyTests {
    private static func part(_ name: String, _ content: String, filename: String? = nil)
        -> TransferRequest.Part
    {
        TransferRequest.Part(
            name: name, filename: filename, contentType: nil,
            content: PhotoSource(
                head: Array(content.utf8.prefix(3)), shared: SharedBytes(Array(content.utf8)),
                from: min(3, content.utf8.count)))
    }

    /// All that is left, in pieces of this size.
    private static func read(_ body: MultipartBody, by size: Int) -> String {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: size)
        while true {
            let count = unsafe room.withUnsafeMutableBytes { unsafe body.read(into: $0) }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += room[..<count]
        }
    }

    private static let parts = [part("first", "abcdef"), part("second", "ghi", filename: "g")]
    private static let boundary = "------------------------00000000000000ff"
    private static let expected =
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"first\"\r\n\r\nabcdef\r\n"
        + "--\(boundary)\r\nContent-Disposition: form-data; name=\"second\"; filename=\"g\"\r\n\r\nghi\r\n"
        + "--\(boundary)--\r\n"

    @Test(arguments: [1, 2, 7, 64, 4_096]) func `a body is the same in pieces of any size`(size: Int) {
        let body = MultipartBody(Self.parts, number: 255)
        #expect(body.parameter == "; boundary=\(Self.boundary)")
        #expect(body.count == Self.expected.utf8.count)
        #expect(Self.read(body, by: size) == Self.expected)
    }

    @Test func `it is read again from any offset`() {
        let body = MultipartBody(Self.parts, number: 255)
        for offset in 0...body.count {
            #expect(body.seek(to: offset))
            #expect(Self.read(body, by: 50) == String(Self.expected.utf8.dropFirst(offset)))
        }
        #expect(!body.seek(to: -1))
        #expect(!body.seek(to: body.count + 1))
    }

    @Test func `a name cannot end its header field`() {
        let body = MultipartBody([Self.part("a\"b\r\nX: y", "")], number: 1)
        #expect(Self.read(body, by: 500).contains("form-data; name=\"a%22b%0D%0AX: y\"\r\n\r\n"))
    }

    @Test func `a form without parts is closed at once`() {
        let body = MultipartBody([], number: 255)
        #expect(Self.read(body, by: 500) == "--\(Self.boundary)--\r\n")
    }
}
