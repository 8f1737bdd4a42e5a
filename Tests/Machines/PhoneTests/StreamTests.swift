import Observations
import Phone
import SimBase
import Talaria
import Testing

/// Streams that are lost and opened again.
struct StreamTests {
    private func streaming(_ profile: ClientProfile = .contract, events: Int = 1) -> TestPhone {
        var phone = TestPhone(profile: profile)
        phone.captureToStream()
        for event in 0..<events { phone.stream(Wording.progress("\(event + 1)-progress")) }
        _ = phone.takeSightings()
        return phone
    }

    private func headers(_ request: AppRequest?) -> [String: String] {
        Dictionary(uniqueKeysWithValues: (request?.headers ?? []).map { ($0.name, $0.value) })
    }

    @Test func `a reset stream is resumed after the last applied event within the first backoff`() {
        var phone = streaming(events: 3)
        phone.now = .zero + .seconds(1)
        phone.fail(.stream, .reset)
        #expect(phone.takeSightings() == [.streamLost(job: "job-1", attempt: 1, .reset, silence: nil)])
        guard let wake = phone.app.nextWake else {
            Issue.record("nothing is armed")
            return
        }
        #expect(wake - phone.now <= .milliseconds(500))
        let wait = wake - phone.now
        phone.pass(wait)
        #expect(headers(phone.request(.stream))["Last-Event-ID"] == "3-progress")
        #expect(
            phone.takeSightings() == [
                .requestSent(.stream, attempt: 2, job: "job-1", lastEventID: "3-progress")
            ])
        phone.now = phone.now + .milliseconds(20)
        phone.openStream()
        #expect(
            phone.takeSightings() == [
                .replied(.stream, attempt: 2, status: 200, took: .milliseconds(20)),
                .streamOpened(job: "job-1", attempt: 2, after: "3-progress", took: .milliseconds(20)),
                .reconnected(
                    job: "job-1", .reset, attempts: 1, resumed: true, took: wait + .milliseconds(20)),
            ])
    }

    @Test func `without resume the stream is opened anew`() {
        var profile = ClientProfile.contract
        profile.stream.resumes = false
        var phone = streaming(profile)
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(500))
        #expect(headers(phone.request(.stream))["Last-Event-ID"] == nil)
        phone.openStream()
        #expect(
            phone.payloads.contains {
                if case .reconnected(_, .reset, 1, resumed: false, _) = $0 { true } else { false }
            })
    }

    @Test func `a loss before any event is opened without an id`() {
        var phone = streaming(events: 0)
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(500))
        #expect(headers(phone.request(.stream))["Last-Event-ID"] == nil)
    }

    @Test(arguments: [
        (TransportFailure.reset, LossCause.reset), (.closedEarly, .endWithoutTerminal), (.tls, .reset),
        (.timedOut, .silence), (.malformed, .badAnswer), (.noPath, .offline), (.other, .reset),
    ])
    func `the death of an open stream has its cause`(failure: TransportFailure, cause: LossCause) {
        var phone = streaming()
        phone.fail(.stream, failure)
        #expect(
            phone.takeSightings() == [
                .streamLost(job: "job-1", attempt: 1, cause, silence: cause == .silence ? .zero : nil)
            ])
    }

    @Test func `a clean end without a terminal event is a loss, and its unfinished event is not applied`() {
        var phone = streaming()
        phone.stream("id: 2-progress\nevent: progress\ndata: {\"type\":\"progress\",\"jobId\":\"job-1\"}\n")
        phone.answerEnd(.stream)
        #expect(
            phone.takeSightings() == [
                .streamLost(job: "job-1", attempt: 1, .endWithoutTerminal, silence: nil)
            ])
        phone.pass(.milliseconds(500))
        #expect(headers(phone.request(.stream))["Last-Event-ID"] == "1-progress")
    }

    @Test func `silence past the idle timeout is noticed exactly then`() {
        var profile = ClientProfile.contract
        profile.stream.idleTimeout = .seconds(5)
        var phone = streaming(profile)
        phone.pass(.seconds(4))
        phone.stream(":")  // One byte is enough to live.
        phone.pass(.milliseconds(4_999))
        #expect(phone.takeSightings() == [])
        phone.pass(.milliseconds(1))
        #expect(
            phone.takeSightings().first
                == .streamLost(job: "job-1", attempt: 1, .silence, silence: .seconds(5)))
        #expect(phone.effects.contains(.abort(RequestID(2))))
    }

    @Test func `a stream that is not answered is given up after the connect timeout`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        _ = phone.takeSightings()
        phone.pass(.milliseconds(9_999))
        #expect(phone.payloads == [])
        phone.pass(.milliseconds(1))
        #expect(
            phone.payloads.prefix(2) == [
                .requestFailed(.stream, attempt: 1, .timedOut, took: .seconds(10)),
                .streamLost(job: "job-1", attempt: 1, .noAnswer, silence: nil),
            ])
    }

    @Test func `a first connect that fails is an episode like any other, over all its attempts`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        phone.now = .zero + .seconds(1)
        phone.fail(.stream, .connectRefused)
        for _ in 0..<3 {
            phone.pass(phone.app.nextWake.map { $0 - phone.now } ?? .zero)
            phone.fail(.stream, .connectRefused)
        }
        phone.pass(phone.app.nextWake.map { $0 - phone.now } ?? .zero)
        _ = phone.takeSightings()
        phone.openStream()
        #expect(
            phone.takeSightings().last
                == .reconnected(
                    job: "job-1", .connectFailed, attempts: 4, resumed: false,
                    took: phone.now - (.zero + .seconds(1))))
    }

    @Test(arguments: [408, 429, 500, 503])
    func `a status that says nothing of the job is a loss`(status: Int) {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        phone.answer(.stream, status)
        #expect(phone.payloads.last == .streamLost(job: "job-1", attempt: 1, .refusedByStatus, silence: nil))
        phone.pass(.milliseconds(500))
        #expect(phone.request(.stream)?.attempt == 2)
    }

    @Test(arguments: [429, 503])
    func `a time that the server names is waited out, and no upload cares`(status: Int) {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        phone.answer(.stream, status, Wording.problem(.circuitOpen, retryAfterMs: 45_000))
        phone.capture(2)
        #expect(phone.request(.upload, 2) != nil)
        phone.accept(2, job: "job-2")
        phone.openStream(2)
        phone.pass(.milliseconds(44_999))
        #expect(phone.request(.stream, 1) == nil)
        phone.pass(.milliseconds(1))
        #expect(phone.request(.stream, 1)?.attempt == 2)
    }

    @Test func `a 200 that is not an event stream is a bad answer and a loss`() {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        _ = phone.takeSightings()
        phone.head(.stream, 200, type: "text/html")
        #expect(
            phone.takeSightings() == [
                .replied(.stream, attempt: 1, status: 200, took: .zero),
                .badAnswer(.stream, attempt: 1, .wrongContentType),
                .streamLost(job: "job-1", attempt: 1, .badAnswer, silence: nil),
            ])
        #expect(phone.request(.stream) == nil)
    }

    @Test(arguments: [204, 302, 100])
    func `a status that a stream cannot have is a bad answer and a loss`(status: Int) {
        var phone = TestPhone()
        phone.capture(1)
        phone.accept()
        phone.answer(.stream, status)
        #expect(
            phone.payloads.suffix(2) == [
                .badAnswer(.stream, attempt: 1, .unexpectedStatus),
                .streamLost(job: "job-1", attempt: 1, .refusedByStatus, silence: nil),
            ])
    }

    @Test func `the backoff grows with every loss and is back to base once a new event is applied`() {
        var phone = streaming()
        for _ in 0..<10 { _ = delayAfterLoss(&phone) }
        phone.stream(Wording.progress("1-progress"))  // Applied before: nothing new.
        phone.fail(.stream, .reset)
        let long = (0..<20).map { _ in delayAfterLoss(&phone) }
        #expect(long.allSatisfy { $0 <= .seconds(30) })
        #expect(long.contains { $0 > .seconds(15) })
        for event in 0..<20 {
            phone.stream(Wording.progress("new-\(event)"))
            phone.fail(.stream, .reset)
            #expect(delayAfterLoss(&phone) <= .milliseconds(500))
        }
    }

    /// The wait of a stream that has just been lost; it is open again afterwards. Loses it again after a long one.
    private func delayAfterLoss(_ phone: inout TestPhone) -> Interval {
        if phone.request(.stream) != nil { phone.fail(.stream, .reset) }
        let start = phone.now
        while phone.request(.stream) == nil, let wake = phone.app.nextWake { phone.pass(wake - phone.now) }
        let wait = phone.now - start
        phone.openStream()
        return wait
    }

    @Test func `the server's retry raises the base`() {
        var phone = TestPhone(seed: 3)
        phone.captureToStream()
        var longest = Interval.zero
        for event in 0..<30 {
            phone.stream("retry: 5000\n" + Wording.progress("\(event)"))
            phone.fail(.stream, .reset)
            longest = max(longest, delayAfterLoss(&phone))
        }
        #expect(longest > .seconds(4) && longest <= .seconds(5))
    }

    @Test func `every phone and every attempt has its own jitter`() {
        func waits(seed: UInt64) -> [Interval] {
            var phone = TestPhone(seed: seed)
            phone.captureToStream()
            return (0..<5).map { event in
                phone.stream(Wording.progress("\(event)"))
                phone.fail(.stream, .reset)
                return delayAfterLoss(&phone)
            }
        }
        #expect(waits(seed: 1) == waits(seed: 1))
        #expect(Set(waits(seed: 1) + waits(seed: 2)).count == 10)
    }
}

extension TestPhone {
    /// A clean end of the body.
    mutating func answerEnd(_ operation: Operation, scan: UInt32 = 1) {
        guard let request = self.request(operation, scan) else {
            Issue.record("no \(operation.name) request of scan \(scan) is open")
            return
        }
        self.open.removeAll { $0.id == request.id }
        self.handle(.replyEnded(request.id))
    }
}
