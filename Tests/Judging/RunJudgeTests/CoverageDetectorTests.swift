import Histories
import Observations
import RunJudge
import SimBase
import Talaria
import Testing

@testable import Ledger

/// Times that need several observations: each with a history that just reaches it, and one that just does
/// not.
@Suite struct CoverageDetectorTests {
    private func count(
        _ moment: CoverageGoal, raisesBase: Bool = false, _ script: (inout History) -> Void
    ) -> Int {
        var table = CoverageTable(expected: [], named: [moment], slotsMax: 2, raisesBase: raisesBase)
        for observation in History(script).observations { table.record(observation) }
        return table.count(of: moment)
    }

    @Test func `what nobody asks for is not watched`() {
        var table = CoverageTable(expected: [], named: [.resumed], slotsMax: 2)
        for observation in History({ $0.twoErrors() }).observations { table.record(observation) }
        #expect(table.count(of: .failedTwice) == 0)
    }

    @Test func `an answer shows some at once`() {
        func answer(_ payload: PhoneObservation, _ moment: CoverageGoal) -> Int {
            self.count(moment) { $0.phone(payload) }
        }
        func cleaned(_ status: Int) -> PhoneObservation {
            .cleanupAnswered(job: "job-1", status: status, took: .milliseconds(1))
        }
        #expect(answer(cleaned(404), .cleanupNotFound) == 1)
        #expect(answer(cleaned(410), .cleanupNotFound) == 0)
        #expect(answer(cleaned(410), .cleanupGone) == 1)
        #expect(answer(cleaned(204), .cleanupGone) == 0)
        func replied(_ operation: Talaria.Operation) -> PhoneObservation {
            .replied(operation, attempt: 1, status: 401, took: .milliseconds(1))
        }
        #expect(answer(replied(.cleanup), .cleanupUnauthorized) == 1)
        #expect(answer(replied(.results), .cleanupUnauthorized) == 0)
        #expect(answer(replied(.results), .resultsUnauthorized) == 1)
        #expect(answer(replied(.stream), .resultsUnauthorized) == 0)
        #expect(answer(replied(.stream), .tokenRefused) == 1)
        func accepted(_ service: Interval) -> PhoneObservation {
            .uploadAccepted(job: "job-1", took: .seconds(90), service: service)
        }
        #expect(answer(accepted(.milliseconds(30_001)), .uploadLong) == 1)
        #expect(answer(accepted(.seconds(30)), .uploadLong) == 0)
        for (status, retryable, seen) in [(502, false, 1), (502, true, 0), (422, false, 0)] {
            #expect(
                self.count(.serverErrorFinal) { $0.uploadProblem(status, retryable: retryable) } == seen)
        }
    }

    @Test(arguments: [(true, true, 1), (false, true, 0), (true, false, 0)])
    func `a DELETE is open when the app leaves the screen, and the app comes back`(
        isOpen: Bool, comesBack: Bool, seen: Int
    ) {
        let count = self.count(.suspendedInCleanup) { history in
            history.streaming()
            history.terminal(2)
            history.addBooks()
            history.complete()
            history.send(.cleanup, job: history.job)
            if !isOpen {
                history.phone(.replied(.cleanup, attempt: 1, status: 204, took: .milliseconds(2)))
            }
            history.phone(.suspended)
            if comesBack { history.phone(.resumed) }
        }
        #expect(count == seen)
    }

    @Test(arguments: [(Interval.milliseconds(990), 1), (.seconds(1), 0)])
    func `the path is lost and returns within a 429's wait`(away: Interval, seen: Int) {
        let count = self.count(.pathLostInLimit) { history in
            history.limited(.seconds(1))
            history.phone(.pathLost)
            history.pass(away - .milliseconds(5))
            history.phone(.pathReturned)
        }
        #expect(count == seen)
    }

    @Test(arguments: [(Interval.milliseconds(900), 1, 1), (.seconds(1), 1, 0), (.milliseconds(900), 0, 0)])
    func `an app is killed within a 429's wait, and has its scans again`(
        after: Interval, restored: Int, seen: Int
    ) {
        let count = self.count(.killedInLimit) { history in
            history.limited(.seconds(1))
            history.pass(after)
            history.kill(keeping: nil)
            history.pass(.seconds(2))
            history.launch(restored: restored)
        }
        #expect(count == seen)
    }

    @Test(arguments: [(-1, 2, 1), (1, 2, 0), (-1, 1, 0)])
    func `the clock is set back while scans wait, and one more is captured`(
        minutes: Int64, scans: UInt32, seen: Int
    ) {
        let count = self.count(.clockSetBack) { history in
            history.launch()
            for scan in 1...scans {
                history.scan = ScanNumber(scan)
                history.capture()
            }
            history.phone(.clockSet(ahead: .minutes(minutes)))
            history.scan = ScanNumber(9)
            history.capture()
        }
        #expect(count == seen)
    }

    @Test func `jobs of a scan end in an error twice, and three times`() {
        #expect(self.count(.failedTwice) { $0.twoErrors() } == 1)
        #expect(self.count(.failedThrice) { $0.twoErrors() } == 0)
        #expect(
            self.count(.failedThrice) {
                $0.twoErrors()
                $0.ended(.retryableError)
            } == 1)
        // What a fresh process says of the queue is not a new error.
        #expect(
            self.count(.failedThrice) {
                $0.twoErrors()
                $0.kill(keeping: nil)
                $0.launch(restored: 1)
                $0.phone(.queued(.retryableError))
            } == 0)
    }

    @Test(arguments: [(4, 1), (3, 0)]) func `tokens of a scan end four times`(times: Int, seen: Int) {
        let count = self.count(.tokenEndedFourTimes) { history in
            history.launch()
            history.capture()
            for _ in 0..<times { history.ended(.tokenExpired) }
        }
        #expect(count == seen)
    }

    @Test func `streams open and are lost before any event, some with pings`() {
        func barren(_ moment: CoverageGoal, _ losses: Int, pings: Int = 0, eventBeforeTheLast: Bool = false)
            -> Int
        {
            self.count(moment) { history in
                history.launch()
                history.capture()
                history.upload()
                for loss in 1...losses {
                    history.open(attempt: UInt32(loss))
                    for _ in 0..<pings { history.phone(.ping(id: nil, gap: nil)) }
                    if eventBeforeTheLast, loss == losses {
                        history.phone(.firstEvent(job: history.job, took: .milliseconds(1)))
                    }
                    history.lose(.reset, attempt: UInt32(loss))
                }
            }
        }
        #expect(barren(.streamsEmpty, 3) == 1)
        #expect(barren(.streamsEmpty, 2) == 0)
        #expect(barren(.streamsEmpty, 3, eventBeforeTheLast: true) == 0)
        #expect(barren(.streamsOfPings, 3, pings: 2) == 1)
        #expect(barren(.streamsOfPings, 3) == 0)
        #expect(barren(.streamsOfPings, 3, pings: 2, eventBeforeTheLast: true) == 0)
        #expect(barren(.backoffCapped, 8) == 1)
        #expect(barren(.backoffCapped, 7) == 0)
        #expect(barren(.backoffCapped, 8, eventBeforeTheLast: true) == 0)
    }

    @Test func `a stream is lost under a raised base`() {
        func lost(_ raisesBase: Bool, afterOpening: Bool = true) -> Int {
            self.count(.baseRaised, raisesBase: raisesBase) { history in
                history.launch()
                history.capture()
                history.upload()
                if afterOpening { history.open() }
                history.lose(.reset)
            }
        }
        #expect(lost(true) == 1)
        #expect(lost(false) == 0)
        #expect(lost(true, afterOpening: false) == 0)
    }

    @Test func `an app is killed between a 202 and the record of its job`() {
        func killed(keeping job: String?) -> Int {
            self.count(.killedBeforeRecord) { history in
                history.launch()
                history.capture()
                history.send(.upload, job: nil)
                history.phone(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(1)))
                history.kill(keeping: job)
            }
        }
        #expect(killed(keeping: nil) == 1)
        #expect(killed(keeping: "job-1") == 0)
    }

    @Test(arguments: [(Interval.seconds(2), 1), (.milliseconds(1_990), 0)])
    func `an app is killed while a stream has brought events for two seconds`(open: Interval, seen: Int) {
        let count = self.count(.killedInStream) { history in
            history.launch()
            history.capture()
            history.upload()
            history.open()
            history.phone(.firstEvent(job: history.job, took: .milliseconds(1)))
            history.pass(open)
            history.kill(keeping: history.job)
        }
        #expect(count == seen)
    }

    @Test(arguments: [(0, 1), (1, 0)])
    func `an app is killed between the end of a job and its first book`(books: Int, seen: Int) {
        let count = self.count(.killedBeforeBooks) { history in
            history.streaming()
            history.terminal(2)
            history.phone(.killed)
            history.addBooks(Array(0..<books))  // What the storage took of the write under way.
            history.launch(restored: 1)
        }
        #expect(count == seen)
    }

    @Test(arguments: [
        (Interval.milliseconds(100), true, 1), (.milliseconds(98), true, 0), (.seconds(1), false, 0),
    ])
    func `a slot is held by a stream that is over, and waited for`(
        held: Interval, isWaitedFor: Bool, seen: Int
    ) {
        let count = self.count(.slotLingering) { history in
            history.fillSlots(waiting: isWaitedFor ? 1 : 0)
            history.complete()
            history.pass(held - .milliseconds(1))
            history.phone(.slotGiven)
        }
        #expect(count == seen)
    }

    @Test(arguments: [(false, 1), (true, 0)])
    func `a stream goes on to its end behind an event that was passed over`(isLost: Bool, seen: Int) {
        let count = self.count(.streamUnharmed) { history in
            history.launch()
            history.capture()
            history.upload()
            history.open()
            history.phone(.eventIgnored(job: history.job, id: nil, name: "news", malformed: false))
            if isLost {
                history.lose(.reset)
                history.open(attempt: 2)
            }
            history.terminal(2)
        }
        #expect(count == seen)
    }

    @Test(arguments: [
        (LossCause.endWithoutTerminal, false, 1), (.reset, false, 0), (.endWithoutTerminal, true, 0),
    ])
    func `a stream ends while its job goes on`(cause: LossCause, isFinished: Bool, seen: Int) {
        let count = self.count(.endWhileRunning) { history in
            history.streaming()
            if isFinished { history.backend(.finished(job: history.job, kind: .completed, books: 3)) }
            history.lose(cause)
            if !isFinished { history.backend(.finished(job: history.job, kind: .completed, books: 3)) }
        }
        #expect(count == seen)
    }

    @Test(arguments: [(5, nil, 1), (4, nil, 0), (5, 1, 0)] as [(Int, Int?, Int)])
    func `a stream comes back and starts over`(again: Int, serverAfter: Int?, seen: Int) {
        let count = self.count(.startedOver) { history in
            history.streaming()
            history.lose(.reset)
            history.open(attempt: 2, after: History.id(1), serverAfter: serverAfter)
            for position in 0..<again { history.write(position, replayed: true) }
        }
        #expect(count == seen)
    }

    @Test func `an app that was installed anew uploads`() {
        #expect(
            self.count(.capturedAnew) { history in
                history.wholeScan()
                history.phone(.reinstalled(discarded: 0))
                history.launch()
                history.wholeScan()
            } == 1)
        #expect(self.count(.capturedAnew) { $0.wholeScan() } == 0)
    }

    @Test(
        arguments: [
            (Interval.milliseconds(1_200), 2, 1), (.milliseconds(1_900), 2, 0), (.seconds(2), 2, 0),
            (.milliseconds(1_200), 1, 0),
        ] as [(Interval, UInt32, Int)])
    func `a wait ends well before the full second`(wait: Interval, scans: UInt32, seen: Int) {
        let count = self.count(.limitBelowSeconds) { history in
            history.launch()
            for scan in (1...scans).reversed() {
                history.scan = ScanNumber(scan)
                history.capture()
            }
            history.turnedAway(wait)
        }
        #expect(count == seen)
    }

    @Test(arguments: [(UInt32(1), 1), (9, 0)])
    func `a scan is put back while younger ones wait for a slot`(scan: UInt32, seen: Int) {
        let count = self.count(.requeuedBeforeYounger) { history in
            history.fillSlots(waiting: 1, taken: [scan, 2])
            history.scan = ScanNumber(scan)
            history.phone(.queued(.retryableError))
        }
        #expect(count == seen)
    }
}

