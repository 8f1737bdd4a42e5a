import Histories
import Metrics
import Observations
import RunJudge
import SimBase
import Talaria
import Testing

@testable import Ledger

/// Invariants of the virtual world, beyond what their rows in `InvariantTableTests` show.
@Suite struct SimulationInvariantsTests {
    private func broken(_ history: History) -> [Invariant] { history.simulated().map(\.invariant) }

    private static func answered(
        _ history: inout History, _ operation: Talaria.Operation, _ status: Int = 200
    ) {
        history.phone(.replied(operation, attempt: 1, status: status, took: .milliseconds(1)))
    }

    /// Up to the books, every request with its answer.
    private static func journey(_ history: inout History) {
        history.launch()
        history.capture()
        history.upload()
        Self.answered(&history, .upload, 202)
        history.open()
        Self.answered(&history, .stream)
        history.terminal(0)
        history.addBooks()
        history.complete()
    }

    @Test func `what it remembers of a phone does not grow with its scans`() {
        func remembered(afterScans count: UInt32) -> Int {
            let history = History {
                $0.launch()
                for scan in 1...count {
                    $0.scan = ScanNumber(scan)
                    $0.job = "job-\(scan)"
                    $0.phone(.captured(scheduled: $0.now))
                    $0.phone(.queued(.captured))
                    $0.upload()
                    Self.answered(&$0, .upload, 202)
                    $0.fault(.fired(fault: 0, .stream, attempt: 1))
                    $0.open()
                    Self.answered(&$0, .stream)
                    $0.terminal(0)
                    $0.complete()
                    $0.clean()
                }
            }
            var remembered = 0
            _ = history.simulated(after: { remembered = $0.remembered })
            return remembered
        }
        #expect(remembered(afterScans: 40) == remembered(afterScans: 160))
    }

    @Test(arguments: [(1, []), (3, [.requestOneFate])] as [(UInt32, [Invariant])])
    func `a DELETE may outlive the background, beside that of the scan's next job`(
        answered: UInt32, broken: [Invariant]
    ) {
        let history = History {
            $0.launch()
            for attempt: UInt32 in 1...2 {
                $0.job = "job-\(attempt)"
                $0.phone(.suspended)
                $0.send(.cleanup, attempt: attempt, job: $0.job)
                $0.phone(.resumed)
            }
            for attempt in [answered, 2] {
                $0.phone(.replied(.cleanup, attempt: attempt, status: 204, took: .milliseconds(1)))
            }
        }
        #expect(self.broken(history) == broken)
    }

    /// Two scans wait, each for a cause of its own; after what the script does one of them is uploaded.
    private func order(
        older: WaitingCause, newer: WaitingCause, first: UInt32, then: UInt32? = nil,
        _ script: (inout History) -> Void = { _ in }
    ) -> [Invariant] {
        let history = History {
            $0.launch()
            for (scan, cause) in [(UInt32(1), older), (2, newer)] {
                $0.scan = ScanNumber(scan)
                $0.phone(.captured(scheduled: $0.now))
                $0.phone(.queued(.captured))
                if cause != .captured { $0.phone(.queued(cause)) }
            }
            $0.pass(.seconds(2))
            script(&$0)
            $0.scan = ScanNumber(first)
            $0.send(.upload, attempt: 2, job: nil)
            if let then {
                $0.pass(.milliseconds(-1))
                $0.scan = ScanNumber(then)
                $0.send(.upload, attempt: 2, job: nil)
            }
            $0.pass(.milliseconds(5))
            $0.phone(.pathChanged)
        }
        return self.broken(history)
    }

    @Test func `an older scan that waits comes first, for whatever reason it waits`() {
        for cause in [WaitingCause.captured, .offline, .rateLimited, .suspended, .interrupted] {
            #expect(self.order(older: cause, newer: cause, first: 2) == [.scanOrder], "\(cause)")
            #expect(self.order(older: cause, newer: cause, first: 1) == [], "\(cause)")
        }
    }

