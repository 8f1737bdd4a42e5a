import CSV
import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// book.answered: what comes of the books that a batch or a look-up asks for, above all of a backend that nobody observes.
@Suite struct AnsweredBookTests {
    private static func ledger(_ history: History, _ journey: Journey, isForeign: Bool = true) -> Ledger {
        history.ledger {
            $0.hasBackendView = !isForeign
            $0.fleet = FleetMap([("all", 1)])
            $0.journeys = [journey]
        }
    }

    private func complaints(_ history: History, _ journey: Journey) -> [String] {
        Self.ledger(history, journey).verdicts.first { $0.invariant == .bookAnswered }?.examples.map(\.text)
            ?? ["no verdict"]
    }

    /// A batch of the three books of the shelf, of whose results these come.
    private func batch(_ come: (inout History) -> [Book]) -> History {
        History { history in
            history.streaming()
            history.terminal(2, inline: .absent)
            for (ordinal, book) in come(&history).enumerated() {
                history.phone(.bookAdded(ordinal: ordinal, book: book))
            }
            history.complete()
        }
    }

    private func named(_ book: Book) -> String { "\"\(book.title)\"" + (book.isbn.map { " (\($0))" } ?? "") }

    @Test func `a batch whose books all come, in any order, is whole`() {
        #expect(self.complaints(self.batch { [$0.book(0), $0.book(1), $0.book(2)] }, .batchEnrichment) == [])
        #expect(self.complaints(self.batch { [$0.book(2), $0.book(0), $0.book(1)] }, .batchEnrichment) == [])
    }

    @Test func `a batch that leaves books out names them, and is not green`() {
        let history = self.batch { [$0.book(0), $0.book(2)] }
        #expect(
            self.complaints(history, .batchEnrichment) == [
                "1 of the 3 books that the batch asked for never came: \(self.named(history.book(1)))"
            ])
        #expect(Self.ledger(history, .batchEnrichment).isBroken)
        let empty = self.batch { _ in [] }
        #expect(self.complaints(empty, .batchEnrichment).count == 1)
        #expect(self.complaints(history, .scan) == ["no verdict"], "nobody knows what a photo shows")
    }

    @Test func `a book that comes twice stands for no other`() {
        let history = self.batch { [$0.book(0), $0.book(0), $0.book(1)] }
        #expect(
            self.complaints(history, .batchEnrichment) == [
                "1 of the 3 books that the batch asked for never came: \(self.named(history.book(2)))"
            ])
    }

    @Test func `a book that no batch had asked for is none of it`() {
        let other = Book(
            title: "Another", author: "", isbn: "9780141439587", confidence: nil, enrichmentStatus: nil,
            coverUrl: nil)
        let history = self.batch { [$0.book(0), $0.book(1), other, $0.book(2)] }
        #expect(
            self.complaints(history, .batchEnrichment) == [
                "of the books that came, the batch had not asked for 1: \"Another\" (9780141439587)"
            ])
    }

    @Test func `another writing of a number and another edition of a title are the same book`() throws {
        let history = self.batch { history in
            (0...2).map { ordinal in
                var book = history.book(ordinal)
                if ordinal == 0 { book.title = "as the provider has it" } else { book.isbn = "9780141439587" }
                if let number = book.isbn.flatMap(ISBN.init), ordinal == 0 { book.isbn = number.tenDigits }
                return book
            }
        }
        #expect(history.book(0).isbn != nil)
        #expect(self.complaints(history, .batchEnrichment) == [])
    }

    @Test func `books from before a kill are not missing`() {
        let history = History {
            $0.streaming()
            $0.terminal(2, inline: .absent)
            $0.addBooks([0])
            $0.kill(keeping: $0.job, after: History.id(2))
            $0.launch(restored: 1)
            $0.open(attempt: 2, after: History.id(2), serverAfter: 2)
            $0.event(2, .completed, replayed: true)
            $0.phone(.terminalApplied(job: $0.job, kind: .completed, inline: .absent))
            // The second was durable, and nobody had told of it.
            $0.phone(.bookRepeated(ordinal: 0))
            $0.phone(.bookRepeated(ordinal: 1))
            $0.addBooks([2])
            $0.complete()
        }
        #expect(self.complaints(history, .batchEnrichment) == [])
    }

    /// A look-up of this barcode that is answered with a book of that ISBN.
    private func lookup(_ barcode: String, answered isbn: String?) -> History {
        History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.phone(.keySent(attempt: 1, key: EnrichmentRequest.key(barcode: barcode)))
            let book = Book(
                title: "Emma", author: "", isbn: isbn, confidence: nil, enrichmentStatus: nil, coverUrl: nil)
            $0.phone(.bookAdded(ordinal: 0, book: book))
            $0.complete()
        }
    }

    @Test func `the book of another barcode is no answer to a look-up`() {
        #expect(
            self.complaints(self.lookup("9780306406157", answered: "9780141439587"), .bookEnrichment)
                == ["the book 9780306406157 was asked for, and 9780141439587 came (\"Emma\")"])
        let unreadable = self.lookup("9780306406157", answered: "no number")
        #expect(self.complaints(unreadable, .bookEnrichment).count == 1)
        for same in ["9780306406157", "978-0-306-40615-7", "0306406152", nil] {
            #expect(self.complaints(self.lookup("9780306406157", answered: same), .bookEnrichment) == [])
        }
    }

    @Test func `the verdict is given where somebody asks for books by name`() {
        func isJudged(_ journey: Journey) -> Bool {
            Self.ledger(History(), journey).verdicts.contains { $0.invariant == .bookAnswered }
        }
        #expect(Journey.allCases.filter(isJudged) == [.batchEnrichment, .bookEnrichment])
    }
}
