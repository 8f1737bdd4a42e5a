import Histories
import Ledger
import SimBase
import Talaria
import Testing

/// scan.refused-for-cause: a refusal names the answer or the event that caused it, and the ledger has seen that very one.
@Suite struct RefusalCauseTests {
    /// An upload that is answered with a problem, and refused for it.
    private func refused(
        _ status: Int, retryable: Bool = false, saying claimed: Bool? = false,
        _ between: (inout History) -> Void = { _ in }
    ) -> History {
        History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.uploadProblem(status, retryable: retryable)
            between(&$0)
            $0.refuse("HTTP_\(status)", answer: status, retryable: claimed)
        }
    }

    @Test func `a scan whose job failed for good is not uploaded again`() {
        func complaint(retryable: Bool, _ between: (inout History) -> Void = { _ in }) -> String? {
            History {
                $0.streaming()
                if !retryable { between(&$0) }
                $0.fail(2, retryable: retryable)
                if retryable { between(&$0) }
                $0.job = "job-2"
                $0.upload(attempt: 2)
            }.complaint(.scanRefusedForCause)
        }
        let wrong = "uploaded again (2) after an error event that does not allow a retry"
        #expect(complaint(retryable: false) == wrong)
        #expect(complaint(retryable: true) == nil)
        #expect(
            complaint(retryable: false) { $0.phone(.badAnswer(.stream, attempt: 1, .undecodable)) } == nil,
            "nobody could read it")
        let killed = History {
            $0.streaming()
            $0.fail(2, retryable: false)
            $0.kill(keeping: $0.job, after: History.id(1))
            $0.launch(restored: 1)
            $0.job = "job-2"
            $0.upload(attempt: 2)
        }
        #expect(killed.complaint(.scanRefusedForCause) == nil, "the next process may not know of it")
    }

    // MARK: Answers

    @Test(arguments: [400, 402, 409, 413, 415, 422, 451])
    func `an answer that is a verdict on the scan is a cause`(status: Int) {
        #expect(self.refused(status).broken() == [])
        #expect(self.refused(status).broken { $0.hasBackendView = false } == [])
    }

    @Test(arguments: [401, 403, 404, 408, 410, 429, 500, 502, 503, 504])
    func `an answer that asks for another try is none`(status: Int) {
        #expect(self.refused(status).broken() == [.scanRefusedForCause])
        #expect(self.refused(status).broken { $0.hasBackendView = false } == [.scanRefusedForCause])
        #expect(
            self.refused(status).complaint(.scanRefusedForCause)
                == "refused as HTTP_\(status) for a response to upload 1, \(status), which allows a retry"
        )
    }

    @Test func `a retryable answer is no cause, whatever the phone made of it`() {
        #expect(self.refused(422, retryable: true, saying: true).broken() == [.scanRefusedForCause])
        #expect(self.refused(422, retryable: true, saying: false).broken() == [.scanRefusedForCause])
        #expect(self.refused(422, retryable: true, saying: nil).broken() == [.scanRefusedForCause])
    }

    @Test func `of an upstream's answer the phone's reading is all there is`() {
        func foreign(saying claimed: Bool?) -> [Invariant] {
            History {
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                $0.phone(.replied(.upload, attempt: 1, status: 422, took: .milliseconds(3)))
                $0.refuse("HTTP_422", answer: 422, retryable: claimed)
            }.broken { $0.hasBackendView = false }
        }
        #expect(foreign(saying: false) == [])
        #expect(foreign(saying: nil) == [])
        #expect(foreign(saying: true) == [.scanRefusedForCause])
    }

    @Test func `an answer of the gateway's is judged by what the gateway says of it`() {
        #expect(
            self.refused(422, retryable: true).broken { $0.hasBackendView = false } == [.scanRefusedForCause])
    }

    @Test func `an answer is a cause for the refusal that follows it, and for no later one`() {
        let later = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.uploadProblem(422)
            $0.phone(.queued(.serverError))
            $0.send(.upload, attempt: 2, job: nil)
            $0.uploadProblem(503, attempt: 2, retryable: true)
            $0.refuse("HTTP_422", answer: 422)
        }
        #expect(later.broken() == [.scanRefusedForCause])
        #expect(
            later.complaint(.scanRefusedForCause)
                == "refused as HTTP_422 for a response to upload 1 that was not seen")
    }

    @Test func `an answer to another operation, or of another scan, is no cause`() {
        let deleted = History {
            $0.streaming()
            $0.phone(.suspended)
            $0.phone(.queued(.suspended))
            $0.send(.cleanup, job: $0.job)
            $0.backend(
                .problem(
                    .cleanup, attempt: 1, status: 422, job: $0.job, retryable: false, retryAfter: nil))
            $0.phone(.replied(.cleanup, attempt: 1, status: 422, took: .milliseconds(1)))
            $0.phone(
                .refused(
                    code: "X", cause: .answer(.cleanup, attempt: 1, status: 422, retryable: false)))
        }
        #expect(deleted.broken().contains(.scanRefusedForCause))
        let other = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.uploadProblem(422)
            $0.scan = ScanNumber(2)
            $0.capture()
            $0.send(.upload, job: nil)
            $0.refuse("HTTP_422", answer: 422)
            $0.scan = ScanNumber(1)
            $0.refuse("HTTP_422", answer: 422)
        }
        #expect(other.broken() == [.scanRefusedForCause])
        #expect(other.ledger().verdicts[1].violations == 1)
    }

    @Test func `an answer that only the phone has seen is none where the backend is at hand`() {
        let invented = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.phone(.replied(.upload, attempt: 1, status: 422, took: .milliseconds(3)))
            $0.refuse("HTTP_422", answer: 422)
        }
        #expect(invented.broken() == [.scanRefusedForCause])
        let other = History {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.backend(
                .problem(.upload, attempt: 1, status: 500, job: nil, retryable: true, retryAfter: nil))
            $0.phone(.replied(.upload, attempt: 1, status: 422, took: .milliseconds(3)))
            $0.refuse("HTTP_422", answer: 422)
        }
        #expect(other.broken() == [.scanRefusedForCause])
    }

    @Test func `a transport failure, and a refusal that names nothing, are no causes`() {
        func failed(_ refuse: (inout History) -> Void) -> [Invariant] {
            History {
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(3)))
                refuse(&$0)
            }.broken()
        }
        #expect(failed { $0.phone(.refused(code: "NETWORK_ERROR", cause: nil)) } == [.scanRefusedForCause])
        #expect(failed { $0.refuse("HTTP_422", answer: 422) } == [.scanRefusedForCause])
    }

    // MARK: Events

    /// A job that fails, and a refusal for it.
    private func failed(retryable: Bool, saying claimed: Bool?) -> History {
        History {
            $0.streaming()
            $0.fail(2, retryable: retryable)
            $0.refuse(retryable: claimed)
            $0.clean()
        }
    }

    @Test func `a final error event is a cause, and a retryable one is none`() {
        #expect(self.failed(retryable: false, saying: false).broken() == [])
        #expect(self.failed(retryable: false, saying: nil).broken() == [])
        #expect(self.failed(retryable: true, saying: true).broken() == [.scanRefusedForCause])
        #expect(self.failed(retryable: true, saying: false).broken() == [.scanRefusedForCause])
        #expect(
            self.failed(retryable: true, saying: false).broken { $0.hasBackendView = false }
                == [.scanRefusedForCause])
    }

    @Test func `an error event is a cause also after the DELETE of its job`() {
        func failed(isDeletedFirst: Bool, isSeen: Bool = true) -> History {
            History {
                $0.streaming()
                if !isDeletedFirst { $0.fail(2, retryable: false) }
                $0.clean()
                if isDeletedFirst, isSeen {
                    $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
                }
                $0.phone(.refused(code: "X", cause: .event(job: $0.job, retryable: false)))
            }
        }
        #expect(!failed(isDeletedFirst: false).broken().contains(.scanRefusedForCause))
        #expect(failed(isDeletedFirst: true, isSeen: false).broken().contains(.scanRefusedForCause))
        // The backend wrote no error event.
        #expect(
            failed(isDeletedFirst: true).complaint(.scanRefusedForCause)
                == "refused as X for an error event that the backend did not write")
    }

    @Test func `an error event of an earlier job is no cause`() {
        let earlier = History {
            $0.streaming()
            $0.fail(2, retryable: true)
            $0.phone(.queued(.retryableError))
            $0.clean()
            $0.job = "job-2"
            $0.upload(attempt: 2)
            $0.open(attempt: 2)
            $0.phone(.refused(code: "X", cause: .event(job: "job-2", retryable: false)))
        }
        #expect(earlier.broken().contains(.scanRefusedForCause))
        #expect(
            earlier.complaint(.scanRefusedForCause) == "refused as X for an error event that was not seen")
    }

    @Test func `an error event that the backend did not write is no cause`() {
        let invented = History {
            $0.streaming()
            $0.event(2, .error)
            $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
            $0.refuse()
            $0.clean()
        }
        #expect(invented.broken() == [.scanRefusedForCause])
    }

    // MARK: The phone's own

    @Test func `an unprepared photo is no cause for anything else`() {
        let answered = History {
            $0.launch()
            $0.phone(.captured(scheduled: $0.now))
            $0.phone(.queued(.captured))
            $0.refuse("HTTP_503", answer: 503)
        }
        #expect(answered.broken() == [.scanRefusedForCause])
    }
}
