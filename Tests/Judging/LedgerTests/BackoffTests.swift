import Histories
import Metrics
import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// retry.budget: floors, ceilings, and how a fleet's waits are spread below them.
@Suite struct BackoffTests {
    private static let base = Interval.milliseconds(500)
    private static let cap = Interval.seconds(30)

    private static func judge(
        _ history: History, retry: Interval? = nil, ledger: LedgerSettings = .embedded
    ) -> [Verdict] {
        history.simulated(
            idleTimeout: .seconds(75), isSettled: false, rules: { $0.retryField = retry },
            ledger: { $0 = ledger })
    }

    private static func broken(_ history: History) -> [Invariant] { Self.judge(history).map(\.invariant) }

    private static func lose(_ history: inout History, attempt: UInt32) {
        history.phone(.streamLost(job: history.job, attempt: attempt, .reset, silence: nil))
    }

    /// Fails so often in a row, and comes again after the last failure when the wait is over. `script` runs
    /// during the wait.
    private static func stream(
        failures: UInt32, wait: Interval, _ script: (inout History) -> Void = { _ in }
    ) -> [Invariant] {
        Self.broken(
            History {
                $0.launch()
                $0.capture()
                $0.upload()
                $0.phone(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(1)))
                for attempt in 1...failures {
                    $0.send(.stream, attempt: attempt, job: $0.job)
                    $0.phone(.replied(.stream, attempt: attempt, status: 200, took: .milliseconds(1)))
                    let lost = $0.now
                    Self.lose(&$0, attempt: attempt)
                    guard attempt == failures else {
                        $0.pass(min(Self.cap, Self.base * Int64(1 << (attempt - 1))) / 2)
                        continue
                    }
                    script(&$0)
                    $0.pass(lost + wait - $0.now)
                }
                $0.send(.stream, attempt: failures + 1, job: $0.job)
            })
    }

    @Test(arguments: [(UInt32(1), Int64(500)), (2, 1_000), (5, 8_000), (7, 30_000), (40, 30_000)])
    func `a stream waits at most the ceiling, which doubles up to the cap`(failures: UInt32, most: Int64) {
        let ceiling = Interval.milliseconds(most)
        #expect(Self.stream(failures: failures, wait: ceiling) == [])
        #expect(Self.stream(failures: failures, wait: ceiling + .milliseconds(1)) == [])
        #expect(Self.stream(failures: failures, wait: ceiling + .milliseconds(2)) == [.retryBudget])
    }

    @Test func `a wait that is requested at the moment of the failure counts, if observed after it`() {
        func broken(after wait: Interval, observed delay: Interval) -> [Invariant] {
            Self.stream(failures: 1, wait: wait) {
                $0.pass(.milliseconds(-1) + delay)
                $0.backend(
                    .problem(
                        .stream, attempt: 1, status: 413, job: $0.job, retryable: false,
                        retryAfter: .seconds(3)))
            }
        }
        #expect(broken(after: .seconds(3), observed: .zero) == [])
        #expect(broken(after: .seconds(2), observed: .zero) == [.retryBudget])
        #expect(broken(after: .seconds(3), observed: .milliseconds(1)) == [.retryBudget], "of another moment")
    }

    @Test func `an event ends a row of failures`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.phone(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(1)))
            for attempt in 1...6 {
                $0.send(.stream, attempt: UInt32(attempt), job: $0.job)
                $0.phone(.replied(.stream, attempt: UInt32(attempt), status: 200, took: .milliseconds(1)))
                if attempt == 5 { $0.apply(0) }
                Self.lose(&$0, attempt: UInt32(attempt))
                if attempt == 5 { $0.pass(.milliseconds(700)) }
            }
        }
        #expect(Self.broken(history) == [.retryBudget])
    }

    @Test func `neither a full storage nor another phone's path holds a stream back`() {
        let long = Interval.seconds(90)
        // A stream needs no storage, and no other phone's path.
        let full = Self.stream(failures: 1, wait: long) { $0.phone(.storageFilled) }
        #expect(full == [.retryBudget])
        let other = Self.stream(failures: 1, wait: long) {
            $0.device = DeviceNumber(1)
            $0.phone(.pathLost)
            $0.device = DeviceNumber(0)
        }
        #expect(other == [.retryBudget])
    }

    /// A 503 to an upload that names a wait.
    private static func postponed(
        _ wait: Interval, status: Int = 503, script: (inout History) -> Void = { _ in }
    )
        -> [Invariant]
    {
        Self.broken(
            History {
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                $0.backend(
                    .problem(
                        .upload, attempt: 1, status: status, job: nil, retryable: true,
                        retryAfter: .seconds(5)))
                $0.phone(.replied(.upload, attempt: 1, status: status, took: .milliseconds(1)))
                let queued = $0.now
                $0.phone(.queued(.serverError))
                script(&$0)
                $0.pass(queued + wait - $0.now)
                $0.send(.upload, attempt: 2, job: nil)
            })
    }

    @Test
    func `a wait that the server asks for is a floor, whatever the backoff says, and no path lowers it`() {
        #expect(Self.postponed(.milliseconds(20)) == [.retryBudget])
        let returned = Self.postponed(.seconds(2)) {
            $0.phone(.pathLost)
            $0.phone(.pathReturned)
        }
        #expect(returned == [.retryBudget])
        // A 429 is judged by limit.honoured.
        #expect(Self.postponed(.milliseconds(20), status: 429) == [])
        let killed = Self.postponed(.seconds(2)) {
            $0.phone(.killed)
            $0.launch(restored: 1)
        }
        #expect(killed == [])
    }

    @Test func `an upload waits at most its ceiling where no limit holds it`() {
        func upload(wait: Interval, _ script: (inout History) -> Void = { _ in }) -> [Invariant] {
            Self.broken(
                History {
                    $0.launch()
                    $0.capture()
                    $0.phone(.slotTaken)
                    $0.send(.upload, job: nil)
                    $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(1)))
                    let queued = $0.now
                    $0.phone(.queued(.transport))
                    $0.phone(.slotGiven)
                    script(&$0)
                    $0.pass(queued + wait - $0.now)
                    $0.send(.upload, attempt: 2, job: nil)
                })
        }
        #expect(upload(wait: .milliseconds(2_500)) == [])
        #expect(upload(wait: .milliseconds(2_501)) == [.retryBudget])
        let limited = upload(wait: .seconds(20)) {
            $0.scan = ScanNumber(2)
            $0.phone(.rateLimited(.upload, retryAfter: .milliseconds(19_995)))
            $0.scan = ScanNumber(1)
        }
        #expect(limited == [])
    }

    @Test func `a scan that is canceled while a limit holds it makes no other one late`() {
        func upload(_ then: PhoneObservation...) -> [Invariant] {
            Self.broken(
                History {
                    $0.launch()
                    $0.scan = ScanNumber(2)
                    $0.capture()
                    $0.phone(.rateLimited(.upload, retryAfter: .seconds(1)))
                    for payload in then { $0.phone(payload) }
                    $0.pass(.seconds(5))
                    $0.scan = ScanNumber(3)
                    $0.capture()
                    $0.send(.upload, job: nil)
                })
        }
        #expect(upload().contains(.retryBudget))
        #expect(!upload(.cancelRequested).contains(.retryBudget))
        // The longer wait stays in force behind a shorter one.
        #expect(
            !upload(.cancelRequested, .rateLimited(.upload, retryAfter: .milliseconds(1))).contains(
                .retryBudget))
    }

    @Test(arguments: [(.retryableError, true), (.captured, false)] as [(WaitingCause, Bool)])
    func `a scan that has waited for something else is not late after a limit`(
        cause: WaitingCause, isHeld: Bool
    ) {
        let history = History {
            $0.launch()
            $0.capture()
            $0.phone(.queued(cause))
            $0.scan = ScanNumber(2)
            $0.capture()
            $0.phone(.rateLimited(.upload, retryAfter: .milliseconds(26)))
            $0.pass(.milliseconds(78))
            $0.scan = ScanNumber(1)
            $0.send(.upload, job: nil)
        }
        #expect(Self.broken(history).contains(.retryBudget) != isHeld)
    }

    // MARK: The spread over the fleet

    /// Streams of so many phones fail so often in a row; each wait is what `draw` makes of its ceiling, for a phone and a
    /// number of failures from 1.
    private static func fleet(
        _ phones: UInt32, failures: UInt32 = 1, ledger: LedgerSettings = .embedded,
        draw: (Interval, UInt32, UInt32) -> Interval
    ) -> [Verdict] {
        Self.judge(
            History {
                for phone in 0..<phones {
                    $0.device = DeviceNumber(phone)
                    $0.launch()
                    for attempt in 1...failures {
                        Self.lose(&$0, attempt: attempt)
                        let ceiling = min(Self.cap, Self.base * Int64(1 << (attempt - 1)))
                        $0.pass(draw(ceiling, phone, attempt) - .milliseconds(1))
                        $0.send(.stream, attempt: attempt + 1, job: $0.job)
                        $0.phone(.requestFailed(.stream, attempt: attempt + 1, .reset, took: .zero))
                    }
                }
            }, ledger: ledger)
    }

    private static func uniform(_ ceiling: Interval, _ phone: UInt32, _ attempt: UInt32) -> Interval {
        let random = KeyedRandom(seed: 5)
        let width = UInt64(ceiling.nanoseconds) + 1
        return .nanoseconds(Int64(random.below(width, .test, UInt64(phone), UInt64(attempt))))
    }

    @Test func `full jitter with growth is what it should be, in fleets of any size`() {
        for phones in [3, 40, 400] as [UInt32] {
            #expect(Self.fleet(phones, failures: 5, draw: Self.uniform) == [])
        }
    }

    @Test func `a phone without jitter is found, wherever it waits`() {
        for eighths in [0, 1, 3, 5, 8] as [Int64] {
            let verdicts = Self.fleet(120) { ceiling, _, _ in .nanoseconds(ceiling.nanoseconds / 8 * eighths)
            }
            #expect(verdicts.map(\.invariant) == [.retryBudget], "\(eighths)")
        }
    }

    @Test(arguments: [true, false])
    func `phones that are known to draw no waits excuse no others`(isKnown: Bool) {
        var ledger = LedgerSettings.embedded
        ledger.fleet = PhoneGroups(groups: ["old", "new"], groupOfDevice: (0..<240).map { $0 < 120 ? 0 : 1 })
        ledger.profiles = [
            ProfileExpectation(name: "old", breaks: [.retryBudget, .herdBounded]), .contract,
        ]
        let verdicts = Self.fleet(240, ledger: ledger) { ceiling, phone, attempt in
            (phone < 120) == isKnown ? ceiling : Self.uniform(ceiling, phone, attempt)
        }
        #expect(verdicts.map(\.invariant) == [.retryBudget])
        #expect(verdicts.map(\.standing) == [isKnown ? .brokenAsExpected : .broken])
    }

    @Test func `half jitter is found`() {
        let half = Self.fleet(60) { ceiling, phone, attempt in
            .nanoseconds(ceiling.nanoseconds / 2 + Self.uniform(ceiling, phone, attempt).nanoseconds / 2)
        }
        #expect(half.map(\.invariant) == [.retryBudget])
        #expect(
            half.first?.examples.first?.text
                == "stream: of 60 waits after the first consecutive failure, 0 ended within 4/8 of the maximum; full jitter predicts about 30"
        )
    }

    @Test func `a backoff without growth is found`() {
        let flat = Self.fleet(30, failures: 6) { _, phone, attempt in
            Self.uniform(Self.base, phone, attempt)
        }
        #expect(flat.map(\.invariant) == [.retryBudget])
        // The first waits alone are as they should be.
        let firsts = Self.fleet(180) { _, phone, attempt in Self.uniform(Self.base, phone, attempt) }
        #expect(firsts == [])
    }

    // MARK: What ends a row of failures, the cap, and a server's `retry:`

    /// Streams of so many phones are opened and lost so often in a row; `opened` is what each receives before
    /// it is lost. The wait is drawn below the ceiling that `ceiling` makes of the number of failures.
    private static func lossy(
        _ phones: UInt32, failures: UInt32, retry: Interval? = nil,
        opened: (inout History) -> Void = { _ in }, ceiling: (UInt32) -> Interval
    ) -> [Invariant] {
        let history = History {
            for phone in 0..<phones {
                $0.device = DeviceNumber(phone)
                $0.launch()
                for attempt in 1...failures {
                    $0.phone(
                        .streamOpened(job: $0.job, attempt: attempt, after: nil, took: .milliseconds(1)))
                    opened(&$0)
                    Self.lose(&$0, attempt: attempt)
                    $0.pass(Self.uniform(ceiling(attempt), phone, attempt) - .milliseconds(1))
                    $0.send(.stream, attempt: attempt + 1, job: $0.job)
                    $0.phone(.replied(.stream, attempt: attempt + 1, status: 200, took: .zero))
                }
            }
        }
        return Self.judge(history, retry: retry).map(\.invariant)
    }

    /// min(cap, base x 2^n).
    private static func growing(_ failures: UInt32, base: Interval = Self.base, cap: Interval = Self.cap)
        -> Interval
    {
        min(cap, base * Int64(1 << min(failures - 1, 20)))
    }

    private static func ping(_ history: inout History) {
        for _ in 1...3 { history.phone(.ping(id: nil, gap: .seconds(1))) }
    }

    private static func event(_ history: inout History) {
        history.phone(.firstEvent(job: history.job, took: .milliseconds(1)))
        history.apply(0)
    }

    @Test func `neither a 200 nor a ping ends a row of failures, and an event does`() {
        for opened in [{ _ in }, Self.ping] as [(inout History) -> Void] {
            #expect(Self.lossy(40, failures: 6, opened: opened) { Self.growing($0) } == [])
            #expect(Self.lossy(40, failures: 6, opened: opened) { _ in Self.base } == [.retryBudget])
        }
        #expect(Self.lossy(40, failures: 6, opened: Self.event) { _ in Self.base } == [])
        #expect(Self.lossy(40, failures: 6, opened: Self.event) { Self.growing($0) } == [.retryBudget])
    }

    @Test func `a backoff without a cap, and one with another cap, are found`() {
        #expect(Self.lossy(40, failures: 10) { Self.growing($0) } == [])
        #expect(Self.lossy(40, failures: 10) { Self.growing($0, cap: .hours(1)) } == [.retryBudget])
        for cap in [Interval.seconds(10), .seconds(15), .seconds(20), .seconds(60)] {
            #expect(Self.lossy(40, failures: 10) { Self.growing($0, cap: cap) } == [.retryBudget], "\(cap)")
        }
    }

    @Test func `a retry field raises the base, as soon as it has come`() {
        let retry = Interval.seconds(5)
        for opened in [Self.ping, Self.event] as [(inout History) -> Void] {
            // Events end each row of failures, pings do not.
            var history = History()
            opened(&history)
            let isEnded = history.observations.contains { seen in
                if case .phone(.eventApplied) = seen.what { true } else { false }
            }
            func waits(_ base: Interval) -> [Invariant] {
                Self.lossy(60, failures: 5, retry: retry, opened: opened) { failures in
                    isEnded ? base : Self.growing(failures, base: base)
                }
            }
            #expect(waits(retry) == [])
            #expect(waits(Self.base) == [.retryBudget])
            #expect(waits(.seconds(10)) == [.retryBudget])
        }
        // It is not known whether it has come.
        #expect(Self.lossy(60, failures: 1, retry: retry) { Self.growing($0, base: retry) } == [])
        #expect(Self.lossy(60, failures: 1, retry: retry) { Self.growing($0) } == [])
        // No more than the cap, and no less than the base.
        #expect(Self.lossy(60, failures: 3, retry: .minutes(5), opened: Self.ping) { _ in Self.cap } == [])
        #expect(
            Self.lossy(60, failures: 3, retry: .milliseconds(10), opened: Self.ping) { Self.growing($0) }
                == [])
        #expect(
            Self.lossy(60, failures: 3, retry: .milliseconds(10), opened: Self.ping) {
                Self.growing($0, base: .milliseconds(10))
            } == [.retryBudget])
    }

    @Test func `a retry field says nothing of a job whose streams were never open`() {
        func refused(_ base: Interval) -> [Invariant] {
            let history = History {
                for phone in 0..<60 as Range<UInt32> {
                    $0.device = DeviceNumber(phone)
                    $0.launch()
                    // The stream of an earlier job had brought one.
                    $0.phone(.streamOpened(job: $0.job, attempt: 1, after: nil, took: .milliseconds(1)))
                    Self.ping(&$0)
                    $0.phone(.queued(.tokenExpired))
                    for attempt in 1...3 as ClosedRange<UInt32> {
                        Self.lose(&$0, attempt: attempt)
                        let ceiling = Self.growing(attempt, base: base)
                        $0.pass(Self.uniform(ceiling, phone, attempt) - .milliseconds(1))
                        $0.send(.stream, attempt: attempt + 1, job: $0.job)
                        $0.phone(.requestFailed(.stream, attempt: attempt + 1, .reset, took: .zero))
                    }
                }
            }
            return Self.judge(history, retry: .seconds(5)).map(\.invariant)
        }
        #expect(refused(Self.base) == [])
        #expect(refused(.seconds(5)) == [.retryBudget])
    }

    @Test func `so few waits say nothing`() {
        #expect(Self.fleet(12) { _, _, _ in .milliseconds(1) } == [])
    }

    @Test func `a wait that something interrupts counts as far as it was seen`() {
        var samples = BackoffSamples()
        func interrupt(_ count: Int) {
            for _ in 0..<count {
                samples.add(
                    .stream, failures: 1, ceiling: .seconds(8), wait: nil, watched: .milliseconds(1_500))
            }
        }
        // Known is only that none was over within the first eighth.
        interrupt(200)
        #expect(samples.findings == [])
        interrupt(100)
        #expect(
            samples.findings == [
                .init(operation: .stream, depth: 0, eighths: 1, waits: 300, over: 0, interrupted: 0)
            ])
    }

    /// Waits that something else interrupts at any time up to a multiple of their ceiling, if it comes before
    /// their end.
    private static func interrupted(
        _ waits: UInt64, within ceilings: Int64 = 1, draw: (Int64) -> Int64
    ) -> [BackoffSamples.Finding] {
        let random = KeyedRandom(seed: 9)
        let ceiling = Interval.seconds(8)
        var samples = BackoffSamples()
        for number in 0..<waits {
            func moment(_ kind: UInt64) -> Int64 {
                Int64(random.below(UInt64(ceiling.nanoseconds) + 1, .test, number, kind))
            }
            let (end, interruption) = (draw(moment(0)), moment(1) * ceilings)
            samples.add(
                .stream, failures: 1, ceiling: ceiling,
                wait: end <= interruption ? .nanoseconds(end) : nil,
                watched: .nanoseconds(min(end, interruption)))
        }
        return samples.findings
    }

    @Test func `interruptions, which long waits meet sooner than short ones, accuse nobody`() {
        #expect(Self.interrupted(20_000) { $0 } == [])
        #expect(Self.interrupted(20_000, within: 2) { $0 } == [])
        #expect(Self.interrupted(2_000, within: 2) { 4_000_000_000 + $0 / 2 } != [])
        #expect(Self.interrupted(2_000) { $0 / 8 } != [])
    }

    @Test func `waits that the run ends are not left out`() {
        // Phones lose their streams at one time, and the run ends when half of the longest wait is over: for
        // every second phone too early. Without these all that is known would be too short.
        func fleet(running: Bool) -> [Invariant] {
            Self.broken(
                History {
                    let phones = (0..<120 as Range<UInt32>).filter { running || $0 % 2 == 0 }
                    for phone in phones {
                        $0.device = DeviceNumber(phone)
                        $0.launch()
                    }
                    for phone in phones {
                        $0.device = DeviceNumber(phone)
                        Self.lose(&$0, attempt: 1)
                        $0.pass(.zero - .milliseconds(1))
                    }
                    for phone in phones where phone % 2 == 0 {
                        $0.device = DeviceNumber(phone)
                        $0.pass(.milliseconds(3))
                        $0.send(.stream, attempt: 2, job: $0.job)
                    }
                })
        }
        #expect(fleet(running: true) == [])
        #expect(fleet(running: false) == [.retryBudget])
    }

    @Test func `logarithms are right`() {
        func isNear(_ units: Int128, _ value: Double) -> Bool {
            abs(Double(units) / 4_294_967_296 - value) < 1e-7
        }
        for (value, logarithm) in [
            (1, 0.0), (2, 0.693_147_180_6), (8, 2.079_441_541_7), (10, 2.302_585_093_0),
            (1_999_999, 14.508_657_238_5), (Int.max, 43.668_272_375_3),
        ] {
            #expect(isNear(Int128(NaturalLogarithm.of(value)), logarithm), "\(value)")
        }
        // 0 of 39 where a half is expected: 39 ln 2. All of 13 within the first eighth: 13 ln 8.
        #expect(isNear(BackoffSamples.exponent(0, of: 39, eighths: 4), 27.032_740_0))
        #expect(isNear(BackoffSamples.exponent(13, of: 13, eighths: 1), 27.032_740_0))
        #expect(isNear(BackoffSamples.exponent(20, of: 80, eighths: 2), 0))
        #expect(isNear(BackoffSamples.exponent(40, of: 80, eighths: 2), 11.507_282_9))
    }

    // MARK: Servers that ask to wait

    /// So many phones are answered `status` and asked to wait 5 s, and come again after their backoff alone, or after the
    /// longer of the two.
    private static func postponed(_ phones: UInt32, status: Int, obeying: Bool) -> History {
        History {
            for phone in 0..<phones {
                $0.device = DeviceNumber(phone)
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                $0.backend(.answered(.upload, attempt: 1, status: status))
                $0.backend(
                    .problem(
                        .upload, attempt: 1, status: status, job: nil, retryable: true,
                        retryAfter: .seconds(5)))
                $0.phone(.replied(.upload, attempt: 1, status: status, took: .milliseconds(1)))
                if status == 429 { $0.phone(.rateLimited(.upload, retryAfter: .seconds(5))) }
                $0.phone(.queued(status == 429 ? .rateLimited : .serverError))
                let backoff = Self.uniform(Self.base, phone, 1)
                $0.pass(obeying ? max(backoff, .seconds(5)) : backoff)
                $0.send(.upload, attempt: 2, job: nil)
                $0.onDisk(.serverError)
            }
        }
    }

    @Test func `a fleet that ignores what servers ask for is found`() {
        #expect(Self.broken(Self.postponed(3, status: 503, obeying: false)) == [.retryBudget])
        #expect(Self.broken(Self.postponed(40, status: 503, obeying: true)) == [])
        #expect(Self.postponed(3, status: 429, obeying: false).broken() == [.limitHonoured])
        #expect(Self.postponed(40, status: 429, obeying: true).broken() == [])
    }

    // MARK: Jobs in vain

    private static func accept(_ history: inout History, attempt: Int) {
        history.send(.upload, attempt: UInt32(attempt), job: nil)
        history.backend(.accepted(job: history.job, books: 3))
        history.phone(.replied(.upload, attempt: UInt32(attempt), status: 202, took: .zero))
        history.phone(.uploadAccepted(job: history.job, took: .zero, service: .zero))
    }

    /// Phones whose jobs all end with a retryable error event, each uploaded again 2 s later
    /// (Docs/apps.md section 4.11, Q12).
    private static func erring(
        _ phones: UInt32 = 1, times: Int, pause: Interval = .seconds(2),
        before last: (inout History) -> Void = { _ in }
    ) -> [Verdict] {
        Self.judge(
            History {
                for phone in 0..<phones {
                    $0.device = DeviceNumber(phone)
                    $0.launch()
                    $0.capture()
                    for time in 1...times + 1 {
                        $0.job = "job-\(phone)-\(time)"
                        Self.accept(&$0, attempt: time)
                        guard time <= times else { continue }
                        $0.send(.stream, attempt: UInt32(time), job: $0.job)
                        $0.phone(.replied(.stream, attempt: UInt32(time), status: 200, took: .zero))
                        let erred = $0.now
                        $0.phone(.terminalApplied(job: $0.job, kind: .error, inline: .absent))
                        $0.phone(.queued(.retryableError))
                        if time == times { last(&$0) }
                        $0.pass(erred + pause - $0.now)
                    }
                }
            })
    }

    @Test func `an error event leads to one more upload, and no sooner than after two seconds`() {
        #expect(Self.erring(times: 1) == [])
        #expect(
            Self.erring(times: 1, pause: .seconds(2) - .nanoseconds(1)).map(\.invariant) == [.retryBudget])
        #expect(Self.erring(times: 2).map(\.invariant) == [.retryBudget])
    }

    @Test func `a fleet that never stops trying after error events is found`() {
        let verdicts = Self.erring(20, times: 9)
        #expect(verdicts.map(\.invariant) == [.retryBudget])
        // Each phone with its third upload, and with each one after it.
        #expect(verdicts.first?.violations == 20 * 8)
    }

    @Test
    func `after a second error event a path that returns, or somebody who opens the app, lets a scan go`() {
        let releases: [[PhoneObservation]] = [
            [.pathLost, .pathReturned], [.pathChanged], [.suspended, .resumed],
            [.killed, .launched(restored: 1)],
        ]
        for release in releases {
            let verdicts = Self.erring(times: 2, pause: .seconds(3)) { history in
                for payload in release { history.phone(payload) }
            }
            #expect(verdicts == [], "\(release)")
        }
        let wrong = Self.erring(times: 2, pause: .seconds(3)) {
            $0.phone(.storageFilled)
            $0.phone(.storageFreed)
        }
        #expect(wrong.map(\.invariant) == [.retryBudget])
    }

    /// Jobs whose streams are turned away, so often in a row.
    private static func turnedAway(
        times: Int, status: Int, first: (inout History) -> Void = { _ in }
    ) -> [Invariant] {
        Self.broken(
            History {
                $0.launch()
                $0.capture()
                for time in 1...times + 1 {
                    $0.job = "job-\(time)"
                    Self.accept(&$0, attempt: time)
                    guard time <= times else { continue }
                    $0.send(.stream, attempt: UInt32(time), job: $0.job)
                    $0.phone(.replied(.stream, attempt: UInt32(time), status: status, took: .zero))
                    if time == 1 { first(&$0) }
                    $0.phone(.queued(.tokenExpired))
                }
            })
    }

    @Test(arguments: [401, 404, 410])
    func `a job that is turned away leads to three more uploads, then the app has to be opened`(status: Int) {
        #expect(Self.turnedAway(times: 3, status: status) == [])
        #expect(Self.turnedAway(times: 4, status: status) == [.retryBudget])
        // The app leaves the screen before it has read the answer: this one does not count.
        let away = Self.turnedAway(times: 4, status: status) {
            $0.phone(.suspended)
            $0.phone(.queued(.suspended))
            $0.phone(.resumed)
        }
        #expect(away == [])
    }

    @Test func `a path lets no scan go whose jobs were turned away`() {
        func history(_ release: [PhoneObservation]) -> [Invariant] {
            Self.broken(
                History {
                    $0.launch()
                    $0.capture()
                    for time in 1...4 {
                        $0.job = "job-\(time)"
                        Self.accept(&$0, attempt: time)
                        $0.send(.stream, attempt: UInt32(time), job: $0.job)
                        $0.phone(.replied(.stream, attempt: UInt32(time), status: 401, took: .zero))
                        $0.phone(.queued(.tokenExpired))
                    }
                    for payload in release { $0.phone(payload) }
                    Self.accept(&$0, attempt: 5)
                })
        }
        #expect(history([.pathLost, .pathReturned]) == [.retryBudget])
        #expect(history([.suspended, .resumed]) == [])
    }

    @Test func `a phone that is given fewer slots waits for those`() {
        func upload(slots: Int) -> [Verdict] {
            let history = History {
                $0.launch()
                $0.capture()
                $0.phone(.slotTaken)
                $0.send(.upload, job: nil)
                $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(1)))
                $0.phone(.queued(.transport))
                $0.phone(.slotGiven)
                $0.phone(.slotTaken)
                $0.pass(.seconds(20))
                $0.send(.upload, attempt: 2, job: nil)
            }
            return history.simulated(
                idleTimeout: .seconds(75), isSettled: false, rules: { $0.streamsMax = [slots] })
        }
        #expect(upload(slots: 1) == [])
        #expect(upload(slots: 2).map(\.invariant) == [.retryBudget])
    }

    // MARK: Herds

    /// So many phones fail at one time and come again after their waits.
    private static func returns(_ phones: UInt32, wait: (UInt32) -> Interval) -> [Invariant] {
        var watch = RetryStormDetector()
        let failed = Instant.zero + .seconds(60)
        var herds: [RetryStormDetector.Herd?] = []
        for _ in 0..<phones { herds.append(watch.began(ceiling: Self.base, at: failed)) }
        for moment in (0..<phones).map({ failed + wait($0) }).sorted() {
            herds.append(watch.ended(at: moment))
        }
        herds.append(watch.end())
        return herds.compactMap(\.self).isEmpty ? [] : [.herdBounded]
    }

    @Test(arguments: [20, 200, 2_000] as [UInt32])
    func `phones that failed together come back spread by their jitter`(phones: UInt32) {
        #expect(Self.returns(phones) { Self.uniform(Self.base, $0, 1) } == [])
        #expect(Self.returns(phones) { _ in .milliseconds(300) } == [.herdBounded])
        #expect(Self.returns(phones) { _ in .zero } == [.herdBounded])
    }

    /// The same by three shards, which are judged together.
    private static func returns(ofShards phones: UInt32, wait: (UInt32) -> Interval) -> [Invariant] {
        let failed = Instant.zero + .seconds(60)
        var evidence = FleetEvidence()
        for shard in 0..<3 as Range<UInt32> {
            var watch = RetryStormDetector()
            watch.keepRecord()
            let own = (0..<phones).filter { $0 % 3 == shard }
            for _ in own { #expect(watch.began(ceiling: Self.base, at: failed) == nil) }
            for phone in own.sorted(by: { wait($0) < wait($1) }) {
                #expect(watch.ended(at: failed + wait(phone), by: DeviceNumber(phone)) == nil)
            }
            var part = FleetEvidence()
            if let record = watch.record { part.drawn.retries = record }
            evidence.add(part)
        }
        let settings = SimulationInvariantSettings(
            idleTimeout: .seconds(75), isSettled: false, herdTime: .milliseconds(500))
        return evidence.verdicts(settings, ledger: .embedded, endedAt: failed).fleet
            .filter { $0.violations > 0 }.map(\.invariant)
    }

    @Test(arguments: [20, 200, 2_000] as [UInt32])
    func `shards are judged together as one fleet`(phones: UInt32) {
        #expect(Self.returns(ofShards: phones) { Self.uniform(Self.base, $0, 1) } == [])
        #expect(Self.returns(ofShards: phones) { _ in .milliseconds(300) } == [.herdBounded])
        #expect(Self.returns(ofShards: phones) { _ in .zero } == [.herdBounded])
    }

    @Test func `a few that come back together are no herd`() {
        #expect(Self.returns(10) { _ in .milliseconds(300) } == [])
    }
}
