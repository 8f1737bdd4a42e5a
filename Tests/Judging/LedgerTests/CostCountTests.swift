import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// What the ledger counts of books that have a price.
@Suite struct CostCountTests {
    private static let prices = {
        var prices = BookPrices()
        (prices.photo, prices.text) = (21_000, 1_000)
        return prices
    }()

    private static let book = Book(
        title: "T", author: "A", isbn: nil, confidence: nil, enrichmentStatus: nil, coverUrl: nil)

    private func costs(
        _ history: History, _ journey: Journey = .scan, isForeign: Bool = false, isPriced: Bool = true
    ) -> CostTotals {
        let ledger = history.ledger {
            $0.fleet = PhoneGroups([("all", 1)])
            $0.journeys = [journey]
            $0.hasBackendView = !isForeign
            $0.prices = isPriced ? Self.prices : nil
        }
        return ledger.totals.costs
    }

    private func numbers(_ way: CostTotals.Way) -> [Int] { [way.books, way.requests, way.bytes] }

    /// A book that the phone reads by itself, up to the request with its text, of 300 bytes.
    private func read(_ rest: (inout History) -> Void) -> History {
        History {
            $0.launch()
            $0.phone(.captured(scheduled: $0.now))
            $0.phone(.photoPrepared(took: nil, bytes: 300))
            $0.phone(.queued(.captured))
            $0.send(.upload, job: nil)
            rest(&$0)
        }
    }

    private func file(_ history: inout History) {
        history.phone(.bookAdded(ordinal: 0, book: Self.book))
        history.complete()
    }

    @Test func `a photo that a killed process meant to upload costs nothing`() {
        let history = self.read {
            $0.uploadProblem(404)
            $0.phone(.photoInstead(.noEndpoint))
            $0.kill(keeping: nil)
            $0.launch(restored: 1)
            $0.lookUp(2, found: true)
            $0.merge()
            self.file(&$0)
        }
        let costs = self.costs(history, .textEnrichment, isForeign: true)
        #expect(costs.text.books == 1 && costs.photo.books == 0)
    }

    // MARK: Photos

    @Test func `books of a photo cost its price, once each, and every upload is a request`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(3)))
            $0.upload(attempt: 2)
            $0.open()
            $0.terminal(0)
            $0.addBooks()
            $0.repeatBooks([0])
            $0.complete()
            $0.clean()
        }
        let costs = self.costs(history)
        #expect(self.numbers(costs.photo) == [3, 2, 2_000] && self.numbers(costs.text) == [0, 0, 0])
        #expect(costs.otherBooks == 0)
        #expect(self.costs(history, isPriced: false) == CostTotals())
    }

    @Test func `an upload of several photos has the bytes of all`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.phone(.photosTaken(3))
            $0.send(.upload, job: nil)
            $0.onDisk(.transport)
        }
        #expect(self.numbers(self.costs(history).photo) == [0, 1, 3_000])
    }

    @Test(arguments: [
        (Journey.bookshelfScan, 3, 0), (.batchEnrichment, 0, 3), (.scan, 3, 0),
    ])
    func `what is asked for without a photo has no price`(journey: Journey, photo: Int, other: Int) {
        let history = History {
            $0.streaming()
            $0.ending(2)
        }
        let costs = self.costs(history, journey)
        #expect(costs.photo.books == photo && costs.otherBooks == other)
        #expect(costs.photo.requests == (photo > 0 ? 1 : 0))
    }

    @Test func `books that wait for a review, or whose scan is discarded, have come as well`() {
        let waiting = History {
            $0.streaming()
            $0.terminal(2)
            for ordinal in 0...2 {
                $0.phone(.bookPending(ordinal: ordinal, entry: ordinal, book: $0.book(ordinal)))
            }
            $0.complete()
            $0.clean()
        }
        #expect(self.costs(waiting).photo.books == 3)
        let discarded = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks([0, 1])
            $0.phone(.reinstalled(discarded: 1))
            $0.launch()
        }
        #expect(self.costs(discarded).photo.books == 2)
    }

    @Test func `a scan of an earlier run has the bytes of its upload`() {
        let history = History {
            $0.launch(restored: 1)
            $0.phone(.photoPrepared(took: nil, bytes: 700))
            $0.send(.upload, attempt: 4, job: nil)
            $0.onDisk(.transport)
        }
        #expect(self.numbers(self.costs(history).photo) == [0, 1, 700])
        #expect(history.broken().isEmpty)
    }

    // MARK: Texts

    @Test func `a look-up that was answered costs the price of a text`() {
        let history = self.read {
            $0.phone(.lookupAnswered(found: true, repeated: false, took: .zero, service: .zero))
            let outcome = TextOutcome(title: .talaria, author: .talaria, discrepancies: 0)
            $0.phone(.enriched(outcome, took: .milliseconds(2), service: .zero))
            self.file(&$0)
        }
        let costs = self.costs(history, .textEnrichment, isForeign: true)
        #expect(self.numbers(costs.text) == [1, 1, 300] && self.numbers(costs.photo) == [0, 0, 0])
        #expect(costs.priced == PricedBooks(text: 1))
    }

    @Test func `a look-up that failed costs nothing, and its requests are counted`() {
        let history = self.read {
            $0.phone(.replied(.upload, attempt: 1, status: 400, took: .zero))
            $0.phone(.readingKept(.unexpectedStatus))
            self.file(&$0)
        }
        let costs = self.costs(history, .textEnrichment, isForeign: true)
        #expect(self.numbers(costs.text) == [0, 1, 300] && costs.otherBooks == 1)
    }

    @Test func `a photo that goes up instead costs the price of a photo`() {
        let history = self.read {
            $0.phone(.replied(.upload, attempt: 1, status: 404, took: .zero))
            $0.phone(.photoInstead(.noEndpoint))
            $0.phone(.photoPrepared(took: nil, bytes: 50_000))
            $0.phone(.queued(.unexpectedStatus))
            $0.send(.upload, attempt: 2, job: nil)
            $0.phone(.uploadAccepted(job: "j", took: .milliseconds(1), service: .milliseconds(1)))
            self.file(&$0)
        }
        let costs = self.costs(history, .textEnrichment, isForeign: true)
        #expect(self.numbers(costs.text) == [0, 1, 300] && self.numbers(costs.photo) == [1, 1, 50_000])
    }

    // MARK: The table

    @Test func `the totals come to the metrics with their prices`() {
        let history = History {
            $0.streaming()
            $0.ending(2)
        }
        let ledger = history.ledger {
            $0.fleet = PhoneGroups([("all", 1)])
            $0.prices = Self.prices
        }
        var table = MetricTable(groups: ["all"])
        ledger.record(into: &table)
        #expect(table.prices == Self.prices)
        #expect(table.set(in: MetricGroup(index: 0)).books == PricedBooks(photo: 3))
    }
}
