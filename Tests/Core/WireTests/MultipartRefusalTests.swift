import SimTestSupport
import Testing

@testable import Wire

@Suite struct MultipartRefusalTests {
    static let field = "Content-Disposition: form-data; name=\"a\"\r\n\r\n"
    static let good = "--b0undary\r\n\(field)x\r\n"

    static func outcome(
        _ body: String, limits: MultipartReader.Limits
    ) -> Set<Result<[PartSummary], MultipartError>> {
        let bytes = Array(body.utf8)
        var outcomes: Set = [parts([bytes], limits: limits), parts(bytes.map { [$0] }, limits: limits)]
        withEverySplit(of: bytes) { outcomes.insert(parts($0, limits: limits)) }
        return outcomes
    }

    @Test(
        arguments: [
            ("", .truncated),
            ("no delimiter at all", .truncated),
            ("--b0undary", .truncated),
            ("--b0undary-", .truncated),
            ("--b0undary\r", .truncated),
            ("--b0undary\r\n", .truncated),
            ("--b0undary\r\n\(field)", .truncated),
            ("--b0undary\r\n\(field)x\r\n--b0undary", .truncated),
            ("\(good)--b0undary-", .truncated),
            ("--b0undaryx", .malformed(part: 0, .delimiterLine)),
            ("--b0undary\n", .malformed(part: 0, .delimiterLine)),
            ("--b0undary\rx", .malformed(part: 0, .delimiterLine)),
            ("--b0undary -", .malformed(part: 0, .delimiterLine)),
            ("\(good)--b0undary-x", .malformed(part: 1, .delimiterLine)),
            ("--b0undary\r\n\r\n", .malformed(part: 0, .disposition)),
            ("--b0undary\r\nContent-Type: text/plain\r\n\r\n", .malformed(part: 0, .disposition)),
            (
                "--b0undary\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\n",
                .malformed(part: 0, .disposition)
            ),
            (
                "--b0undary\r\nContent-Disposition: form-data; name=\"a\r\n\r\n",
                .malformed(part: 0, .disposition)
            ),
            ("--b0undary\r\nContent-Disposition: form-data\r\n\r\n", .malformed(part: 0, .noName)),
            ("--b0undary\r\nContent-Disposition\r\n", .malformed(part: 0, .headerLine)),
            ("--b0undary\r\nContent-Disposition: form-data\n", .malformed(part: 0, .headerLine)),
            ("--b0undary\r\nA: b\r\n c\r\n", .malformed(part: 0, .headerLine)),
            ("\(good)--b0undary\r\nA: \0\r\n", .malformed(part: 1, .headerLine)),
        ] as [(String, MultipartError)])
    func `a bad body is refused, in any pieces`(body: String, error: MultipartError) {
        #expect(Self.outcome(body, limits: .standard) == [.failure(error)])
    }

    @Test(
        arguments: [
            // Twenty bytes of content are a part, 21 are not; four are kept.
            (
                "--b0undary\r\n\(field)12345678901234567890\r\n--b0undary--",
                .success([
                    PartSummary(
                        name: "a", filename: nil, contentType: nil, byteCount: 20, prefix: Array("1234".utf8))
                ])
            ),
            ("--b0undary\r\n\(field)123456789012345678901\r\n--b0undary--", .failure(.partTooLarge(0))),
            (
                "\(good)--b0undary\r\n\(field)\(String(repeating: "1", count: 500))",
                .failure(.partTooLarge(1))
            ),
            // Headers of 60 bytes: the disposition takes 42, the end 2, "A: " and CRLF 5.
            (
                "--b0undary\r\nA: \(String(repeating: "a", count: 11))\r\n\(field)--b0undary--",
                .success([part("a", "")])
            ),
            (
                "--b0undary\r\nA: \(String(repeating: "a", count: 12))\r\n\(field)--b0undary--",
                .failure(.partHeadTooLong(0))
            ),
            ("\(good)--b0undary\r\n\(String(repeating: "a", count: 500))", .failure(.partHeadTooLong(1))),
            ("\(good)\(good)--b0undary--", .success([part("a", "x"), part("a", "x")])),
            ("\(good)\(good)\(good)--b0undary--", .failure(.tooManyParts)),
        ] as [(String, Result<[PartSummary], MultipartError>)])
    func `each limit holds to the byte, in any pieces`(
        body: String, expected: Result<[PartSummary], MultipartError>
    ) {
        #expect(Self.outcome(body, limits: .tight) == [expected])
    }

    @Test func `a failed reader stays failed`() throws {
        var reader = try MultipartReader(boundary: "b0undary", limits: .standard)
        for bytes in ["--b0undary!", Self.good, ""] where !bytes.isEmpty {
            #expect(throws: MultipartError.malformed(part: 0, .delimiterLine)) {
                try reader.receive(Array(bytes.utf8))
            }
        }
        #expect(throws: MultipartError.malformed(part: 0, .delimiterLine)) { try reader.finish() }
    }
}
