import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria
import Testing

/// lookup.billed-once, and what a look-up that no provider can answer is.
@Suite struct LookupTests {
    private static let barcode = "9780141439587"

    /// A look-up of a phone that looks books up, up to its first request.
    private func asked(_ rest: (inout History) -> Void) -> History {
        History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.phone(.keySent(attempt: 1, key: "k"))
            rest(&$0)
        }
    }

    private func lookup(
        _ key: String? = "k", _ barcode: String = Self.barcode, isFound: Bool = true, isBilled: Bool
    ) -> BackendObservation {
        .bookLookedUp(BookLookup(key: key, barcode: barcode, isFound: isFound, isBilled: isBilled))
    }

    private func lookUps(_ settings: inout LedgerSettings) {
        settings.fleet = PhoneGroups([("all", 1)])
        settings.journeys = [.bookEnrichment]
    }

    @Test func `each look-up is counted as what it cost`() {
        let history = self.asked {
            $0.backend(self.lookup(isBilled: true))
            $0.backend(self.lookup(isBilled: false))
            $0.backend(self.lookup("other", "9780306406157", isFound: false, isBilled: true))
        }
        let lookups = history.ledger().totals.lookups
        #expect(lookups.billed == 2 && lookups.repeated == 1 && lookups.unknown == 1)
    }

    @Test func `a retry with a new key breaks it, by what the phone sends and by what it costs`() {
        let history = self.asked {
            $0.backend(self.lookup(isBilled: true))
            $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(3)))
            $0.send(.upload, attempt: 2, job: nil)
            $0.phone(.keySent(attempt: 2, key: "k2"))
            $0.backend(self.lookup("k2", isBilled: true))
            $0.onDisk(.transport)
        }
        let ledger = history.ledger(self.lookUps)
        let verdict = ledger.verdicts.first { $0.invariant == .lookupBilledOnce }
        #expect(verdict?.violations == 2)
        #expect(verdict?.examples.first?.text == "request 2 has the key k2; an earlier one had k")
    }

    @Test func `a retry without a key breaks it, with any backend`() {
        func history(_ end: (inout History) -> Void) -> History {
            self.asked {
                $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(3)))
                $0.send(.upload, attempt: 2, job: nil)
                end(&$0)
                $0.onDisk(.transport)
            }
        }
        for isForeign in [false, true] {
            let failed = history { $0.phone(.requestFailed(.upload, attempt: 2, .reset, took: .zero)) }
            let answered = history { $0.phone(.replied(.upload, attempt: 2, status: 503, took: .zero)) }
            for one in [failed, answered] {
                let ledger = one.ledger {
                    self.lookUps(&$0)
                    $0.hasBackendView = !isForeign
                }
                let verdict = ledger.verdicts.first { $0.invariant == .lookupBilledOnce }
                #expect(verdict?.examples.map(\.text) == ["request 2 has no idempotency key"])
            }
            let keyed = history {
                $0.phone(.keySent(attempt: 2, key: "k"))
                $0.phone(.replied(.upload, attempt: 2, status: 503, took: .zero))
            }
            let held = keyed.ledger {
                self.lookUps(&$0)
                $0.hasBackendView = !isForeign
            }
            #expect(held.verdicts.first { $0.invariant == .lookupBilledOnce }?.violations == 0)
        }
    }

    @Test func `a repeated answer is the first one`() {
        for other in [
            self.lookup("k", "9780306406157", isBilled: false), self.lookup(isFound: false, isBilled: false),
        ] {
            let history = self.asked {
                $0.backend(self.lookup(isBilled: true))
                $0.backend(other)
                $0.onDisk(.transport)
            }
            #expect(
                history.complaint(.lookupBilledOnce)
                    == "a repeated request with the key k was answered otherwise")
        }
        let unasked = self.asked {
            $0.backend(self.lookup(isBilled: false))
            $0.onDisk(.transport)
        }
        #expect(unasked.broken() == [.lookupBilledOnce])
    }

    @Test func `keys of two phones are two keys, and without a key each request costs`() {
        let history = self.asked {
            $0.backend(self.lookup(isBilled: true))
            $0.backend(self.lookup(nil, isBilled: true))
            $0.onDisk(.transport)
            $0.device = DeviceNumber(1)
            $0.launch()
            $0.backend(self.lookup(isBilled: true))
        }
        #expect(history.broken() == [])
    }

    @Test func `a verdict on look-ups is given where somebody looks up`() {
        #expect(!History().ledger().verdicts.contains { $0.invariant == .lookupBilledOnce })
        #expect(History().ledger(self.lookUps).verdicts.contains { $0.invariant == .lookupBilledOnce })
    }

    // MARK: Books that no provider has

    /// Refused as not found; by the shelf the scan has a book.
    private func notFound(_ code: String = "NOT_FOUND") -> History {
        self.asked {
            $0.backend(self.lookup(isFound: false, isBilled: true))
            $0.uploadProblem(404)
            $0.phone(.lookupAnswered(found: false, repeated: false, took: .zero, service: .zero))
            $0.refuse(code, answer: 404)
        }
    }

    private static let otherwise =
        "refused as NOT_FOUND for a 404 to upload 1 that does not say that no provider has the book"

    @Test func `a 404 of a fault says that no provider has the book, or another thing`() {
        func complaints(isForeign: Bool, refuses: Bool) -> [String] {
            let history = self.asked {
                $0.fault(.fired(fault: 0, .upload, attempt: 1))
                $0.uploadProblem(404)
                $0.refuse("NOT_FOUND", answer: 404)
            }
            let ledger = history.ledger {
                self.lookUps(&$0)
                $0.hasBackendView = !isForeign
                $0.faultsThatRefuse = refuses ? [0] : []
            }
            return ledger.verdicts.first { $0.invariant == .scanRefusedForCause }?.examples.map(\.text) ?? []
        }
        for isForeign in [false, true] {
            #expect(complaints(isForeign: isForeign, refuses: true) == [])
            #expect(complaints(isForeign: isForeign, refuses: false) == [Self.otherwise])
        }
    }

    private func unexplained(_ history: History, unknown: Odds, isForeign: Bool = false) -> Int {
        var settings = LedgerSettings.embedded
        self.lookUps(&settings)
        settings.hasBackendView = !isForeign
        var shelf = Shelf(seed: 7, booksMin: 3, booksMax: 3)
        shelf.exceptions = [Shelf.Exception(devices: 0...0, stock: .oneBarcode)]
        shelf.unknownBooks = unknown
        var ledger = Ledger(shelf: shelf, settings: settings)
        for observation in history.observations { ledger.record(observation) }
        ledger.finish(waitingOnDisk: [], at: history.now)
        let isKnown = unknown == .never && !isForeign
        #expect(
            ledger.verdicts.flatMap(\.examples).map(\.text) == (isKnown ? [Self.otherwise] : []))
        #expect(ledger.totals.scans.refused == 1 && ledger.totals.scans.lost == 0)
        #expect(ledger.totals.books.expected == 0)
        return ledger.totals.scans.refusedUnexplained
    }

    @Test func `no provider has the book: a refusal that is explained by the shelf alone`() {
        #expect(self.unexplained(self.notFound(), unknown: .always) == 0)
        #expect(self.unexplained(self.notFound(), unknown: .never) == 1)
        #expect(self.unexplained(self.notFound("GONE"), unknown: .always) == 1)
        // The books of a foreign backend are not known.
        #expect(self.unexplained(self.notFound(), unknown: .never, isForeign: true) == 0)
    }

    @Test func `a scan that is refused for a 404 is refused without cause`() {
        #expect(self.notFound().broken().contains(.scanRefusedForCause))
    }
}
