import Testing

@testable import Backend

@Suite struct TokenSecretTests {
    private static let secret = TokenSecret { 0x0123_4567_89AB_CDEF &* ($0 &+ 1) }

    @Test func `a secret is shown by its own text`() {
        #expect(Self.secret.isShown(by: "Bearer \(Self.secret.text)"))
        #expect(Bearer(authorization: "Bearer \(Self.secret.text)") == .secret(Self.secret))
    }

    @Test func `a secret is shown by nothing else`() {
        let text = Self.secret.text
        for place in 0..<64 {
            var other = Array(text)
            other[place] = other[place] == "0" ? "1" : "0"
            #expect(!Self.secret.isShown(by: "Bearer \(String(other))"))
        }
        for shown in ["", "Bearer ", text, "Bearer \(text.dropLast())", "Bearer \(text)0", "Basic \(text)"] {
            #expect(!Self.secret.isShown(by: shown))
        }
    }
}
