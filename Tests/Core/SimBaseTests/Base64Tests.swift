import SimBase
import Testing

@Suite struct Base64Tests {
    /// RFC 4648 section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the test vectors of the standard`(_ text: String, _ code: String) {
        #expect(Base64.text(Array(text.utf8)) == code)
        #expect(Base64.decodedCount(code) == text.utf8.count)
    }

    @Test func `every sign of the alphabet`() {
        let all = (0..<64).map { UInt8($0) }
        let bytes = stride(from: 0, to: 64, by: 4).flatMap { start -> [UInt8] in
            let bits = all[start..<start + 4].reduce(UInt32(0)) { $0 << 6 | UInt32($1) }
            return [16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
        }
        #expect(
            Base64.text(bytes) == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    }

    @Test(arguments: ["Zg=", "Zg", "Z===", "Zm9v\n", "Zm_v", "=Zm9"])
    func `what is no Base64 has no length`(_ text: String) {
        #expect(Base64.decodedCount(text) == nil)
    }
}