    @Test func `a scan that serves a backoff is overtaken until its ceiling is over`() {
        func broken(failures: Int, wait: Interval) -> [Invariant] {
            self.order(older: .offline, newer: .captured, first: 2) {
                $0.scan = ScanNumber(1)
                for failure in 1...failures {
                    if failure > 1 { $0.pass(.seconds(30)) }
                    $0.phone(.queued(.serverError))
                }
                $0.pass(wait - .milliseconds(1))
            }
        }
        #expect(broken(failures: 3, wait: .milliseconds(1_999)) == [])
        #expect(broken(failures: 3, wait: .seconds(2)) == [.scanOrder])
        #expect(broken(failures: 9, wait: .milliseconds(29_999)) == [])
        #expect(broken(failures: 9, wait: .seconds(30)) == [.scanOrder])
        let filed = self.order(older: .captured, newer: .captured, first: 2) {
            $0.scan = ScanNumber(1)
            $0.repeatBooks([0])
        }
        #expect(filed == [], "its book is in the library since before a kill")
        let released = self.order(older: .transport, newer: .captured, first: 2) {
            $0.phone(.pathReturned)
        }
        #expect(released == [.scanOrder])
    }

    @Test func `a scan that a server told to wait is overtaken until that wait is over, path or not`() {
        func broken(after time: Interval) -> [Invariant] {
            let history = History {
                $0.launch()
                for scan in [UInt32(1), 2] {
                    $0.scan = ScanNumber(scan)
                    $0.phone(.captured(scheduled: $0.now))
                    $0.phone(.queued(.captured))
                }
                $0.scan = ScanNumber(1)
                $0.send(.upload, job: nil)
                $0.backend(
                    .problem(
                        .upload, attempt: 1, status: 503, job: nil, retryable: true, retryAfter: .seconds(60))
                )
                Self.answered(&$0, .upload, 503)
                $0.phone(.queued(.serverError))
                $0.phone(.pathReturned)
                $0.pass(time)
                $0.scan = ScanNumber(2)
                $0.send(.upload, job: nil)
            }
            return self.broken(history)
        }
        #expect(broken(after: .seconds(60)) == [])
        #expect(broken(after: .seconds(61)) == [.scanOrder])
    }

    @Test func `uploads that begin at one moment have no order`() {
        #expect(self.order(older: .offline, newer: .offline, first: 2, then: 1) == [])
    }

    @Test func `no results are requested after the DELETE of their job`() {
        let history = History {
            Self.journey(&$0)
            $0.clean()
            $0.send(.results, attempt: 2, job: $0.job)
        }
        #expect(self.broken(history) == [.jobSilentAfterCleanup])
    }

    /// The link's word of the scan's stream, once the history is over.
    private func broken(
        _ history: History, silent: Interval, endingAt to: Instant, isGivenUp: Bool, own: Interval? = nil
    ) -> [Invariant] {
        history.simulated(
            isSettled: false, rules: { $0.idleTimeouts = own.map { [$0] } ?? [] },
            before: {
                $0.record(
                    SilentStream(
                        device: history.device, scan: history.scan, from: to - silent, to: to,
                        isGivenUp: isGivenUp))
            }
        ).map(\.invariant)
    }

