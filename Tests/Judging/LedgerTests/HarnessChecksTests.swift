import Histories
import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// limit.honoured and slots.bounded, where the backend has seen what the phone was sent and what it has open.
@Suite struct WitnessTests {
    private static func limited(
        _ history: inout History, _ operation: Talaria.Operation = .upload, attempt: UInt32 = 1,
        job: String? = nil, wait: Interval?
    ) {
        history.backend(
            .problem(
                operation, attempt: attempt, status: 429, job: job, retryable: true, retryAfter: wait))
        history.backend(.answered(operation, attempt: attempt, status: 429))
    }

    private static func replied(
        _ history: inout History, _ operation: Talaria.Operation = .upload, attempt: UInt32 = 1
    ) {
        history.phone(.replied(operation, attempt: attempt, status: 429, took: .milliseconds(3)))
    }

    // MARK: limit.honoured

    /// An upload that is answered 429 and asked to wait; the phone reads it as `word` and comes again after
    /// `gap`, counted from the answer's head.
    private static func upload(told wait: Interval?, word: Interval?, gap: Interval) -> History {
        History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            Self.limited(&$0, wait: wait)
            $0.pass(.milliseconds(40))
            let delivered = $0.now
            Self.replied(&$0)
            if let word { $0.phone(.rateLimited(.upload, retryAfter: word)) }
            $0.phone(.queued(.rateLimited))
            $0.pass(delivered + gap - $0.now)
            $0.send(.upload, attempt: 2, job: nil)
            $0.onDisk(.rateLimited)
        }
    }

    @Test func `the wait of a 429 is the server's, from the moment at which the phone has the answer`() {
        let wait = Interval.seconds(3)
        #expect(Self.upload(told: wait, word: wait, gap: wait).broken() == [])
        let early = Self.upload(told: wait, word: wait, gap: wait - .nanoseconds(1))
        #expect(early.broken() == [.limitHonoured])
        // Whatever the phone makes of it.
        let milliseconds = Self.upload(told: wait, word: .milliseconds(3), gap: .milliseconds(50))
        #expect(milliseconds.broken() == [.limitHonoured])
        let silent = Self.upload(told: wait, word: nil, gap: .milliseconds(500))
        #expect(silent.broken() == [.limitHonoured])
        let longer = Self.upload(told: wait, word: .seconds(60), gap: wait)
        #expect(longer.broken() == [])
    }

    @Test func `a wait of zero adds nothing`() {
        #expect(Self.upload(told: .zero, word: .seconds(60), gap: .milliseconds(10)).broken() == [])
    }

    @Test func `where no wait was named the phone's own word holds`() {
        let word = Interval.seconds(60)
        #expect(Self.upload(told: nil, word: word, gap: .seconds(61)).broken() == [])
        #expect(Self.upload(told: nil, word: word, gap: .seconds(59)).broken() == [.limitHonoured])
    }

    /// Two uploads are under way when the first is answered; the second, or a third, goes out at the given
    /// times.
    private static func pair(_ script: (inout History) -> Void) -> [Invariant] {
        History {
            $0.launch()
            for scan in 1...2 {
                $0.scan = ScanNumber(UInt32(scan))
                $0.capture()
                $0.onDisk(.rateLimited)
            }
            $0.scan = ScanNumber(1)
            $0.send(.upload, job: nil)
            script(&$0)
        }.broken()
    }

    @Test func `what is sent before the answer is there, or before it is read, is nobody's fault`() {
        let before = Self.pair {
            Self.limited(&$0, wait: .seconds(5))
            $0.scan = ScanNumber(2)
            $0.send(.upload, job: nil)
            $0.scan = ScanNumber(1)
            Self.replied(&$0)
            $0.phone(.queued(.rateLimited))
        }
        #expect(before == [])
        let whileItIsRead = Self.pair {
            Self.limited(&$0, wait: .seconds(5))
            Self.replied(&$0)
            $0.scan = ScanNumber(2)
            $0.send(.upload, job: nil)
            $0.scan = ScanNumber(1)
            $0.phone(.queued(.rateLimited))
        }
        #expect(whileItIsRead == [])
        let behind = Self.pair {
            Self.limited(&$0, wait: .seconds(5))
            Self.replied(&$0)
            $0.phone(.queued(.rateLimited))
            $0.scan = ScanNumber(2)
            $0.send(.upload, job: nil)
        }
        #expect(behind == [.limitHonoured])
    }

    /// An answer whose head has come, and then something else; then the upload is tried again at once.
    private static func broken(off: (inout History) -> Void) -> [Invariant] {
        History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            Self.limited(&$0, wait: .seconds(9))
            Self.replied(&$0)
            off(&$0)
            $0.phone(.queued(.transport))
            $0.send(.upload, attempt: 2, job: nil)
            $0.onDisk(.transport)
        }.broken { $0.faultsThatCut = [1] }
    }

    @Test func `an answer that did not come whole was not delivered`() {
        #expect(
            Self.broken { $0.phone(.requestFailed(.upload, attempt: 1, .noPath, took: .zero)) } == [])
        #expect(Self.broken { $0.phone(.pathChanged) } == [])
        // A fault that leaves the bytes alone, or that hits another request, excuses nothing.
        #expect(
            Self.broken { $0.fault(.fired(fault: 0, .upload, attempt: 1)) } == [.limitHonoured])
        #expect(
            Self.broken { $0.fault(.fired(fault: 1, .stream, attempt: 1)) } == [.limitHonoured])
    }

    @Test func `an answer that came after the request was given up says nothing`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            Self.limited(&$0, wait: .seconds(9))
            $0.phone(.requestFailed(.upload, attempt: 1, .timedOut, took: .seconds(30)))
            $0.phone(.queued(.noAnswer))
            $0.send(.upload, attempt: 2, job: nil)
            $0.onDisk(.noAnswer)
        }
        #expect(history.broken() == [])
    }

    @Test(arguments: [Talaria.Operation.stream, .results, .cleanup])
    func `a job's limit holds for the same request of that job`(operation: Talaria.Operation) {
        func history(job: String, gap: Interval) -> [Invariant] {
            var settings = LedgerSettings.embedded
            settings.examplesMax = 1
            let history = History {
                $0.launch()
                $0.capture()
                $0.upload()
                $0.send(operation, job: $0.job)
                Self.limited(&$0, operation, job: $0.job, wait: .seconds(4))
                let delivered = $0.now
                Self.replied(&$0, operation)
                $0.pass(delivered + gap - $0.now)
                $0.send(operation, attempt: 2, job: job)
                $0.onDisk(.serverError)
            }
            return history.broken().filter { $0 == .limitHonoured }
        }
        #expect(history(job: "job-1", gap: .seconds(4)) == [])
        #expect(history(job: "job-1", gap: .milliseconds(3_999)) == [.limitHonoured])
        #expect(history(job: "job-2", gap: .milliseconds(100)) == [])
    }

    @Test func `the gateway's 429s count where no backend is seen`() {
        let early = Self.upload(told: .seconds(3), word: .milliseconds(3), gap: .milliseconds(50))
        #expect(early.broken { $0.hasBackendView = false } == [.limitHonoured])
        let unseen = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            Self.replied(&$0)
            $0.phone(.rateLimited(.upload, retryAfter: .milliseconds(3)))
            $0.pass(.milliseconds(3))
            $0.send(.upload, attempt: 2, job: nil)
            $0.onDisk(.rateLimited)
        }
        #expect(unseen.broken { $0.hasBackendView = false } == [])
    }

    // MARK: slots.bounded

    /// Streams of so many scans, opened one after the other; the script runs before the last is.
    private static func streams(_ count: UInt32, beforeTheLast script: (inout History) -> Void = { _ in })
        -> [Invariant]
    {
        History {
            $0.launch()
            for scan in 1...count {
                if scan == count {
                    $0.scan = ScanNumber(1)
                    $0.job = "job-1"
                    script(&$0)
                }
                $0.scan = ScanNumber(scan)
                $0.job = "job-\(scan)"
                $0.capture()
                $0.upload()
                $0.open()
                $0.onDisk(.interrupted)
            }
        }.broken { $0.faultsThatCut = [1] }.filter { $0 == .slotsBounded }
    }

    @Test func `streams are counted where they are open, whatever the phone says of its slots`() {
        #expect(Self.streams(5) == [])
        #expect(Self.streams(6) == [.slotsBounded])
        let ended = Self.streams(6) {
            $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: false))
        }
        #expect(ended == [])
    }

    @Test func `a stream on another network does not count`() {
        let dead = Self.streams(6) {
            $0.phone(.pathChanged)
            $0.pass(.seconds(60))
        }
        #expect(dead == [])
    }

    @Test func `a request that arrives after its phone has tried again opens nothing for it`() {
        func history(late attempt: UInt32) -> [Invariant] {
            Self.streams(6) {
                // Of the first scan there are two requests, and one stream.
                $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: false))
                $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
                $0.send(.stream, attempt: 2, job: $0.job)
                $0.phone(.requestFailed(.stream, attempt: 2, .timedOut, took: .seconds(10)))
                $0.pass(.seconds(20))
                $0.send(.stream, attempt: 3, job: $0.job)
                $0.backend(.streamOpened(job: $0.job, attempt: attempt, after: nil))
            }
        }
        #expect(history(late: 2) == [])
        #expect(history(late: 3) == [.slotsBounded])
    }
}
