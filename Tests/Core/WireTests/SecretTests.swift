import Testing
import Wire

@Suite struct SecretTests {
    @Test func `secrets are equal as wholes`() {
        #expect(Secret.areEqual("abc", "abc") && Secret.areEqual("", ""))
        #expect(!Secret.areEqual("abc", "abd") && !Secret.areEqual("abc", "ab"))
        #expect(!Secret.areEqual("abc", "xbc") && !Secret.areEqual("", "a"))
    }
}