    @Test func `a silence is given up when the contract's time is over, whatever the phone says`() {
        func kept(_ silence: Interval, says: Interval? = nil, own: Interval? = nil) -> [Invariant] {
            var end = Instant.zero
            let history = History {
                Self.journey(&$0)
                $0.pass(.seconds(5))
                end = $0.now
                if let says {
                    $0.phone(.streamLost(job: $0.job, attempt: 1, .silence, silence: says))
                }
                $0.phone(.pathChanged)
            }
            var earlier = history
            earlier.pass(.seconds(1))
            return self.broken(
                Self.withoutTerminal(earlier), silent: silence, endingAt: end, isGivenUp: says != nil,
                own: own)
        }
        #expect(kept(.milliseconds(2_001)) == [])
        #expect(kept(.milliseconds(2_002)) == [.streamDeadDetected])
        #expect(kept(.milliseconds(2_500), says: .seconds(2)) == [.streamDeadDetected])
        #expect(kept(.seconds(2), says: .seconds(2)) == [])
        // Bytes came, and the phone says that none did.
        #expect(kept(.milliseconds(300), says: .seconds(2)) == [.streamDeadDetected])
        #expect(kept(.milliseconds(1_998), says: .seconds(2)) == [.streamDeadDetected])
        #expect(kept(.milliseconds(1_999), says: .seconds(2)) == [])
        // Given up for another reason, at whatever time.
        #expect(kept(.milliseconds(300)) == [])
        // The scenario says what the timeout is.
        #expect(kept(.milliseconds(2_500), says: .milliseconds(2_500), own: .milliseconds(2_500)) == [])
        #expect(kept(.seconds(2), says: .seconds(2), own: .milliseconds(2_500)) == [.streamDeadDetected])
        #expect(kept(.milliseconds(1_502), own: .milliseconds(1_500)) == [.streamDeadDetected])
    }

