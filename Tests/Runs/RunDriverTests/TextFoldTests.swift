import Testing

@testable import RunDriver

@Suite struct TextFoldTests {
    @Test func `lines break between words, and what continues one is indented`() {
        #expect(TextFold.text("one two three", columns: 7) == "one two\n  three")
        #expect(TextFold.text("  one two\nthree", columns: 6) == "  one\n   two\nthree")
    }

    @Test func `a word that is wider than a line stays whole`() {
        #expect(
            TextFold.lines("a /very/long/path b", columns: 6, indent: 0) == ["a", "/very/long/path", "b"])
    }

    @Test func `colors take no room`() {
        #expect(TextFold.text("\u{1B}[31mred\u{1B}[0m one", columns: 7) == "\u{1B}[31mred\u{1B}[0m one")
    }
}
