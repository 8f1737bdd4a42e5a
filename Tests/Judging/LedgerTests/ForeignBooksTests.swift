import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// The books of a foreign backend, whose shelf is not known: what its summaries promise, and what a book is.
@Suite struct ForeignBooksTests {
    private static func book(_ number: Int, title: String? = nil) -> Book {
        Book(
            title: title ?? "T\(number)", author: "A", isbn: nil, confidence: nil, enrichmentStatus: nil,
            coverUrl: nil)
    }

    private func ledger(_ history: History, _ journey: Journey = .scan) -> Ledger {
        history.ledger {
            $0.hasBackendView = false
            $0.fleet = PhoneGroups([("all", 1)])
            $0.journeys = [journey]
        }
    }

    private func standing(_ history: History, _ invariant: Invariant = .bookNeverLost) -> Verdict.Standing? {
        self.ledger(history).verdicts.first { $0.invariant == invariant }?.standing
    }

    /// A scan whose results are these books.
    private func scan(_ promise: BooksPromise?, _ numbers: [Int]) -> History {
        History { history in
            history.streaming()
            history.terminal(2, inline: .absent)
            if let promise { history.phone(.booksPromised(job: history.job, promise)) }
            history.phone(.resultsDecoded(job: history.job, books: numbers.count, took: .zero))
            for (place, number) in numbers.enumerated() {
                history.phone(.bookAdded(ordinal: place, book: Self.book(number)))
            }
            history.complete()
            history.clean()
        }
    }

    // MARK: Promises

    @Test(arguments: [
        (3, [], Verdict.Standing.broken), (3, [0, 1], .broken), (3, [0, 1, 2], .held),
        (3, [0, 1, 2, 3], .held), (3, [0, 1, 1], .held), (3, [0, 1, 1, 1], .held), (4, [0, 1, 1], .broken),
        (0, [], .held),
    ])
    func `detected books have to come, less the copies of the list`(
        detected: Int, came: [Int], standing: Verdict.Standing
    ) throws {
        let promise = try #require(BooksPromise(unique: nil, detected: detected))
        let history = self.scan(promise, came)
        #expect(self.standing(history) == standing)
        let scans = self.ledger(history).totals.scans
        #expect([scans.completed, scans.lost] == (standing == .held ? [1, 0] : [0, 1]))
    }

    @Test(arguments: [
        ([], Verdict.Standing.broken), ([0, 1], .held), ([0, 0], .broken), ([0, 0, 1], .held),
    ])
    func `unique books are promised whatever was detected`(came: [Int], standing: Verdict.Standing) throws {
        let promise = try #require(BooksPromise(unique: 2, detected: 9))
        #expect(self.standing(self.scan(promise, came)) == standing)
    }

    @Test func `where no summary promises anything, nobody can know`() {
        #expect(self.standing(self.scan(nil, [])) == .notAvailable)
        #expect(self.ledger(self.scan(nil, [])).totals.scans.completed == 1)
    }

    @Test func `books of all answers count, in whatever order they come`() throws {
        let promise = try #require(BooksPromise(unique: nil, detected: 3))
        func history(missing: Int? = nil, again: [Int]) -> History {
            History { history in
                history.streaming()
                history.terminal(2, inline: .books)
                history.phone(.booksPromised(job: history.job, promise))
                history.phone(.bookAdded(ordinal: 0, book: Self.book(0)))
                history.phone(.bookAdded(ordinal: 1, book: Self.book(1)))
                history.kill(keeping: history.job, after: History.id(2))
                history.launch(restored: 1)
                history.phone(.resultsDecoded(job: history.job, books: 3, took: .zero))
                for (place, number) in again.enumerated() where number < 2 {
                    history.phone(.bookRepeated(ordinal: place, book: Self.book(number)))
                }
                for (place, number) in again.enumerated() where number >= 2 && number != missing {
                    history.phone(.bookAdded(ordinal: place, book: Self.book(number)))
                }
                history.complete()
            }
        }
        #expect(self.standing(history(again: [2, 0, 1])) == .held)
        #expect(self.standing(history(again: [2, 0, 1]), .bookNeverDoubleAdded) == .held)
        #expect(self.standing(history(missing: 2, again: [2, 1, 0])) == .broken)
    }

    // MARK: Doubles