    @Test func `a stream that brings bytes is closed for a reason`() {
        func closed(_ reason: PhoneObservation, after length: Interval = .milliseconds(20)) -> [Invariant] {
            var end = Instant.zero
            let history = History {
                $0.launch()
                $0.capture()
                $0.upload()
                Self.answered(&$0, .upload, 202)
                $0.open()
                Self.answered(&$0, .stream)
                $0.fault(.fired(fault: Fault.garbles, .stream, attempt: 1))
                $0.pass(.seconds(5))
                end = $0.now
                $0.phone(reason)
            }
            return self.broken(history, silent: length, endingAt: end, isGivenUp: true)
        }
        let job = "job-1"
        // Bad JSON and unknown events are ignored and counted; the stream goes on.
        for malformed in [true, false] {
            #expect(
                closed(.eventIgnored(job: job, id: nil, name: "progress", malformed: malformed))
                    == [.streamDeadDetected])
        }
        for cause in [LossCause.badAnswer, .reset, .endWithoutTerminal] {
            #expect(
                closed(.streamLost(job: job, attempt: 1, cause, silence: nil)) == [.streamDeadDetected],
                "\(cause)")
        }
        // What it calls the silence of a dead stream does not matter.
        #expect(
            closed(.streamLost(job: job, attempt: 1, .reset, silence: nil), after: .milliseconds(1_999)) == []
        )
        for reason in [PhoneObservation.pathLost, .pathChanged, .suspended] {
            #expect(closed(reason) == [], "\(reason)")
        }
    }

    @Test func `a terminal event that is read late ends its stream, and excuses no silence before it`() {
        func ended(isGivenUp: Bool, after silence: Interval) -> [Invariant] {
            var end = Instant.zero
            let history = History {
                $0.launch()
                $0.capture()
                $0.open()
                Self.answered(&$0, .stream)
                $0.pass(.seconds(4))
                end = $0.now
                $0.phone(.terminalApplied(job: $0.job, kind: .completed, inline: .absent))
            }
            return self.broken(history, silent: silence, endingAt: end, isGivenUp: isGivenUp)
        }
        #expect(ended(isGivenUp: true, after: .milliseconds(400)) == [])
        #expect(ended(isGivenUp: false, after: .seconds(3)) == [.streamDeadDetected])
    }

    @Test func `an end of one stream is none of the next`() {
        func next(openedAt: (Instant) -> Instant) -> [Invariant] {
            var ended = Instant.zero
            let history = History {
                $0.launch()
                $0.capture()
                $0.open()
                Self.answered(&$0, .stream)
                ended = $0.now
                $0.phone(.terminalApplied(job: $0.job, kind: .completed, inline: .absent))
                $0.pass(.seconds(1))
                $0.phone(.ping(id: nil, gap: nil))
            }
            return history.simulated(
                isSettled: false,
                before: {
                    $0.record(
                        SilentStream(
                            device: history.device, scan: history.scan, from: ended + .milliseconds(500),
                            to: ended + .milliseconds(600), isGivenUp: true, openedAt: openedAt(ended)))
                }
            ).map(\.invariant)
        }
        #expect(next { $0 } == [])
        #expect(next { $0 + .nanoseconds(1) } == [.streamDeadDetected])
    }

    /// A request times out so long after it was sent, so long after its link was there and after a byte of it moved.
    private func timedOut(
        _ operation: Talaria.Operation, after took: Interval, ready: Interval = .milliseconds(200),
        moved: Interval?, own: Interval? = nil
    ) -> [Invariant] {
        let history = History {
            $0.launch()
            $0.capture()
            $0.send(operation, job: operation == .upload ? nil : $0.job)
            $0.pass(took - .milliseconds(1))
            $0.phone(.requestFailed(operation, attempt: 1, .timedOut, took: took))
        }
        let end = history.now - .milliseconds(1)
        return history.simulated(
            idleTimeout: .seconds(75), isSettled: false,
            rules: { $0.requestTimeouts = own.map { [$0] } ?? [] },
            before: { invariants in
                guard let moved else { return }
                invariants.record(
                    RequestGivenUp(
                        device: history.device, scan: history.scan, operation: operation, attempt: 1,
                        at: end, readyAt: end - took + ready, movedAt: end - moved))
            }
        ).map(\.invariant)
    }

    @Test func `a request times out when no byte of it has moved for its time`() {
        let (short, all) = (Interval.seconds(10), Interval.seconds(30))
        #expect(self.timedOut(.upload, after: all, moved: all) == [])
        #expect(self.timedOut(.upload, after: short, moved: .zero) == [.requestOneFate])
        // The phone is too early, whatever moved, and whoever saw it.
        #expect(self.timedOut(.upload, after: all - .milliseconds(2), moved: nil) == [.requestOneFate])
        #expect(self.timedOut(.upload, after: all - .milliseconds(1), moved: nil) == [])
        #expect(self.timedOut(.results, after: short, moved: short) == [.requestOneFate])
        #expect(self.timedOut(.stream, after: short, moved: .milliseconds(9_700)) == [])
        #expect(self.timedOut(.stream, after: .seconds(9), moved: .milliseconds(9_000)) == [.requestOneFate])
        // Its photo still goes up, or its answer still comes.
        #expect(self.timedOut(.upload, after: .seconds(60), moved: .zero) == [.requestOneFate])
        #expect(self.timedOut(.results, after: all, moved: .seconds(1)) == [.requestOneFate])
        #expect(self.timedOut(.upload, after: .seconds(60), moved: .milliseconds(27_801)) == [])
        #expect(
            self.timedOut(.upload, after: .seconds(60), moved: .milliseconds(27_799)) == [.requestOneFate])
        // What the connection took is not counted twice: it may be lost and tried again many times.
        #expect(self.timedOut(.results, after: all, ready: .seconds(7), moved: .milliseconds(21_001)) == [])
        #expect(
            self.timedOut(.results, after: all, ready: .seconds(7), moved: .milliseconds(20_999))
                == [.requestOneFate])
        // The scenario's own.
        #expect(self.timedOut(.upload, after: short, moved: short, own: short) == [])
        #expect(self.timedOut(.upload, after: all, moved: all, own: .seconds(40)) == [.requestOneFate])
    }

    @Test(arguments: [(1, []), (2, [.requestOneFate])] as [(Int, [Invariant])])
    func `a DELETE that outlives the background ends once, however many scans end before it`(
        ends: Int, broken: [Invariant]
    ) {
        let history = History {
            $0.launch()
            Self.journey(&$0)
            $0.send(.cleanup, attempt: 1, job: $0.job)
            $0.phone(.suspended)
            $0.phone(.resumed)
            let first = $0.scan
            for scan: UInt32 in 2...40 {
                $0.scan = ScanNumber(scan)
                $0.job = "job-\(scan)"
                Self.journey(&$0)
                $0.clean()
            }
            $0.scan = first
            for _ in 0..<ends {
                $0.phone(.requestFailed(.cleanup, attempt: 1, .timedOut, took: .seconds(30)))
            }
        }
        #expect(self.broken(history).filter { $0 == .requestOneFate } == broken)
    }

    private static func withoutTerminal(_ history: History) -> History {
        var other = History()
        for observation in history.observations {
            if case .phone(.terminalApplied) = observation.what { continue }
            guard case .phone(let payload) = observation.what else { continue }
            other.pass(observation.at - other.now)
            other.phone(payload)
        }
        return other
    }

    @Test func `a silence does not count while its phone cannot notice it`() {
        func kept(_ script: (inout History) -> Void) -> [Invariant] {
            var end = Instant.zero
            let history = History {
                $0.launch()
                $0.capture()
                $0.open()
                $0.pass(.seconds(1))
                script(&$0)
                end = $0.now
                $0.phone(.pathChanged)
            }
            return self.broken(
                history, silent: end - .zero - .milliseconds(20), endingAt: end, isGivenUp: false)
        }
        for leaves in [PhoneObservation.suspended, .pathLost, .killed] {
            let away = kept {
                $0.phone(leaves)
                $0.pass(.seconds(60))
            }
            #expect(away == [], "\(leaves)")
        }
    }

    @Test func `a status without a name is that of one scan's stream`() {
        func history(answered status: Int) -> History {
            History {
                $0.launch()
                $0.capture()
                $0.phone(.replied(.stream, attempt: 1, status: status, took: .zero))
                $0.scan = ScanNumber(2)
                $0.phone(.replied(.stream, attempt: 1, status: 200, took: .zero))
                $0.scan = ScanNumber(1)
                $0.phone(.badAnswer(.stream, attempt: 1, .unexpectedStatus))
            }
        }
        #expect(!self.broken(history(answered: 418)).contains(.streamParseRobust))
        #expect(self.broken(history(answered: 503)).contains(.streamParseRobust))
    }

    @Test func `a phone that keeps the short waits of a server is none that never rests`() {
        func history(_ retriesOfEach: UInt32) -> History {
            History {
                $0.launch()
                $0.capture()
                var attempt: UInt32 = 0
                for _ in 0...SimulationInvariants.requestsPerSecondMax {
                    for retry in 1...retriesOfEach {
                        attempt += 1
                        $0.send(.upload, attempt: attempt, job: nil)
                        $0.phone(.replied(.upload, attempt: attempt, status: 429, took: .milliseconds(1)))
                        if retry == 1 { $0.phone(.rateLimited(.upload, retryAfter: .milliseconds(1))) }
                    }
                }
            }
        }
        #expect(!self.broken(history(1)).contains(.retryBudget))
        #expect(self.broken(history(3)).contains(.retryBudget), "one request for one wait")
    }

    @Test func `a phone that never rests is told`() {
        func history(_ count: Int) -> History {
            History {
                $0.launch()
                $0.capture()
                for attempt in 1...count {
                    $0.send(.upload, attempt: UInt32(attempt), job: nil)
                    $0.phone(
                        .requestFailed(
                            .upload, attempt: UInt32(attempt), .connectRefused, took: .milliseconds(1)))
                }
            }
        }
        #expect(self.broken(history(SimulationInvariants.requestsPerSecondMax + 1)) == [.retryBudget])
        #expect(self.broken(history(SimulationInvariants.requestsPerSecondMax)) == [])
    }

    @Test func `a phone that is given much to do is none that never rests`() {
        func history(_ scans: UInt32, attempts: UInt32) -> History {
            History {
                $0.launch()
                for scan in 1...scans {
                    $0.scan = ScanNumber(scan)
                    for attempt in 1...attempts {
                        $0.send(.upload, attempt: attempt, job: nil)
                        $0.phone(.replied(.upload, attempt: attempt, status: 200, took: .milliseconds(1)))
                    }
                }
            }
        }
        // A step of a history takes a millisecond.
        #expect(self.broken(history(400, attempts: 1)) == [])
        #expect(self.broken(history(5, attempts: 12)) == [])
        #expect(self.broken(history(5, attempts: 13)) == [.retryBudget])
    }

    @Test func `no event is applied before it was written`() {
        let early = History {
            Self.journey(&$0)
            $0.clean()
            $0.phone(
                .eventApplied(
                    job: $0.job, id: nil, kind: .progress, latency: .nanoseconds(-1), replayed: false))
        }
        #expect(self.broken(early) == [.timeSane])
    }

    @Test func `a request ends once`() {
        let twice = History {
            Self.journey(&$0)
            $0.clean()
            $0.phone(.requestFailed(.results, attempt: 1, .reset, took: .milliseconds(1)))
        }
        #expect(self.broken(twice) == [.requestOneFate])
    }

    private static let reports: [(AuditFinding.What, DeviceNumber?, String)] = [
        (
            .leak(.linkDown, LeakedBytes(sent: 90, delivered: 40, destroyed: 20, underway: 10)),
            DeviceNumber(3),
            "link.conserves 3: down the link: 90 bytes sent, 40 delivered, 20 destroyed, 10 in flight"
        ),
        (
            .overLimit(Bound("AppLimits.unsettledMax", 1_001, max: 1_000)), DeviceNumber(3),
            "memory.bounded 3: AppLimits.unsettledMax is 1000, but there are 1001"
        ),
        (
            .overLimit(Bound("BackendConfiguration.jobsMax", 11, max: 10)), nil,
            "memory.bounded of none: BackendConfiguration.jobsMax is 10, but there are 11"
        ),
        (
            .unrecordedJob, DeviceNumber(3),
            "job.orphans-bounded 3: its stream was requested before the record of its job was stored"
        ),
        (
            .tooSoon(.upload, took: .milliseconds(9), least: .milliseconds(230)), DeviceNumber(3),
            "time.sane 3: upload on a new connection was answered within 9000 us, but its link needs at least 230000 us"
        ),
        (
            .strayToken(.stream), DeviceNumber(3),
            "auth.no-leak 3: stream with a token that is not its job's"
        ),
    ]

    @Test(arguments: Self.reports.indices)
    func `what the world finds is reported for the phone that it belongs to`(index: Int) {
        let (what, device, text) = Self.reports[index]
        let verdicts = History().simulated(before: {
            $0.record(AuditFinding(device: device, scan: .none, at: .zero + .seconds(1), what: what))
        })
        let texts = verdicts.flatMap(\.examples).map {
            "\($0.invariant.rawValue) \($0.device.map { "\($0.raw)" } ?? "of none"): \($0.text)"
        }
        #expect(texts == [text])
    }

    @Test func `no phone's profile excuses what is about no one phone`() {
        func standing(of device: DeviceNumber?) -> Verdict.Standing? {
            History().simulated(
                ledger: {
                    $0.fleet = PhoneGroups(groups: ["old"], groupOfDevice: [0])
                    $0.profiles = [ProfileExpectation(name: "careless", breaks: [.memoryBounded])]
                },
                before: {
                    let bound = Bound("BackendConfiguration.jobsMax", 11, max: 10)
                    $0.record(
                        AuditFinding(device: device, scan: .none, at: .zero, what: .overLimit(bound)))
                }
            ).first?.standing
        }
        #expect(standing(of: DeviceNumber(0)) == .brokenAsExpected)
        #expect(standing(of: nil) == .broken)
    }

    @Test func `a capture without room that is not refused is found before the run ends`() {
        let history = History {
            $0.launch()
            $0.phone(.storageFilled)
            $0.phone(.captured(scheduled: $0.now))
            $0.pass(.milliseconds(1))
            $0.scan = .none
            $0.phone(.pathLost)
        }
        #expect(self.broken(history) == [.memoryBounded])
    }

    // MARK: Herds

    /// The paths of so many phones, from 1, return at once; each asks for something so many milliseconds later.
    private func fleet(_ phones: Int, _ wait: (Int) -> Int64) -> [Invariant] {
        self.judged(phones, wait).map(\.invariant)
    }

    private func judged(_ phones: Int, _ wait: (Int) -> Int64) -> [Verdict] {
        let waits = (1...phones).map { (device: $0, wait: wait($0)) }
            .sorted { ($0.wait, $0.device) < ($1.wait, $1.device) }
        let history = History { history in
            func see(_ device: Int, _ what: PhoneObservation) {
                history.device = DeviceNumber(UInt32(device))
                history.phone(what)
                history.pass(.milliseconds(-1))
            }
            history.pass(.seconds(60))
            let returned = history.now
            for device in 1...phones { see(device, .pathReturned) }
            for (device, wait) in waits {
                history.pass(returned + .milliseconds(wait) - history.now)
                see(device, .requestSent(.stream, attempt: 2, job: "job-\(device)", lastEventID: nil))
            }
        }
        return history.simulated(ledger: { $0.fleet = LedgerSettings.embedded.fleet })
    }

    @Test func `a herd is told of a phone that was in it`() {
        // Its window is over by the end of the run, or by a phone that asks later.
        let last = self.judged(50) { _ in 300 }.flatMap(\.examples)
        #expect(last.map(\.device) == [DeviceNumber(50)])
        let followed = self.judged(50) { $0 == 50 ? 400 : 0 }.flatMap(\.examples)
        #expect(followed.map(\.device) == [DeviceNumber(49)])
    }

    @Test(arguments: [50, 200, 2_000]) func `phones that come back are spread by their jitter`(phones: Int) {
        let random = KeyedRandom(seed: 11)
        let spread = self.fleet(phones) { Int64(random.below(501, .test, UInt64($0))) }
        #expect(spread == [])
        let atOnce = self.fleet(phones) { _ in 0 }
        #expect(atOnce == [.herdBounded])
        let atOnceLater = self.fleet(phones) { _ in 300 }
        #expect(atOnceLater == [.herdBounded])
    }

    @Test func `a few phones are no herd`() {
        #expect(self.fleet(15) { _ in 0 } == [])
    }

    @Test func `a run that is not settled says nothing of an end in peace`() {
        let invariants = SimulationInvariants(
            SimulationInvariantSettings(
                idleTimeout: .seconds(2), isSettled: false, herdTime: .milliseconds(500)),
            ledger: .embedded)
        let judged = invariants.verdicts.map(\.invariant)
        #expect(
            Set(Invariant.simulated).subtracting(judged) == [
                .jobEnded, .deviceNotStuck, .scanSettles, .timersClean, .othersUnharmed,
            ])
    }

    // MARK: CoverageGoal

    @Test func `what the faults are there for is told when it never came`() {
        var table = CoverageTable(expected: [.resumed, .limited], slotsMax: 5)
        #expect(table.unmet == [.resumed, .limited])
        for observation in History({ $0.open(attempt: 2, after: "7-progress") }).observations {
            table.record(observation)
        }
        #expect(table.unmet == [.limited] && table.met == [.resumed])
        #expect(table.unreached == [], "the scenario named none of them")
    }

    @Test func `what the scenario names is told apart from what its faults promise`() {
        var table = CoverageTable(expected: [.limited], named: [.resumed, .slotsFull], slotsMax: 5)
        #expect(table.unreached == [.resumed, .slotsFull])
        for observation in History({ $0.open(attempt: 2, after: "7-progress") }).observations {
            table.record(observation)
        }
        #expect(table.unreached == [.slotsFull])
        #expect(table.unmet == [.limited, .slotsFull])
    }
}