extension History {
    fileprivate mutating func lose(_ cause: LossCause, attempt: UInt32 = 1) {
        self.phone(.streamLost(job: self.job, attempt: attempt, cause, silence: nil))
    }

    /// A slot, and back to the queue.
    fileprivate mutating func ended(_ cause: WaitingCause) {
        self.phone(.slotTaken)
        self.phone(.queued(cause))
        self.phone(.slotGiven)
    }

    fileprivate mutating func twoErrors() {
        self.launch()
        self.capture()
        self.ended(.retryableError)
        self.ended(.retryableError)
    }

    /// An upload is answered with 429, and its scan waits.
    fileprivate mutating func turnedAway(_ wait: Interval) {
        self.phone(.slotTaken)
        self.send(.upload, job: nil)
        self.uploadProblem(429, retryable: true, retryAfter: wait)
        self.phone(.queued(.rateLimited))
        self.phone(.slotGiven)
    }

    fileprivate mutating func limited(_ wait: Interval) {
        self.launch()
        self.capture()
        self.turnedAway(wait)
    }

    /// Two slots taken, and scans behind them; the first of those in a slot goes on.
    fileprivate mutating func fillSlots(waiting: UInt32, taken: [UInt32] = [1, 2]) {
        self.launch()
        for scan in taken {
            self.scan = ScanNumber(scan)
            self.capture()
            self.phone(.slotTaken)
        }
        for scan in 0..<waiting {
            self.scan = ScanNumber(3 + scan)
            self.capture()
        }
        self.scan = ScanNumber(taken[0])
    }
}
