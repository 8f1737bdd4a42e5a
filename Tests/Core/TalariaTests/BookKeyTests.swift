import Talaria
import Testing

/// What makes two entries of two answers one book.
@Suite struct BookKeyTests {
    private func book(_ title: String, _ author: String = "A", isbn: String? = nil) -> Book {
        Book(
            title: title, author: author, isbn: isbn, confidence: nil, enrichmentStatus: nil, coverUrl: nil)
    }

    private func same(_ left: Book, _ right: Book) -> Bool { BookKey(left).isSame(as: BookKey(right)) }

    @Test(arguments: ["9780306406157", "978-0-306-40615-7", "0306406152", "0-306-40615-2", " 0306406152 "])
    func `a number is the same in every writing`(isbn: String) {
        #expect(BookKey(self.book("T", isbn: isbn)).isbn == "9780306406157")
    }

    @Test(arguments: ["", "978", "9780306406158", "0000000001", "none"])
    func `what is no number identifies nothing`(isbn: String) {
        #expect(BookKey(self.book("T", isbn: isbn)) == BookKey(self.book("T")))
    }

    @Test(arguments: [
        ("Les Mise\u{301}rables", "LES MISÉRABLES"), ("Der Prozeß", "DER PROZESS"),
        ("Ὅμηρος", "ὍΜΗΡΟΣ"), ("  Moby-Dick;\u{A0} or,\tThe\nWhale ", "moby-dick; or, the whale"),
        ("A\u{0B}B\u{0C}C\r\nD\u{1C}E[\u{A0}", "a b c d\u{1C}E["),
    ])
    func `titles and authors are the same in every form, case and spacing`(one: String, other: String) {
        #expect(BookKey(self.book(one)) == BookKey(self.book(other)))
        #expect(BookKey(self.book("T", one)) == BookKey(self.book("T", other)))
        #expect(!self.same(self.book(one), self.book("T", one)))
    }

    @Test func `numbers decide where both have one, and words where one has none`() {
        let (first, second) = ("9780306406157", "9780141439587")
        #expect(self.same(self.book("T", isbn: first), self.book("another edition", isbn: first)))
        #expect(!self.same(self.book("T", isbn: first), self.book("T", isbn: second)))
        #expect(self.same(self.book("T", isbn: first), self.book("t")))
        #expect(!self.same(self.book("T", isbn: first), self.book("U")))
        #expect(!self.same(self.book("T", "A"), self.book("T", "B")))
    }

    @Test func `few books and many are counted alike`() {
        let titles = ["T", "U", "V"]
        let numbers = ["9780306406157", "9780141439587", nil]
        // Every choice of four books, and the same books so often that they are counted by hash.
        for choice in 0..<6_561 {
            let places = [choice % 9, choice / 9 % 9, choice / 81 % 9, choice / 729 % 9]
            let keys = places.map { BookKey(self.book(titles[$0 % 3], isbn: numbers[$0 / 3])) }
            let many = keys + keys + keys + keys
            #expect(BookKey.different(keys) == BookKey.different(many))
        }
        let three = [self.book("T"), self.book("T", isbn: "9780306406157"), self.book("U")]
        #expect(BookKey.different(three.map(BookKey.init)) == 2)
    }

    // MARK: Answers

    private func known(_ answer: [Book], in library: [Book]) -> [Bool] {
        BookPairs.known(answer, in: library)
    }

    @Test func `of two copies, a library that has one lacks the other`() {
        let copy = self.book("T")
        #expect(self.known([copy, copy], in: [copy]) == [true, false])
        #expect(self.known([copy], in: [copy, copy]) == [true])
        #expect(self.known([copy, copy, copy], in: [copy, copy]) == [true, true, false])
    }

    @Test func `a book is known by what is most like it`() {
        let isbn = "9780306406157"
        let (first, second) = (self.book("I", isbn: isbn), self.book("II", isbn: isbn))
        #expect(self.known([second, first], in: [first]) == [false, true], "two volumes with one number")
        #expect(self.known([self.book("new title", isbn: isbn)], in: [first]) == [true])
        let bare = self.book("I")
        #expect(self.known([bare, first], in: [first]) == [false, true])
        #expect(self.known([bare], in: [first]) == [true])
        #expect(self.known([first], in: [bare]) == [true])
        #expect(self.known([bare, bare], in: [first, bare]) == [true, true])
    }

    @Test func `any order of an answer leaves the same books`() {
        let books = (0..<6).map { self.book("T\($0 / 2)", isbn: $0 < 3 ? "9780306406157" : nil) }
        for first in books.indices {
            let answer = Array(books[first...] + books[..<first])
            for count in books.indices {
                let known = self.known(answer, in: Array(books.prefix(count)))
                #expect(known.count { $0 } == count, "rotated by \(first), \(count) known")
            }
        }
    }
}
