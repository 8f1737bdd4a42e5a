import SimBase
import Testing

struct LevenshteinTests {
    @Test(arguments: [
        ("", "", 0, 0), ("", "abc", 3, 3), ("kitten", "sitting", 3, 3), ("ab", "ba", 2, 1),
        ("ca", "abc", 3, 3),
        ("same", "same", 0, 0), ("abcdef", "bcdefa", 2, 2), ("a cat", "an act", 3, 2), ("xabx", "xbax", 2, 1),
    ])
    func `the distance counts edits, and a swap as one or as two`(
        left: String, right: String, edits: Int, withSwaps: Int
    ) {
        for (left, right) in [(Array(left), Array(right)), (Array(right), Array(left))] {
            #expect(Levenshtein.distance(left, right, countsSwaps: false) == edits)
            #expect(Levenshtein.distance(left, right, countsSwaps: true) == withSwaps)
        }
    }

    /// What a person sees as one character is one, in every normal form, and case counts.
    @Test(arguments: [
        ("", "", 0, 0), ("", "Emma", 4, 4), ("Emma", "emma", 1, 4), ("Emma", "mEma", 2, 4),
        ("Émile", "E\u{301}mile", 0, 5),
        ("Émile", "Emile", 1, 5), ("각", "\u{1100}\u{1161}\u{11A8}", 0, 1), ("각각", "각간", 1, 2),
        ("ệ", "e\u{302}\u{323}", 0, 1), ("e\u{323}\u{302}", "e\u{302}\u{323}", 0, 1),
        ("a\u{301}\u{302}", "a\u{302}\u{301}", 1, 1), ("Ω", "\u{2126}", 0, 1), ("ﬁ", "fi", 2, 2),
        ("👩‍👩‍👧‍👦", "👩", 1, 1), ("👍🏽", "👍🏻", 1, 1), ("🇩🇪🇫🇷", "🇫🇷", 1, 2), ("a\r\nb", "a\nb", 1, 3),
    ])
    func `the similarity is that of grapheme clusters`(
        left: String, right: String, distance: Int, length: Int
    ) {
        let known = Levenshtein.similarity(left, right)
        #expect(known?.distance == distance && known?.length == length)
        #expect(Levenshtein.similarity(right, left) == known)
    }

    @Test func `a bound is strict, and two empty texts are equal`() {
        let (fourFifths, fiveSixths) = (
            Levenshtein.similarity("Emmas", "Emmaz"), Levenshtein.similarity("Emma S", "Emma Z")
        )
        #expect(fourFifths?.isAbove(percent: 80) == false && fiveSixths?.isAbove(percent: 80) == true)
        #expect(fourFifths?.isAbove(percent: 79) == true && fiveSixths?.isAbove(percent: 84) == false)
        let empty = Levenshtein.similarity("", "")
        #expect(empty?.isAbove(percent: 99) == true && empty?.isAbove(percent: 100) == false)
        #expect(Levenshtein.similarity("", "a")?.isAbove(percent: 0) == false)
    }

    @Test(arguments: ["a", "\u{E9}", "e\u{301}", "\u{1112}\u{1161}\u{11AB}", "👩‍👩‍👧‍👦"])
    func `a text may have 500 characters of any kind`(character: String) {
        let longest = String(repeating: character, count: Levenshtein.charactersMax)
        #expect(Levenshtein.charactersMax == 500)
        #expect(Levenshtein.similarity(longest, "")?.distance == 500)
        #expect(Levenshtein.similarity(longest, longest)?.length == 500)
        #expect(Levenshtein.similarity(longest + "b", longest + "b") == nil)
        #expect(Levenshtein.similarity("", longest + "b") == nil)
    }

    /// Sorting marks takes the square of their number.
    @Test func `a character may have 31 marks`() {
        let most = "o" + String(repeating: "\u{301}", count: Levenshtein.scalarsMax - 1)
        #expect(Levenshtein.similarity(most, "o")?.distance == 1)
        #expect(Levenshtein.similarity(most + "\u{301}", "o") == nil)
        #expect(Levenshtein.similarity("o", most + "\u{301}") == nil)
    }

    @Test func `a text of many bytes is not split`() {
        let character = "o" + String(repeating: "\u{301}", count: Levenshtein.scalarsMax - 1)
        #expect(character.utf8.count == 63 && Levenshtein.bytesMax == 16_000)
        #expect(Levenshtein.similarity(String(repeating: character, count: 253), "")?.length == 253)
        #expect(Levenshtein.similarity(String(repeating: character, count: 254), "") == nil)
        #expect(Levenshtein.similarity("", String(repeating: character, count: 254)) == nil)
    }
}