    /// Books that enter the library with a first answer and, after a kill, with a second one.
    private func doubles(_ first: [Book], then second: [Book]) -> Verdict.Standing? {
        let history = History { history in
            history.streaming()
            history.terminal(2, inline: .books)
            for (place, book) in first.enumerated() {
                history.phone(.bookAdded(ordinal: place, book: book))
            }
            history.kill(keeping: history.job, after: History.id(2))
            history.launch(restored: 1)
            history.phone(.resultsDecoded(job: history.job, books: 3, took: .zero))
            for (place, book) in second.enumerated() {
                history.phone(.bookAdded(ordinal: 5 - place, book: book))
            }
            history.complete()
        }
        return self.standing(history, .bookNeverDoubleAdded)
    }

    @Test func `a book is doubled at any place, and in any writing`() {
        var (bare, bound) = (Self.book(1), Self.book(1))
        bound.isbn = "0-306-40615-2"
        var edition = Self.book(7)
        edition.isbn = "9780306406157"
        #expect(self.doubles([Self.book(0), bare], then: [Self.book(2)]) == .held)
        #expect(self.doubles([Self.book(0), bare], then: [bare]) == .broken)
        #expect(self.doubles([bare], then: [bound]) == .broken)
        #expect(self.doubles([bound], then: [bare]) == .broken)
        #expect(self.doubles([bound], then: [edition]) == .broken)
        bare.title = " t1 "
        #expect(self.doubles([Self.book(1)], then: [bare]) == .broken)
    }

    @Test func `two copies of one answer are two books, and one entry is one`() {
        #expect(self.doubles([Self.book(0), Self.book(0)], then: []) == .held)
        let history = History { history in
            history.streaming()
            history.terminal(2, inline: .books)
            history.phone(.bookAdded(ordinal: 0, book: Self.book(0)))
            history.phone(.bookAdded(ordinal: 0, book: Self.book(0)))
            history.complete()
        }
        #expect(self.standing(history, .bookNeverDoubleAdded) == .broken)
    }

    // MARK: No book at all

    private func books(_ histories: [History], shelf: Shelf = History.shelf) -> BookTotals {
        var totals = LedgerTotals()
        for history in histories { totals.add(self.ledger(history).totals) }
        return totals.books
    }

    @Test func `a run without a book is told, unless every summary says that there was none`() throws {
        let none = self.scan(BooksPromise(unique: nil, detected: 0), [])
        let silent = self.scan(nil, [])
        #expect(self.books([silent, none]).isNoneReceived)
        #expect(!self.books([none, none]).isNoneReceived)
        #expect(self.books([none, none]).isNoneFound && !self.books([silent, none]).isNoneFound)
        #expect(!self.books([silent, self.scan(nil, [0])]).isNoneReceived)
        #expect(!self.books([]).isNoneReceived)
    }

    @Test func `a scenario without books expects none`() {
        var settings = LedgerSettings.embedded
        settings.hasBackendView = false
        var ledger = Ledger(shelf: Shelf(seed: 7, booksMin: 0, booksMax: 0), settings: settings)
        let history = self.scan(nil, [])
        for observation in history.observations { ledger.record(observation) }
        ledger.finish(waitingOnDisk: [], at: history.now)
        #expect(!ledger.totals.books.isNoneReceived && ledger.totals.scans.completed == 1)
    }

    // MARK: The shelf of the simulated backend

    @Test
    func `an answer in another order adds what is missing, and a book that takes its place is a double`() {
        func history(_ added: Int) -> History {
            History { history in
                history.streaming()
                history.terminal(2)
                history.addBooks([0, 1])
                history.kill(keeping: history.job, after: History.id(1))
                history.launch(restored: 1)
                history.open(attempt: 2, after: History.id(1), serverAfter: 1)
                history.event(2, .completed, replayed: true)
                history.phone(.terminalApplied(job: history.job, kind: .completed, inline: .absent))
                history.phone(.resultsDecoded(job: history.job, books: 3, took: .zero))
                // In the order 2, 1, 0.
                history.phone(.bookRepeated(ordinal: 1, book: history.book(1)))
                history.phone(.bookAdded(ordinal: added == 0 ? 2 : 0, book: history.book(added)))
                if added != 0 { history.phone(.bookRepeated(ordinal: 2, book: history.book(0))) }
                history.complete()
                history.clean()
            }
        }
        #expect(history(2).broken() == [])
        #expect(history(0).broken() == [.bookNeverLost, .bookNeverDoubleAdded])
    }
}
