import SimBase
import SimTestSupport
import TLS
import TLSClient
import Testing

/// Bytes that no client would send. Nothing traps, and no plaintext comes out that the client did not send.
@Suite struct TLSFuzzTests {
    private static let hello = TLSClient(.init(authority: Session.authority.certificate)).receive([])
    private static let openings = Mutator(
        corpus: [hello, hello + hello, Array("GET / HTTP/1.1\r\n\r\n".utf8), [0x16, 3, 1, 0x40, 0]],
        dictionary: ["\u{16}\u{3}\u{1}", "http/1.1", "\u{2}h2", "localhost"])
    private static let request = Array("POST /v3/jobs/scans HTTP/1.1\r\n\r\n".utf8)

    @Test func `an opening of any bytes ends in the same way, whatever the pieces`() {
        Fuzz.run("TLS opening", quick: 1_500, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.openings.input(fuzz)
            let whole = Session()
            _ = whole.deliver(bytes)
            try #require(whole.received.isEmpty && !whole.isEstablished)
            for pieces in fuzz.cuts(of: bytes) {
                let session = Session()
                for piece in pieces { _ = session.deliver(piece) }
                try #require(session.end == whole.end && session.received.isEmpty)
            }
        }
    }

    @Test func `damage after the handshake changes no plaintext`() {
        Fuzz.run("TLS records", quick: 400, report: { Issue.record("\($0)") }) { fuzz in
            let session = Session()
            session.connect()
            let first = session.client.send(Self.request)
            let second = session.client.send(Self.request)
            var bytes = first + second
            for change in 0...UInt64(fuzz.below(3, 0, 0)) {
                let offset = fuzz.below(bytes.count, 1, change)
                switch fuzz.below(3, 2, change) {
                case 0: bytes[offset] ^= 1 << UInt8(fuzz.below(8, 3, change))
                case 1: bytes.remove(at: offset)
                default: bytes.insert(UInt8(fuzz.below(256, 3, change)), at: offset)
                }
            }
            for piece in fuzz.cuts(of: bytes).last ?? [] { _ = session.deliver(piece) }
            try #require((Self.request + Self.request).starts(with: session.received))
            try #require(session.received.count % Self.request.count == 0, "a record is read whole or not")
            try #require(bytes == first + second || session.received.count < 2 * Self.request.count)
        }
    }
}
