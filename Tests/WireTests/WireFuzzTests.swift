import SimBase
import SimTestSupport
import Testing
import Wire

/// Seeded mutations of good streams. Nothing traps, what comes out is bounded by what went in, and the cuts of the
/// bytes do not show.
@Suite struct WireFuzzTests {
    static let random = KeyedRandom(seed: 0x5EED)
    /// Bytes that mean something to one of the formats.
    static let meaningful = Array("\r\n :;=-\"\\,\t\0".utf8) + [0xEF, 0xBB, 0xBF, 0xFF, 0x80, 0x7F]

    static func below(_ bound: Int, _ key: UInt64, _ count: Int, _ detail: UInt64) -> Int {
        Int(Self.random.below(UInt64(bound), .test, key, UInt64(count), detail))
    }

    /// `bytes` with one to eight changes: a byte replaced, removed or inserted, a run repeated or moved, the end cut.
    static func mutated(_ bytes: [UInt8], key: UInt64) -> [UInt8] {
        var bytes = bytes
        for change in 0...Self.below(8, key, 0, 0) {
            guard !bytes.isEmpty else { return bytes }
            let place = Self.below(bytes.count, key, change, 1)
            let byte =
                Self.below(3, key, change, 2) == 0
                ? UInt8(Self.below(256, key, change, 3))
                : Self.meaningful[Self.below(Self.meaningful.count, key, change, 3)]
            let run = Array(bytes[place...].prefix(1 + Self.below(40, key, change, 4)))
            switch Self.below(7, key, change, 5) {
            case 0, 1: bytes[place] = byte
            case 2: bytes.insert(byte, at: place)
            case 3: bytes.remove(at: place)
            case 4: bytes.insert(contentsOf: run, at: Self.below(bytes.count, key, change, 6))
            case 5: bytes.removeSubrange(place..<place + run.count)
            default: bytes.removeSubrange(Self.below(bytes.count, key, change, 6)...)
            }
        }
        return bytes
    }

    /// Runs `body` with the bytes whole, one by one, and cut three ways at random.
    static func withCuts(of bytes: [UInt8], key: UInt64, _ body: ([[UInt8]]) -> Void) {
        body([bytes])
        withPieces(of: bytes, size: 1, body)
        withSampledSplits(of: bytes, pieces: 4, samples: 3, random: Self.random, entity: key, body)
    }

    @Test func `an event stream of any bytes reads as the standard's text says`() {
        for key in UInt64(0)..<1_200 {
            let bytes = Self.mutated(SSESplitTests.stream, key: key)
            let expected = wholeStreamItems(bytes)
            Self.withCuts(of: bytes, key: key) { pieces in
                #expect(items(pieces) == expected, "case \(key)")
            }
        }
    }

    @Test func `tight limits on an event stream do not hang on the cuts`() {
        let limits = SSEReader.Limits(lineBytesMax: 48, eventBytesMax: 64, retryMax: .seconds(60))
        for key in UInt64(10_000)..<11_000 {
            let bytes = Self.mutated(SSESplitTests.stream, key: key)
            let expected = items([bytes], limits: limits)
            #expect(expected.count <= bytes.count)
            Self.withCuts(of: bytes, key: key) { pieces in
                #expect(items(pieces, limits: limits) == expected, "case \(key)")
            }
        }
    }

    @Test(arguments: [RequestReader.Limits.standard, .tight])
    func `a connection of any bytes gives the same requests or error`(limits: RequestReader.Limits) {
        for key in UInt64(20_000)..<21_500 {
            let bytes = Self.mutated(RequestSplitTests.connection, key: key)
            let expected = seen([bytes], limits: limits)
            #expect(expected.count <= bytes.count + 1)
            let bodyBytes = expected.reduce(0) { sum, seen in
                guard case .body(let body) = seen else { return sum }
                return sum + body.count
            }
            #expect(bodyBytes <= bytes.count)
            Self.withCuts(of: bytes, key: key) { pieces in
                #expect(seen(pieces, limits: limits) == expected, "case \(key)")
            }
        }
    }

    @Test(arguments: [
        MultipartReader.Limits.standard,
        MultipartReader.Limits(partsMax: 2, headBytesMax: 90, partBytesMax: 40, prefixBytesMax: 7),
    ])
    func `a multipart body of any bytes gives the same parts or error`(limits: MultipartReader.Limits) {
        let body = Array(
            ("preamble\r\n--b0undary\r\nContent-Disposition: form-data; name=\"photos[]\"; filename=\"a.jpg\"\r\n"
                + "Content-Type: image/jpeg\r\n\r\n\r\n--b0undar\r\n\r\r\n--\r\nbytes\r\n--b0undary\r\n"
                + "Content-Disposition: form-data; name=device\r\n\r\n--b0undary  \r\n"
                + "Content-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b0undary--\r\nepilogue").utf8)
        for key in UInt64(30_000)..<31_500 {
            let bytes = Self.mutated(body, key: key)
            let expected = parts([bytes], limits: limits)
            if case .success(let parts) = expected {
                #expect(parts.count <= limits.partsMax)
                #expect(parts.reduce(0) { $0 + $1.byteCount } <= bytes.count)
                #expect(parts.allSatisfy { $0.prefix.count <= min($0.byteCount, limits.prefixBytesMax) })
            }
            Self.withCuts(of: bytes, key: key) { pieces in
                #expect(parts(pieces, limits: limits) == expected, "case \(key)")
            }
        }
    }

    @Test func `header values of any text are read or refused`() {
        let values = [
            "multipart/form-data; boundary=\"a \\\" b\"; charset=utf-8", "Sun, 06 Nov 1994 08:49:37 GMT",
            "120",
        ]
        for key in UInt64(40_000)..<41_500 {
            for value in values {
                let text = String(decoding: Self.mutated(Array(value.utf8), key: key), as: UTF8.self)
                if let parsed = ParameterizedValue(text) {
                    #expect(parsed.value.utf8.count <= text.utf8.count)
                    #expect(parsed.parameters.count <= text.utf8.count)
                }
                if let seconds = HTTPDate.seconds(text), seconds % 60 != 0 {
                    #expect(HTTPDate.text(seconds) == text)
                }
                if case .delay(let delay)? = RetryAfter(text) { #expect(delay <= RetryAfter.waitMax) }
            }
        }
    }
}
