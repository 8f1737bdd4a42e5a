import Testing
import Wire

/// Every byte in a field name and in a value, as RFC 9110 sections 5.1 and 5.5 have it.
@Suite struct TokenTests {
    private static let tokens = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    private func isRead(_ field: [UInt8]) -> Bool {
        var reader = RequestReader(limits: .standard)
        var events: [RequestEvent] = []
        let bytes = Array("GET / HTTP/1.1\r\nHost: h\r\n".utf8) + field + Array("\r\n\r\n".utf8)
        return (try? reader.receive(bytes, into: &events)) != nil && events.last == .end
    }

    @Test(arguments: 0...255 as ClosedRange<UInt8>)
    func `a byte stands in a name when it is a token's, and in a value unless it is a control`(byte: UInt8) {
        if byte != UInt8(ascii: ":") {
            let name = [UInt8(ascii: "X"), byte, UInt8(ascii: "y"), UInt8(ascii: ":")] + Array(" v".utf8)
            #expect(self.isRead(name) == Self.tokens.contains(byte))
        }
        let value = Array("X: a long enough value ".utf8) + [byte] + Array("and more".utf8)
        #expect(self.isRead(value) == (byte == 0x09 || byte >= 0x20 && byte != 0x7F))
    }
}
