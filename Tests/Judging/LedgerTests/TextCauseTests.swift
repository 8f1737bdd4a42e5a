import Histories
import Ledger
import Observations
import SimBase
import Talaria
import Testing

/// text.kept-for-cause, beyond the excuses of its row (`InvariantRows+Texts`).
@Suite struct TextCauseTests {
    private func complaint(
        _ change: (inout LedgerSettings) -> Void = { _ in }, _ script: (inout History) -> Void
    ) -> String? {
        let history = History {
            $0.launch()
            $0.capture()
            script(&$0)
        }
        let ledger = history.ledger {
            $0 = .reading
            change(&$0)
        }
        return ledger.verdicts.first { $0.invariant == .textKeptForCause }?.examples.first?.text
    }

    @Test func `a reading that is kept without a look-up has no cause`() {
        #expect(
            self.complaint { $0.phone(.readingKept(.transport)) } == "kept what was read without a look-up")
    }

    @Test func `an answer that the backend did not give is not merged`() {
        func merged(found: Bool, status: Int? = nil, seen: Bool = true) -> String? {
            self.complaint({ $0.hasBackendView = seen }) {
                $0.lookUp(1, found: found)
                if let status {
                    $0.phone(.replied(.upload, attempt: 1, status: status, took: .milliseconds(3)))
                }
                $0.merge()
            }
        }
        let wrong = "merged with the answer to look-up 1, which the backend did not give"
        #expect(merged(found: true) == nil)
        #expect(merged(found: false) == wrong)
        #expect(merged(found: false, seen: false) == nil)
        #expect(merged(found: true, status: 503) == wrong)
        #expect(merged(found: false, status: 503, seen: false) == wrong)
    }

    @Test func `a form that the phone does not read is a cause`() {
        func kept(
            reads: Bool, status: Int = 200, bad: Bool = true, seen: Bool = true
        ) -> String? {
            self.complaint({
                $0.texts = [TextRule(readsAnswers: reads, photoBelow: 0, retriesMax: 3)]
                $0.hasBackendView = seen
            }) {
                $0.send(.upload, job: nil)
                $0.backend(.textLookedUp)
                $0.phone(.replied(.upload, attempt: 1, status: status, took: .milliseconds(3)))
                if bad { $0.phone(.badAnswer(.upload, attempt: 1, .undecodable)) }
                $0.phone(.readingKept(.unreadableAnswer))
            }
        }
        let wrong = "kept what was read, although look-up 1 was answered with 200"
        #expect(kept(reads: false) == nil)
        #expect(kept(reads: true) == wrong)
        #expect(kept(reads: false, bad: false) == wrong)
        #expect(kept(reads: true, status: 204) == nil)
        #expect(kept(reads: false, seen: false) == nil)
        #expect(kept(reads: false, bad: false, seen: false) == wrong)
    }

    @Test func `where there is no look-up the photo is uploaded`() {
        let kept = self.complaint {
            $0.send(.upload, job: nil)
            $0.uploadProblem(501)
            $0.phone(.readingKept(.unexpectedStatus))
        }
        #expect(kept == "kept what was read, and not the photo uploaded, after a 501 to look-up 1")
    }

    @Test func `where there is no look-up none is repeated`() {
        func repeated(after status: Int, photo: Bool = false) -> String? {
            self.complaint {
                $0.send(.upload, job: nil)
                $0.uploadProblem(status, retryable: status == 503)
                if photo { $0.phone(.photoInstead(.noEndpoint)) }
                $0.phone(.queued(status == 503 ? .serverError : .unexpectedStatus))
                $0.onDisk(.captured)
            }
        }
        #expect(
            repeated(after: 404)
                == "waits for another look-up, and its photo is not uploaded, after a 404 to look-up 1")
        #expect(repeated(after: 404, photo: true) == nil)
        #expect(repeated(after: 503) == nil)
    }

    @Test func `the photo of a book that an earlier process has filed is not uploaded`() {
        func uploaded(reviews: Bool) -> String? {
            self.complaint({ $0.reviews = reviews }) {
                $0.lookUp(1, found: true)
                $0.merge()
                $0.addBooks([0])
                $0.kill(keeping: nil)
                $0.launch(restored: 1)
                $0.scan = ScanNumber(2)
                $0.capture()
                $0.send(.upload, job: nil)
                $0.uploadProblem(404)
                $0.phone(.photoInstead(.noEndpoint))
                $0.scan = ScanNumber(1)
                $0.phone(.photoInstead(.noEndpoint))
            }
        }
        #expect(
            uploaded(reviews: false) == "uploaded as a photo, although an earlier process has filed its book")
        #expect(uploaded(reviews: true) == nil)
    }

    @Test func `a foreign backend's refusal is what the phone says of it`() {
        func kept(_ cause: WaitingCause) -> String? {
            self.complaint({ $0.hasBackendView = false }) {
                $0.send(.upload, job: nil)
                $0.phone(.replied(.upload, attempt: 1, status: 422, took: .milliseconds(3)))
                $0.phone(.readingKept(cause))
            }
        }
        #expect(kept(.unexpectedStatus) == nil)
        #expect(kept(.serverError) == "kept what was read after a 422 to look-up 1 of 4")
    }

    @Test func `a response whose rest is lost is none`() {
        let kept = self.complaint {
            $0.lookUp(1, found: true)
            $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(4)))
            $0.phone(.readingKept(.transport))
        }
        #expect(kept == "kept what was read after no response to look-up 1 of 4")
    }

    /// Confidences of readings are drawn: what is below the limit depends on the scan.
    @Test func `a photo is uploaded for readings below the limit, and for no other`() throws {
        var shelf = Shelf(seed: 7, booksMin: 1, booksMax: 1)
        shelf.exceptions = [.init(devices: 0...0, stock: .oneSpine)]
        var seen = Set<Bool>()
        for number in 1...20 {
            let scan = ScanNumber(UInt32(number))
            let reading = try #require(shelf.reading(device: DeviceNumber(0), scan: scan))
            let isPoor = reading.confidencePercent < TextRule.example.photoBelow
            for isPhoto in [false, true] {
                let history = History {
                    $0.launch()
                    $0.scan = scan
                    $0.capture()
                    $0.phone(
                        isPhoto ? .photoInstead(.lowConfidence) : .bookRead(took: .milliseconds(500)))
                }
                var ledger = Ledger(shelf: shelf, settings: .reading)
                for observation in history.observations { ledger.record(observation) }
                ledger.finish(waitingOnDisk: [], at: history.now)
                let isBroken = ledger.verdicts.contains {
                    $0.invariant == .textKeptForCause && $0.violations > 0
                }
                #expect(
                    isBroken == (isPoor != isPhoto),
                    "scan \(number): \(reading.confidencePercent) %, \(isPhoto)")
            }
            seen.insert(isPoor)
        }
        #expect(seen.count == 2, "the limit lies between the confidences")
    }
}
