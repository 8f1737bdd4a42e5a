import CSV
import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// book.answered: the outcome of the books that a batch or a look-up asks for, above all with a backend that
/// is not observed.
@Suite struct AnsweredBookTests {
    private static func ledger(_ history: History, _ journey: Journey, isForeign: Bool = true) -> Ledger {
        history.ledger {
            $0.hasBackendView = !isForeign
            $0.fleet = PhoneGroups([("all", 1)])
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

    @Test func `more books than were asked for are a violation, even if each was`() {
        let history = self.batch { [$0.book(0), $0.book(1), $0.book(2), $0.book(1)] }
        #expect(
            self.complaints(history, .batchEnrichment) == ["4 books came of a batch that asked for 3"])
    }

    @Test func `two batches have two ids, and a repeated upload may have the same one`() {
        func history(_ job: String, scan: UInt32) -> History {
            History { history in
                history.streaming()
                history.job = job
                history.scan = ScanNumber(scan)
                if scan > 1 { history.capture() }
                history.send(.upload, attempt: 2, job: nil)
                history.phone(
                    .uploadAccepted(job: job, took: .milliseconds(9), service: .milliseconds(8)))
            }
        }
        #expect(self.complaints(history("job-1", scan: 1), .batchEnrichment) == [])
        #expect(self.complaints(history("job-2", scan: 2), .batchEnrichment) == [])
        #expect(
            self.complaints(history("job-1", scan: 2), .batchEnrichment)
                == ["the batch has the id job-1, which is that of another one"])
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
            // The second was durable, and had not been reported.
            $0.repeatBooks([0])
            $0.repeatBooks([1])
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

    // MARK: Books that the backend says it has not found

    /// A batch of three books at whose end the backend counts failures.
    private func batch(failed: Int, of total: Int = 3, _ come: (inout History) -> [Book]) -> History {
        History { history in
            history.streaming()
            history.terminal(2, inline: .absent)
            history.phone(.booksNotFound(job: history.job, BookFailures(failed: failed, total: total)))
            for (ordinal, book) in come(&history).enumerated() {
                history.phone(.bookAdded(ordinal: ordinal, book: book))
            }
            history.complete()
        }
    }

    private func totals(_ history: History) -> BookTotals {
        Self.ledger(history, .batchEnrichment).totals.books
    }

    private func absent(_ totals: BookTotals) -> [String] {
        totals.absent.entries.map { "\($0.name) \($0.count)" }
    }

    @Test func `a book that the backend counts as a failure is named and violates nothing`() {
        let history = self.batch(failed: 1) { [$0.book(0), $0.book(2)] }
        #expect(self.complaints(history, .batchEnrichment) == [])
        let totals = self.totals(history)
        #expect([totals.asked, totals.unknown, totals.unjudged] == [3, 1, 0])
        #expect(self.absent(totals) == ["\(self.named(history.book(1))) 1"])
        #expect(!totals.isNothingAnswered)
    }

    @Test func `more books missing than the backend admits are a violation`() {
        let history = self.batch(failed: 1) { [$0.book(2)] }
        #expect(
            self.complaints(history, .batchEnrichment) == [
                "2 of the 3 books that the batch asked for never came, and the backend counts 1 as failures: "
                    + "\(self.named(history.book(0))), \(self.named(history.book(1)))"
            ])
        let totals = self.totals(history)
        #expect([totals.asked, totals.unknown] == [3, 0] && totals.absent.names == [])
    }

    @Test func `what a backend counts as found has to come, however many failures it counts`() {
        // Two successes and five failures of three books.
        let boastful = self.batch(failed: 5, of: 7) { [$0.book(0)] }
        #expect(self.complaints(boastful, .batchEnrichment).count == 1)
        let honest = self.batch(failed: 5, of: 7) { [$0.book(0), $0.book(1)] }
        #expect(self.complaints(honest, .batchEnrichment) == [])
    }

    @Test func `a book that comes as not found may be one of the failures or not`() {
        /// Of three books these come, the first of them as not found.
        func complaints(_ ordinals: [Int], notFound: Int, failed: Int) -> Int {
            let history = self.batch(failed: failed) { history in
                ordinals.enumerated().map { place, ordinal in
                    var book = history.book(ordinal)
                    book.enrichmentStatus = place < notFound ? .notFound : .success
                    return book
                }
            }
            return self.complaints(history, .batchEnrichment).count
        }
        #expect(complaints([0, 1, 2], notFound: 2, failed: 2) == 0, "both failures are in the list")
        #expect(complaints([0, 1], notFound: 1, failed: 1) == 0, "the failure is not in the list")
        #expect(complaints([0, 1], notFound: 2, failed: 2) == 1, "the only success is kept back")
        #expect(complaints([0], notFound: 1, failed: 2) == 0)
    }

    @Test func `books that nobody had asked for are none of the failures`() {
        let history = self.batch(failed: 1) {
            var other = $0.book(1)
            other.title = "Another"
            other.isbn = nil
            return [$0.book(0), other, $0.book(2)]
        }
        #expect(
            self.complaints(history, .batchEnrichment) == [
                "of the books that came, the batch had not asked for 1: \"Another\""
            ])
    }

    @Test func `the last event counts, and a new one without failures takes them back`() {
        let history = History { history in
            history.streaming()
            history.terminal(2, inline: .absent)
            history.phone(.booksNotFound(job: history.job, BookFailures(failed: 1, total: 3)))
            history.kill(keeping: history.job, after: History.id(1))
            history.launch(restored: 1)
            history.open(attempt: 2, after: History.id(1), serverAfter: 1)
            history.terminal(2, inline: .absent)
            history.addBooks([0, 1])
            history.complete()
        }
        #expect(self.complaints(history, .batchEnrichment).count == 1)
    }

    /// A batch with one book that never came, and whose end could not be read.
    private func garbled(byFault: Bool) -> Ledger {
        let history = History { history in
            history.streaming()
            if byFault { history.fault(.fired(fault: 0, .stream, attempt: 1)) }
            history.terminal(2, inline: .undecodable)
            history.addBooks([0, 1])
            history.complete()
        }
        return history.ledger {
            $0.hasBackendView = false
            $0.fleet = PhoneGroups([("all", 1)])
            $0.journeys = [.batchEnrichment]
            $0.faultsThatGarble = [0]
        }
    }

    @Test func `a count that a fault of the run made unreadable is held against nobody, and told`() {
        let spoilt = self.garbled(byFault: true)
        #expect(!spoilt.isBroken)
        #expect([spoilt.totals.books.unknown, spoilt.totals.books.unjudged] == [0, 1])
        #expect(spoilt.totals.books.absent.names.count == 1)
        #expect(self.garbled(byFault: false).isBroken, "what the backend itself has spoilt admits nothing")
    }

    @Test func `names of many books are bounded, and the rest is counted`() {
        var totals = LedgerTotals()
        for number in 0..<40 { totals.books.name(absent: "book \(number)") }
        var both = totals
        both.add(totals)
        let absent = both.books.absent
        #expect(absent.names.count == BookTotals.namesMax + 1)
        #expect(absent[BookTotals.others] == 2 * Int64(40 - BookTotals.namesMax))
        #expect(absent["book 0"] == 2)
    }

    @Test func `a backend that has found none of the books is told apart`() {
        let history = self.batch(failed: 3) { _ in [] }
        #expect(self.complaints(history, .batchEnrichment) == [])
        #expect(self.totals(history).isNothingAnswered)
    }
}
