import OriginServer
import Testing

@testable import Backend

@Suite struct TokenSecretTests {
    private static let secret = TokenSecret { 0x0123_4567_89AB_CDEF &* ($0 &+ 1) }

    @Test func `a secret is shown by its own text`() {
        #expect(Bearer(authorization: "Bearer \(Self.secret.text)") == .secret(Self.secret))
        #expect(Bearer(authorization: "bEARER   \(Self.secret.text)") == .secret(Self.secret))
    }

    @Test func `a secret is shown by nothing else`() {
        let text = Self.secret.text
        for index in 0..<64 {
            var other = Array(text)
            other[index] = other[index] == "0" ? "1" : "0"
            guard case .secret(let shown) = Bearer(authorization: "Bearer \(String(other))") else {
                Issue.record("digit \(index) makes it no secret")
                continue
            }
            #expect(shown != Self.secret)
            for foreign in ["g", "G", "A", " ", "/", ":", "é", "\u{10}"] {
                other[index] = Character(foreign)
                #expect(Bearer(authorization: "Bearer \(String(other))") == .foreign)
            }
        }
        #expect(Bearer(authorization: "Bearer \(text.dropLast())") == .foreign)
        #expect(Bearer(authorization: "Bearer \(text)0") == .foreign)
        for shown in [nil, "", "Bearer", "Bearer ", text, "Basic \(text)"] {
            #expect(Bearer(authorization: shown) == .missing)
        }
    }
}

@Suite struct UUIDBitsTests {
    @Test func `a text goes there and back`() throws {
        let text = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
        let bits = try #require(UUIDBits(text))
        #expect(bits.high == 0x3F25_04E0_4F89_41D3)
        #expect(bits.low == 0x9A0C_0305_E82C_3301)
        #expect(bits.text == text)
        #expect(UUIDBits(text.uppercased()) == bits)
        #expect(bits.isVersion4)
    }

    @Test func `every index must have what belongs there`() {
        let text = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
        for index in 0..<36 {
            for wrong in ["g", "-", "0", "\u{0}", "é"] where Array(text)[index] != Character(wrong) {
                var other = Array(text)
                other[index] = Character(wrong)
                let isDigit = wrong == "0" && Array(text)[index] != "-"
                #expect((UUIDBits(String(other)) != nil) == isDigit, "\(String(other))")
            }
        }
        #expect(UUIDBits(String(text.dropLast())) == nil)
        #expect(UUIDBits(text + "0") == nil)
        #expect(UUIDBits("") == nil)
    }
}
