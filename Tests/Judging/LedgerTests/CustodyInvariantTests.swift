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
                $0.fleet = FleetMap([("all", 1)])
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

    @Test func `a scan that is settled twice breaks custody`() {
        let twice = History {
            $0.streaming()
            $0.ending(2)
            $0.refuse()
        }
        #expect(twice.broken() == [.scanCustody])
        #expect(twice.complaint(.scanCustody) == "refused after it was settled")
        #expect(twice.ledger().totals.scans.completed == 1)
        #expect(twice.ledger().totals.scans.refused == 0)
    }

    @Test func `a scan number that is used twice breaks custody`() {
        let history = History {
            $0.launch()
            $0.wholeScan()
            $0.capture()
        }
        #expect(history.complaint(.scanCustody) == "captured with a number that is in use")
        #expect(history.ledger().totals.scans.captured == 1)
    }

    @Test func `a settled scan that goes back to the queue, or up again, breaks custody`() {
        let queued = History {
            $0.launch()
            $0.wholeScan()
            $0.phone(.queued(.transport))
        }
        #expect(queued.complaint(.scanCustody) == "queued after it was settled")
        let uploaded = History {
            $0.launch()
            $0.wholeScan()
            $0.send(.upload, attempt: 2, job: nil)
        }
        #expect(uploaded.complaint(.scanCustody) == "uploaded after it was settled")
    }

    @Test func `a scan in the library and on disk has two custodians`() {
        let history = History {
            $0.launch()
            $0.wholeScan()
            $0.onDisk(.suspended)
        }
        #expect(history.broken() == [.scanCustody])
        #expect(history.complaint(.scanCustody) == "settled, but still waiting on disk")
        #expect(history.ledger().totals.scans.waiting == 0)
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

    @Test func `a scan is complete once more only where that was not durable before the kill`() {
        func again(decided: Bool?) -> History {
            History {
                $0.streaming()
                $0.terminal(2)
                $0.addBooks()
                $0.complete()
                $0.send(.cleanup, job: $0.job)
                $0.phone(.killed)
                if let decided {
                    $0.phone(.recordKept(job: $0.job, lastEventID: History.id(1), decided: decided))
                }
                $0.launch(restored: decided == false ? 1 : 0)
                $0.complete()
                $0.clean()
            }
        }
        #expect(again(decided: false).broken() == [])
        #expect(again(decided: false).ledger().totals.scans.completed == 1)
        #expect(again(decided: true).broken() == [.scanCustody])
        #expect(again(decided: nil).broken() == [.scanCustody])
        #expect(again(decided: true).complaint(.scanCustody) == "completed after it was settled")
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
        func killed(isUploaded: Bool) -> History {
            History {
                $0.launch()
                $0.phone(.captured(scheduled: $0.now))
                if isUploaded { $0.send(.upload, job: nil) }
                $0.phone(.killed)
                $0.launch(restored: 0)
            }
        }
        let scans = killed(isUploaded: true).ledger().totals.scans
        #expect(scans.lost == 1 && scans.discarded == 0)
        #expect(killed(isUploaded: true).broken() == [.scanCustody])
        #expect(killed(isUploaded: false).ledger().totals.scans.discardedByCause[.notStored] == 1)
        #expect(killed(isUploaded: false).broken() == [])
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

    @Test func `a waiting scan whose books the backend had found has lost nothing`() {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.phone(.queued(.resultsUnavailable))
            $0.onDisk(.resultsUnavailable)
        }
        #expect(history.broken() == [])
        let books = history.ledger().totals.books
        #expect(books.missing == 0)
        #expect(books.pending == 3)
    }

    @Test func `a repeated book is no proof that it is in the library`() {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks([0, 1])
            $0.repeatBooks([2])
            $0.complete()
            $0.clean()
        }
        #expect(history.broken() == [.bookNeverLost])
    }

    // MARK: book.never-double-added

    @Test func `a book that enters the library twice is counted and reported`() {
        let twice = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks([0, 1, 2, 1])
            $0.complete()
            $0.clean()
        }
        #expect(twice.broken() == [.bookNeverDoubleAdded])
        #expect(twice.ledger().totals.books.duplicated == 1)
        #expect(twice.ledger().totals.scans.completed == 1)

        let repeated = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.repeatBooks([1])
            $0.complete()
            $0.clean()
        }
        #expect(repeated.broken() == [])
        #expect(repeated.ledger().totals.books.repeated == 1)
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

    @Test func `a book that is not the shelf's is not faithful`() {
        func adding(_ change: (inout Book) -> Void) -> History {
            History {
                $0.streaming()
                $0.terminal(2)
                var book = $0.book(0)
                change(&book)
                $0.phone(.bookAdded(ordinal: 0, book: book))
                $0.addBooks([1, 2])
                $0.complete()
                $0.clean()
            }
        }
        #expect(adding { $0.title += "!" }.broken() == [.bookFaithful])
        #expect(adding { $0.confidence = 0.01 }.broken() == [.bookFaithful])
        #expect(adding { $0.enrichmentStatus = .circuitOpen }.broken() == [.bookFaithful])
        #expect(adding { _ in }.broken() == [])
    }

    @Test func `a degraded book may lack what could not be looked up, if the backend said so, and no more`() {
        func adding(_ kind: EventKind, _ change: (inout Book) -> Void) -> History {
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
        let degraded = adding(.enrichmentDegraded) { $0 = $0.degraded }
        let whole = adding(.enrichmentDegraded) { _ in }
        let unannounced = adding(.progress) { $0 = $0.degraded }
        let worse = adding(.enrichmentDegraded) {
            $0 = $0.degraded
            $0.author = "Nobody"
        }
        let half = adding(.enrichmentDegraded) { $0.enrichmentStatus = .pending }
        #expect(degraded.broken() == [])
        #expect(whole.broken() == [])
        #expect(unannounced.broken() == [.bookFaithful])
        #expect(worse.broken() == [.bookFaithful])
        #expect(half.broken() == [.bookFaithful])
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
                $0.fleet = FleetMap(groups: ["old"], groupOfDevice: [0])
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
        let ledger = history.ledger { $0.fleet = FleetMap(groups: ["a", "b"], groupOfDevice: [1]) }
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
