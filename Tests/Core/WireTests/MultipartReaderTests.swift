import SimBase
import SimTestSupport
import Testing

@testable import Wire

@Suite struct MultipartReaderTests {
    static let field = "Content-Disposition: form-data; name=\"a\"\r\n\r\n"

    @Test(arguments: [
        ("--b0undary\r\n\(field)hello\r\n--b0undary--\r\n", [part("a", "hello")]),
        ("--b0undary\r\n\(field)hello\r\n--b0undary--", [part("a", "hello")]),
        // A preamble, an epilogue, spaces behind a boundary.
        (
            "ignored\r\n--b0undar\r\n--b0undary \t\r\n\(field)x\r\n--b0undary--\r\n--b0undary\r\nignored",
            [part("a", "x")]
        ),
        ("\r\n--b0undary\r\n\(field)x\r\n--b0undary--", [part("a", "x")]),
        // Empty content, with and without a line end of its own.
        ("--b0undary\r\n\(field)\r\n--b0undary--\r\n", [part("a", "")]),
        ("--b0undary\r\n\(field)--b0undary--\r\n", [part("a", "")]),
        ("--b0undary\r\n\(field)\r\n\r\n--b0undary--\r\n", [part("a", "\r\n")]),
        // What only looks like a delimiter is content.
        (
            "--b0undary\r\n\(field)--b0undar\r\n-b0undary\r\r\n--b0undarx\n--b0undary--\r\n--b0undary--",
            [part("a", "--b0undar\r\n-b0undary\r\r\n--b0undarx\n--b0undary--")]
        ),
        ("--b0undary\r\n\(field)\r\n--\r\n--\r\n--b0undary--", [part("a", "\r\n--\r\n--")]),
        ("--b0undary--", []),
        (
            "--b0undary\r\nContent-Type: image/jpeg\r\nX: y\r\n"
                + "content-disposition: FORM-DATA; name=\"photos[]\"; filename=\"a \\\"b\\\".jpg\"\r\n\r\n12\r\n"
                + "--b0undary\r\n\(field)\r\n--b0undary--",
            [part("photos[]", filename: "a \"b\".jpg", contentType: "image/jpeg", "12"), part("a", "")]
        ),
        (
            "--b0undary\r\nContent-Disposition: form-data; name=a;filename=b\r\n\r\nx\r\n--b0undary--",
            [part("a", filename: "b", "x")]
        ),
    ])
    func `parts are counted and named, in any pieces`(body: String, expected: [PartSummary]) {
        let bytes = Array(body.utf8)
        #expect(parts([bytes]) == .success(expected))
        withEverySplit(of: bytes) { #expect(parts($0) == .success(expected)) }
        for size in 1...12 {
            withPieces(of: bytes, size: size) { #expect(parts($0) == .success(expected)) }
        }
        withSampledSplits(of: bytes, pieces: 4, samples: 200, random: KeyedRandom(seed: 7), entity: 0) {
            #expect(parts($0) == .success(expected))
        }
    }

    /// The body of an upload of five photos.
    private static let fivePhotos = Array(
        ((1...5).map { number in
            "--b0undary\r\nContent-Disposition: form-data; name=\"photos[]\"; filename=\"spine.jpg\"\r\n"
                + "Content-Type: image/jpeg\r\n\r\nphoto \(number)\r\n"
        }.joined() + "--b0undary--\r\n").utf8)

    @Test func `five photos are five parts, in any two pieces`() {
        let expected = (1...5).map {
            part("photos[]", filename: "spine.jpg", contentType: "image/jpeg", "photo \($0)")
        }
        withEverySplit(of: Self.fivePhotos) { #expect(parts($0) == .success(expected)) }
    }

    @Test func `an upload that is cut at any byte is no upload of fewer photos`() {
        // The line end behind the closing delimiter is not needed.
        for count in 0..<(Self.fivePhotos.count - 2) {
            let cut = parts([Array(Self.fivePhotos.prefix(count))])
            guard case .failure = cut else {
                Issue.record("\(count) bytes: \(cut)")
                return
            }
        }
    }

    @Test(arguments: ["-", "-----", "a", "aaaa", "--a--", "x y", String(repeating: "z", count: 70)])
    func `a boundary may look like anything`(boundary: String) {
        // Content full of near misses of the delimiter.
        let miss = "\r\n--" + String(boundary.dropLast())
        let content = "\(miss)\(miss)\r\n-\r\r\n\(miss)\r\n"
        let body = "--\(boundary)\r\n\(Self.field)\(content)\r\n--\(boundary)--\r\n"
        let expected = [
            PartSummary(
                name: "a", filename: nil, contentType: nil, byteCount: content.utf8.count,
                prefix: Array(content.utf8.prefix(64)))
        ]
        withEverySplit(of: Array(body.utf8)) { pieces in
            #expect(parts(pieces, boundary: boundary) == .success(expected))
        }
        withPieces(of: Array(body.utf8), size: 1) { pieces in
            #expect(parts(pieces, boundary: boundary) == .success(expected))
        }
    }

    @Test(arguments: [1_000, 16_384, 1_000_000])
    func `a photograph of megabytes is counted, not kept`(size: Int) {
        let random = KeyedRandom(seed: 11)
        var photo: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
        while photo.count < 3_000_000 {
            var word = random.draw(.test, UInt64(photo.count))
            for _ in 0..<8 {
                photo.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        let boundary = "------------------------d74496d66958873e1234"
        let body =
            Array("--\(boundary)\r\n\(Self.field)".utf8) + photo + Array("\r\n--\(boundary)--\r\n".utf8)
        let expected = PartSummary(
            name: "a", filename: nil, contentType: nil, byteCount: photo.count,
            prefix: Array(photo.prefix(64)))
        withPieces(of: body, size: size) { pieces in
            #expect(parts(pieces, boundary: boundary) == .success([expected]))
        }
    }

    @Test(arguments: [
        ("multipart/form-data; boundary=abc", "abc"),
        ("Multipart/Form-Data; charset=utf-8; BOUNDARY=\"a b:c\"", "a b:c"),
        (
            "multipart/form-data;boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
            "----WebKitFormBoundary7MA4YWxkTrZu0gW"
        ),
        (
            "multipart/form-data; boundary=\(String(repeating: "z", count: 70))",
            String(repeating: "z", count: 70)
        ),
    ])
    func `the boundary is taken from the content type`(contentType: String, boundary: String) throws {
        #expect(try MultipartReader.boundary(contentType: contentType) == boundary)
    }

    @Test(
        arguments: [
            ("multipart/form-data", .noBoundary),
            ("multipart/form-data; boundary=", .noBoundary),
            ("multipart/form-data; boundary=\"\"", .noBoundary),
            ("multipart/form-data; boundary=\"a \"", .noBoundary),
            ("multipart/form-data; boundary=\"a\u{FC}\"", .noBoundary),
            ("multipart/form-data; boundary=\"a;b\"", .noBoundary),
            ("multipart/form-data; boundary=\"open", .noBoundary),
            ("multipart/form-data; boundary=\(String(repeating: "z", count: 71))", .noBoundary),
            ("multipart/mixed; boundary=abc", .notFormData),
            ("image/jpeg", .notFormData),
            ("", .notFormData),
        ] as [(String, MultipartError)])
    func `a content type without a usable boundary is refused`(contentType: String, error: MultipartError) {
        #expect(throws: error) { try MultipartReader.boundary(contentType: contentType) }
    }

    @Test func `a reader is not made with a bad boundary`() {
        #expect(parts([], boundary: "") == .failure(.noBoundary))
        #expect(parts([], boundary: "a\r\nb") == .failure(.noBoundary))
    }
}
