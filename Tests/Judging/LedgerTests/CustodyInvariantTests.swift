import Histories
import Ledger
import Metrics
import SimBase
import Talaria
import Testing

/// Each history that breaks an invariant is next to one that is nearly the same and breaks none.
@Suite struct CustodyInvariantTests {
    @Test func `each region of a photo is taken, unless the app leaves the screen`() {
        func broken(_ taken: [(capture: UInt32, number: Int)], leaves: Bool = false) -> [Invariant] {
            History { history in
                history.launch()
                for (index, region) in taken.enumerated() {
                    history.scan = ScanNumber(UInt32(index + 1))
                    history.job = "job-\(index)"
                    history.phone(.regionTaken(capture: region.capture, number: region.number, of: 2))
                    history.wholeScan()
                    if leaves, index == 0 { history.phone(.suspended) }
                }
            }.broken()
        }
        #expect(broken([(1, 1), (1, 2), (3, 1), (3, 2)]) == [])
        #expect(broken([(1, 1), (2, 1), (2, 2)]) == [.scanCustody])
        #expect(broken([(1, 1), (1, 2), (3, 1)]) == [.scanCustody])
        #expect(!broken([(1, 1), (2, 1), (2, 2)], leaves: true).contains(.scanCustody))
    }

    @Test func `a photo has the regions that the plan draws`() {
        func history(_ taken: [(number: Int, of: Int)]) -> History {
            History { history in
                history.launch()
                for (index, region) in taken.enumerated() {
                    history.scan = ScanNumber(UInt32(index + 1))
                    history.job = "job-\(index)"
                    if region.of > 1 {
                        history.phone(.regionTaken(capture: 1, number: region.number, of: region.of))
                    }
                    history.wholeScan()
                }
            }
        }
        func complaints(_ history: History, _ regions: ClosedRange<Int>) -> [String] {
            let ledger = history.ledger {
                $0.fleet = PhoneGroups([("all", 1)])
                $0.regions = [regions]
            }
            return ledger.verdicts.first { $0.invariant == .scanCustody }?.examples.map(\.text) ?? []
        }
        let three = history([(1, 3), (2, 3), (3, 3)])
        #expect(complaints(three, 3...3) == [])
        #expect(
            complaints(history([(1, 2), (2, 2)]), 3...3).first
                == "region 1 of 2 was taken; due was region 1 of 3")
        #expect(
            complaints(history([(1, 3), (2, 3), (2, 3)]), 3...3)
                == [
                    "region 2 of 3 was taken; due was region 3 of 3",
                    "region 3 of 3 of its photo was never taken",
                ])
        #expect(
            complaints(history([(1, 1)]), 3...3) == [
                "captured as a whole; its photo has 3 regions by the plan"
            ])
        #expect(complaints(history([(1, 1)]), 1...1) == [])
        // Drawn as the phone draws them, by the first scan of the capture.
        let drawn = 2 + KeyedRandom(seed: History.shelf.seed).below(4, .regionsPerCapture, 0, 1)
        for count in 2...5 {
            let history = history((1...count).map { ($0, count) })
            #expect(complaints(history, 2...5).isEmpty == (count == Int(drawn)), "\(count)")
        }
    }

    // MARK: scan.custody

    private static let afterItsEnd: [(String, @Sendable (inout History) -> Void)] = [
        ("refused after it was settled", { $0.refuse() }),
        ("captured with a number that is in use", { $0.capture() }),
        ("queued after it was settled", { $0.phone(.queued(.transport)) }),
        ("uploaded after it was settled", { $0.send(.upload, attempt: 2, job: nil) }),
        ("settled, but still waiting on disk", { $0.onDisk(.suspended) }),
    ]

    @Test(arguments: Self.afterItsEnd.indices)
    func `a settled scan that something else happens to breaks custody`(index: Int) {
        let (complaint, script) = Self.afterItsEnd[index]
        let history = History {
            $0.launch()
            $0.wholeScan()
            script(&$0)
        }
        #expect(history.broken().contains(.scanCustody))
        #expect(history.complaint(.scanCustody) == complaint)
        let scans = history.ledger().totals.scans
        #expect([scans.captured, scans.completed, scans.refused, scans.waiting] == [1, 1, 0, 0])
    }

    @Test func `two records of one scan have two custodians`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.onDisk(.suspended)
            $0.onDisk(.offline)
        }
        #expect(history.complaint(.scanCustody) == "waiting on disk in two records")
        #expect(history.ledger().totals.scans.waiting == 1)
    }

    @Test func `an app that finds fewer scans after a relaunch has lost custody`() {
        func relaunch(restored: Int) -> History {
            History {
                $0.launch()
                $0.capture()
                $0.phone(.killed)
                $0.launch(restored: restored)
                $0.onDisk(.interrupted)
            }
        }
        #expect(relaunch(restored: 0).broken() == [.scanCustody])
        #expect(relaunch(restored: 1).broken() == [])
    }

    @Test func `a scan is not completed again after a kill that its storage does not know of`() {
        let again = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            $0.phone(.killed)
            $0.launch(restored: 0)
            $0.complete()
            $0.clean()
        }
        #expect(again.broken() == [.scanCustody])
        #expect(again.complaint(.scanCustody) == "completed after it was settled")
        #expect(again.ledger().totals.scans.completed == 1)
    }

    @Test func `a scan is not uploaded before its record is durable`() {
        func upload(isRecorded: Bool) -> History {
            History {
                $0.launch()
                $0.phone(.captured(scheduled: $0.now))
                if isRecorded { $0.phone(.queued(.captured)) }
                $0.upload()
                $0.phone(.queued(.interrupted))
                $0.onDisk(.interrupted)
            }
        }
        #expect(upload(isRecorded: true).broken() == [])
        #expect(upload(isRecorded: false).broken() == [.scanCustody])
        #expect(
            upload(isRecorded: false).complaint(.scanCustody) == "uploaded before its record was durable")
    }

    @Test func `a scan that was uploaded is lost by a kill, and not discarded as never stored`() {
        let killed = History {
            $0.launch()
            $0.phone(.captured(scheduled: $0.now))
            $0.send(.upload, job: nil)
            $0.phone(.killed)
            $0.launch(restored: 0)
        }
        #expect(killed.broken() == [.scanCustody])
        let scans = killed.ledger().totals.scans
        #expect(scans.lost == 1 && scans.discarded == 0)
    }

    // MARK: book.never-lost

    @Test func `a lost scan whose books the backend had found has lost its books`() {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks([0])
        }
        #expect(history.broken() == [.scanCustody, .bookNeverLost])
        var books = BookTotals()
        books.expected = 3
        books.received = 1
        books.missing = 2
        #expect(history.ledger().totals.books == books)
    }

    // MARK: book.never-double-added

    @Test func `a book that comes twice is counted as added or as recognized`() {
        func totals(_ again: (inout History) -> Void) -> LedgerTotals {
            History {
                $0.streaming()
                $0.terminal(2)
                $0.addBooks()
                again(&$0)
                $0.complete()
                $0.clean()
            }.ledger().totals
        }
        let twice = totals { $0.addBooks([1]) }
        #expect([twice.books.duplicated, twice.books.repeated, twice.scans.completed] == [1, 0, 1])
        let repeated = totals { $0.repeatBooks([1]) }
        #expect([repeated.books.duplicated, repeated.books.repeated] == [0, 1])
    }

    @Test func `a book added to a scan that is long settled is added twice`() {
        let history = History {
            $0.launch()
            $0.wholeScan()
            $0.addBooks([0])
        }
        #expect(history.broken() == [.bookNeverDoubleAdded])
    }

    @Test func `a re-upload after a kill adds only what is missing`() {
        func afterKill(adding ordinals: [Int], repeating known: [Int]) -> History {
            History {
                $0.streaming()
                $0.terminal(2)
                $0.addBooks([0])
                $0.phone(.killed)
                $0.launch(restored: 1)
                $0.job = "job-2"
                $0.upload(attempt: 2)
                $0.open(attempt: 2)
                $0.terminal(0)
                for ordinal in known { $0.repeatBooks([ordinal]) }
                $0.addBooks(ordinals)
                $0.complete()
                $0.clean()
            }
        }
        #expect(afterKill(adding: [1, 2], repeating: [0]).broken() == [])
        #expect(afterKill(adding: [0, 1, 2], repeating: []).broken() == [.bookNeverDoubleAdded])
    }

    // MARK: book.faithful

    private static let unfaithful: [(EventKind, @Sendable (inout Book) -> Void)] = [
        (.progress, { $0.confidence = 0.01 }),
        (.progress, { $0.enrichmentStatus = .circuitOpen }),
        (.enrichmentDegraded, { $0.enrichmentStatus = .pending }),
        (
            .enrichmentDegraded,
            {
                $0 = $0.degraded
                $0.author = "Nobody"
            }
        ),
    ]

    private func adding(_ kind: EventKind, _ change: (inout Book) -> Void) -> History {
        History {
            $0.streaming()
            $0.event(2, kind)
            $0.terminal(3)
            var book = $0.book(0)
            change(&book)
            $0.phone(.bookAdded(ordinal: 0, book: book))
            $0.addBooks([1, 2])
            $0.complete()
            $0.clean()
        }
    }

    @Test(arguments: Self.unfaithful.indices)
    func `a book that is not the shelf's, degraded or not, is not faithful`(index: Int) {
        let (kind, change) = Self.unfaithful[index]
        #expect(self.adding(kind, change).broken() == [.bookFaithful])
    }

    @Test func `a book may come whole although the backend said that it is degraded`() {
        #expect(self.adding(.enrichmentDegraded) { _ in }.broken() == [])
    }

    @Test(arguments: [-1, 3, Int.max, Int.min])
    func `a book that has no index on the shelf is not faithful`(ordinal: Int) {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.phone(.bookAdded(ordinal: ordinal, book: $0.book(0)))
            $0.complete()
            $0.clean()
        }
        #expect(history.broken() == [.bookFaithful])
    }

    // MARK: Expectations

    @Test func `a profile's known violations are counted apart and do not break the run`() {
        let history = History {
            $0.launch()
            $0.capture()
        }
        func ledger(_ profile: ProfileExpectation) -> Ledger {
            history.ledger {
                $0.fleet = PhoneGroups(groups: ["old"], groupOfDevice: [0])
                $0.profiles = [profile]
            }
        }
        let shipping = ledger(ProfileExpectation(name: "swiftwing-head", breaks: [.scanCustody]))
        let verdict = shipping.verdicts[0]
        #expect(verdict.standing == .brokenAsExpected)
        #expect(verdict.violations == 1)
        #expect(verdict.expected == 1)
        #expect(verdict.examples.map(\.isExpected) == [true])
        #expect(!shipping.isBroken)
        #expect(shipping.totals.scans.lost == 1)
        #expect(ledger(.contract).isBroken)
        #expect(ledger(ProfileExpectation(name: "wingtip", breaks: [.jobCleaned])).isBroken)
    }

    @Test func `a group without a profile is held to the contract`() {
        let history = History {
            $0.launch()
            $0.capture()
        }
        let ledger = history.ledger { $0.fleet = PhoneGroups(groups: ["a", "b"], groupOfDevice: [1]) }
        #expect(ledger.isBroken)
        #expect(ledger.totalsByGroup.map(\.scans.lost) == [0, 1])
    }

    @Test func `all violations are counted, and the first few kept`() {
        var history = History()
        for device: UInt32 in 0..<9 {
            history.device = DeviceNumber(device)
            history.launch()
            history.capture()
        }
        let verdict = history.ledger { $0.examplesMax = 2 }.verdicts[0]
        #expect(verdict.violations == 9)
        #expect(verdict.examples.map(\.device?.raw) == [0, 1])
    }
}
