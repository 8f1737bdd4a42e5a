import Histories
import Observations
import SimBase
import Talaria

@testable import Ledger

// Those that only the virtual world can judge.

extension History {
    fileprivate mutating func answer(_ operation: Talaria.Operation, _ status: Int = 200) {
        self.phone(.replied(operation, attempt: 1, status: status, took: .milliseconds(1)))
    }

    /// Up to the books, every request with its answer.
    fileprivate mutating func journey() {
        self.launch()
        self.capture()
        self.upload()
        self.answer(.upload, 202)
        self.open()
        self.answer(.stream)
        self.terminal(0)
        self.addBooks()
        self.complete()
    }

    /// Two captures, the second of which is uploaded.
    fileprivate mutating func youngerFirst(_ between: (inout History) -> Void = { _ in }) {
        self.launch()
        for scan in 1...2 {
            self.scan = ScanNumber(UInt32(scan))
            self.capture()
        }
        self.scan = ScanNumber(1)
        between(&self)
        self.scan = ScanNumber(2)
        self.send(.upload, job: nil)
        self.pass(.milliseconds(5))
        self.scan = .none
        self.phone(.pathChanged)
    }

    fileprivate enum JobEnd { case error, gone }

    /// The scan's upload is accepted; its job ends, and the scan goes back to the queue.
    fileprivate mutating func comeBack(_ end: JobEnd, _ cause: WaitingCause) {
        self.phone(.uploadAccepted(job: self.job, took: .zero, service: .zero))
        switch end {
        case .error: self.phone(.terminalApplied(job: self.job, kind: .error, inline: .absent))
        case .gone: self.phone(.jobAbandoned(job: self.job, cause: .waiting(.jobGone)))
        }
        self.phone(.queued(cause))
    }

    /// A DELETE and its outcome; then another.
    fileprivate mutating func cleanAgain(_ status: Int?, _ between: (inout History) -> Void = { _ in }) {
        self.journey()
        self.backend(.expired(job: self.job))
        self.send(.cleanup, job: self.job)
        if let status {
            self.answer(.cleanup, status)
            if status == 401 {
                self.phone(.jobAbandoned(job: self.job, cause: .waiting(.tokenExpired)))
            } else if status < 429 {
                self.phone(.cleanupAnswered(job: self.job, status: status, took: .milliseconds(2)))
            }
        }
        between(&self)
        self.send(.cleanup, attempt: 2, job: self.job)
        self.phone(.replied(.cleanup, attempt: 2, status: 404, took: .milliseconds(1)))
    }

    /// A 429 asks for a wait in milliseconds, and after so long the scan is uploaded again.
    fileprivate mutating func limited(
        _ told: Interval = .milliseconds(3_200), wait: Interval, by fault: Int? = nil,
        _ between: (inout History) -> Void = { _ in }
    ) {
        self.launch()
        self.capture()
        self.phone(.slotTaken)
        self.send(.upload, job: nil)
        self.uploadProblem(429, retryable: true, retryAfter: told)
        if let fault { self.fault(.fired(fault: fault, .upload, attempt: 1)) }
        let read = self.now
        self.phone(.rateLimited(.upload, retryAfter: .seconds(4)))
        self.phone(.queued(.rateLimited))
        self.phone(.slotGiven)
        between(&self)
        self.pass(read + wait - self.now)
        self.phone(.slotTaken)
        self.pass(.milliseconds(-1))
        self.send(.upload, attempt: 2, job: nil)
    }

    /// A 401, what happens then, a kill, and a next process that goes on with what the storage holds.
    fileprivate mutating func askedAgainAfterKill(
        in time: Interval, _ between: (inout History) -> Void = { _ in }
    ) {
        self.launch()
        self.capture()
        self.upload()
        self.answer(.upload, 202)
        self.open()
        self.answer(.stream, 401)
        self.backend(.expired(job: self.job))
        between(&self)
        self.pass(time)
        self.kill(keeping: self.job)
        self.launch(restored: 1)
        self.send(.stream, attempt: 2, job: self.job)
    }

    // For scan.settles: what the server answers, without what the phone makes of it.

    fileprivate mutating func failTwice() {
        for _ in 0..<2 { self.phone(.terminalApplied(job: self.job, kind: .error, inline: .absent)) }
    }

    fileprivate mutating func answers(_ status: Int, times: UInt32) {
        for attempt in 1...times {
            self.send(.stream, attempt: attempt, job: self.job)
            self.phone(.replied(.stream, attempt: attempt, status: status, took: .milliseconds(1)))
        }
    }

    fileprivate mutating func badResults(_ count: UInt32) {
        for attempt in 1...count {
            self.fault(.fired(fault: Fault.answers, .results, attempt: attempt))
            self.phone(.badAnswer(.results, attempt: attempt, .undecodable))
        }
    }

    fileprivate mutating func statuses(_ count: UInt32) {
        for attempt in 1...count { self.ask(attempt, status: 200) }
    }

    fileprivate mutating func statuses(failed count: UInt32) {
        for attempt in 1...count { self.ask(attempt, status: 503) }
    }

    private mutating func ask(_ attempt: UInt32, status: Int) {
        self.send(.status, attempt: attempt, job: self.job)
        self.phone(.replied(.status, attempt: attempt, status: status, took: .milliseconds(1)))
        self.pass(.seconds(30))
    }

    /// A stream that is lost, and asked for again when the wait is over.
    fileprivate mutating func loseStream(
        before: (inout History) -> Void = { _ in }, after index: String? = nil, wait: Interval,
        _ between: (inout History) -> Void = { _ in }
    ) {
        self.launch()
        self.capture()
        self.upload()
        self.answer(.upload, 202)
        self.backend(.expired(job: self.job))
        self.send(.stream, job: self.job)
        self.answer(.stream)
        before(&self)
        let lost = self.now
        self.phone(.streamLost(job: self.job, attempt: 1, .reset, silence: nil))
        between(&self)
        self.pass(lost + wait - self.now)
        self.send(.stream, attempt: 2, job: self.job, after: index)
    }

    /// An upload, and another one while the first has no outcome.
    fileprivate mutating func uploadTwice(_ between: (inout History) -> Void) {
        self.launch()
        self.capture()
        self.send(.upload, job: nil)
        between(&self)
        self.send(.upload, attempt: 2, job: nil)
    }

    fileprivate mutating func upload(times: Int) {
        self.launch()
        self.capture()
        for attempt in 1...times {
            self.send(.upload, attempt: UInt32(attempt), job: nil)
            self.phone(
                .requestFailed(
                    .upload, attempt: UInt32(attempt), .connectRefused, took: .milliseconds(1)))
        }
    }
}

extension Example {
    fileprivate static func journey(
        _ name: String, _ rest: @escaping @Sendable (inout History) -> Void
    ) -> Example {
        Example(name) {
            $0.journey()
            rest(&$0)
        }
    }

    /// So many jobs of a scan as it has uploads, or more.
    fileprivate static func twoJobs(_ name: String, uploads: Int) -> Example {
        Example(name) {
            $0.upload(times: uploads)
            for job in ["one", "two"] {
                $0.backend(.accepted(job: job, books: 3))
                $0.backend(.cleaned(job: job, effective: true))
            }
        }
    }

    /// Six scans, a number of which are uploaded at once when the phone is let go.
    fileprivate static func release(
        _ name: String, _ count: Int, after cause: PhoneObservation, wait: Interval
    ) -> Example {
        Example(name) {
            $0.launch()
            for scan in 1...8 {
                $0.scan = ScanNumber(UInt32(scan))
                $0.capture()
            }
            $0.pass(.seconds(2))
            $0.scan = ScanNumber(1)
            $0.phone(cause)
            $0.pass(wait)
            for scan in 1...count {
                $0.scan = ScanNumber(UInt32(scan))
                $0.send(.upload, job: nil)
            }
        }
    }
}

extension Example {
    /// A stream that was opened, and on which nothing has come for so long.
    fileprivate static func silent(
        _ name: String, for time: Interval,
        _ before: @escaping @Sendable (inout History) -> Void = { _ in }
    ) -> Example {
        Example(name, silence: Silence(length: time, isGivenUp: false)) {
            $0.launch()
            $0.capture()
            $0.open()
            $0.answer(.stream)
            before(&$0)
            $0.pass(time)
            $0.phone(.pathChanged)
        }
    }

    /// A 503 to an upload asks for five seconds; the phone comes again after the wait.
    fileprivate static func postponed(_ name: String, wait: Interval) -> Example {
        Example(name) {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.uploadProblem(503, retryable: true, retryAfter: .seconds(5))
            let queued = $0.now
            $0.phone(.queued(.serverError))
            $0.pass(queued + wait - $0.now)
            $0.send(.upload, attempt: 2, job: nil)
        }
    }
}

extension History {
    fileprivate mutating func end(isApplied: Bool) {
        if isApplied { self.phone(.terminalApplied(job: self.job, kind: .completed, inline: .books)) }
    }
}

extension Example {
    /// A stream that its phone closes 300 ms after its last byte, with the last of what is seen.
    fileprivate static func closed(
        _ name: String, bytes: Int = 0, before: @escaping @Sendable (inout History) -> Void = { _ in },
        last script: @escaping @Sendable (inout History) -> Void = { $0.phone(.ping(id: nil, gap: nil)) }
    ) -> Example {
        let time = Interval.milliseconds(300)
        return Example(name, silence: Silence(length: time, isGivenUp: true, bytes: bytes)) {
            $0.launch()
            $0.capture()
            $0.open()
            $0.answer(.stream)
            before(&$0)
            $0.pass(time)
            script(&$0)
        }
    }

    /// Closed for an event that is too long.
    fileprivate static func overlong(_ name: String, bytes: Int) -> Example {
        .closed(
            name, bytes: bytes,
            before: { $0.fault(.fired(fault: Fault.garbles, .stream, attempt: 1)) },
            last: { $0.phone(.badAnswer(.stream, attempt: 1, .overlongStream)) })
    }
}

extension Excuse {
    /// What takes a stream with it does so at that time.
    fileprivate static func uprooting(
        _ accident: String, _ leaves: PhoneObservation, _ returns: PhoneObservation
    ) -> Excuse {
        Excuse(
            name: "\(accident), for a stream that is closed",
            inside: .closed("at that moment", last: { $0.phone(leaves) }),
            outside: .closed(
                "a millisecond after it was over",
                last: {
                    $0.phone(leaves)
                    $0.phone(returns)
                    $0.phone(.ping(id: nil, gap: nil))
                }))
    }

    /// A phone that is away cannot notice a silence: it has the whole time when it is back.
    fileprivate static func absence(
        _ accident: String, _ leaves: PhoneObservation, _ returns: PhoneObservation
    ) -> Excuse {
        func back(_ name: String, for time: Interval) -> Example {
            Example(
                name, silence: Example.Silence(length: .seconds(60) + time, isGivenUp: false)
            ) {
                $0.launch()
                $0.capture()
                $0.open()
                $0.answer(.stream)
                $0.phone(leaves)
                $0.pass(.seconds(60))
                $0.phone(returns)
                $0.pass(time)
                $0.phone(.pathChanged)
            }
        }
        return Excuse(
            name: "\(accident), and 2 s after it", inside: back("for 1.9 s since", for: .milliseconds(1_900)),
            outside: back("for 2.1 s since", for: .milliseconds(2_100)))
    }

    /// A phone that is away cannot try again.
    fileprivate static func held(
        _ accident: String, _ leaves: PhoneObservation, _ returns: PhoneObservation
    ) -> Excuse {
        Excuse(
            name: "\(accident), within the wait",
            inside: Example("after the loss") {
                $0.loseStream(wait: .seconds(61)) {
                    $0.phone(leaves)
                    $0.pass(.seconds(60))
                    $0.phone(returns)
                }
            },
            outside: Example("before the loss") {
                $0.loseStream(
                    before: {
                        $0.phone(leaves)
                        $0.pass(.seconds(60))
                        $0.phone(returns)
                        $0.send(.stream, job: $0.job)
                        $0.answer(.stream)
                    }, wait: .seconds(61))
            })
    }
}

extension Example {
    /// A scan with all its requests, each as it should be but for what is changed.
    fileprivate static func inForm(
        _ name: String, _ change: @escaping @Sendable (inout RequestForm) -> Void
    ) -> Example {
        Example(name, form: FormChange(change: change)) {
            $0.journey()
            $0.clean()
        }
    }

    /// The phone's second scan under another identity than its first.
    fileprivate static func otherIdentity(_ name: String, isReinstalled: Bool) -> Example {
        let other = "1B4E28BA-2FA1-41D2-883F-0016D3CCA499"
        return Example(
            name,
            form: FormChange { form in
                if form.scan == ScanNumber(2) { form.headers[0] = HeaderField(HeaderName.deviceID, other) }
            }
        ) {
            $0.journey()
            $0.clean()
            if isReinstalled {
                $0.scan = .none
                $0.phone(.reinstalled(discarded: 0))
                $0.launch()
            }
            $0.scan = ScanNumber(2)
            $0.job = "job-2"
            $0.capture()
            $0.upload()
            $0.answer(.upload, 202)
            $0.backend(.expired(job: $0.job))
        }
    }

    /// A stream that is asked for again, and whose request names no position.
    fileprivate static func resuming(_ name: String, after index: String?) -> Example {
        Example(
            name, form: FormChange { form in form.headers.removeAll { $0.name == HeaderName.lastEventID } }
        ) {
            $0.loseStream(after: index, wait: .milliseconds(100))
        }
    }
}

extension Invariant {
    /// Nil for those that the ledger judges.
    var rowOfTheSimulation: InvariantRow? {
        switch self {
        case .scanCustody, .scanRefusedForCause, .bookNeverLost, .bookNeverDoubleAdded, .bookFaithful,
            .streamIDMonotone, .streamNoGap, .streamTerminalOnce, .jobCleaned, .jobNotCleanedEarly,
            .limitHonoured, .slotsBounded, .serverAgrees, .rowsConserved, .lookupBilledOnce, .cancelFinal,
            .bookAnswered, .bookShown, .textKeptForCause, .reviewBookAccounted, .reviewEditKept,
            .reviewNoDuplicate,
            .targetJobUnique,
            .targetJobAddressed, .targetResume, .targetIDs, .targetTerminal,
            .targetResultsAgree, .targetAuth, .targetWait, .targetLimit, .targetErrorForm, .targetCleanup,
            .targetStatusAgrees, .targetStreamsAgree, .targetJobKept, .targetTimes, .targetText,
            .targetSocket:
            nil
        case .scanOrder: .scanOrder
        case .jobCleanedOnce: .jobCleanedOnce
        case .jobEnded: .jobEnded
        case .jobOrphansBounded: .jobOrphansBounded
        case .jobSilentAfterCleanup: .jobSilentAfterCleanup
        case .streamDeadDetected: .streamDeadDetected
        case .streamParseRobust: .streamParseRobust
        case .authNoStaleUse: .authNoStaleUse
        case .authOneExchange: .authOneExchange
        case .retryBudget: .retryBudget
        case .deviceNotStuck: .deviceNotStuck
        case .scanSettles: .scanSettles
        case .timersClean: .timersClean
        case .timeSane: .timeSane
        case .requestOneFate: .requestOneFate
        case .linkConserves: .linkConserves
        case .memoryBounded: .memoryBounded
        case .authNoLeak: .authNoLeak
        case .herdBounded: .herdBounded
        case .othersUnharmed: .othersUnharmed
        case .requestWellFormed: .requestWellFormed
        }
    }
}

extension InvariantRow {
    private static let phone = DeviceNumber(0)
    /// With quiet phones and with such as have no path, after all trouble.
    private static let aftermath = ShippedScenario(
        name: "app-lifecycle", isSettled: true, leavesPhonesBroken: true)

    // MARK: Scans and jobs

    fileprivate static let scanOrder = InvariantRow(
        broken: Example("the younger of two is uploaded first") { $0.youngerFirst() },
        kept: Example("the older") {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.answer(.upload, 202)
            $0.scan = ScanNumber(2)
            $0.capture()
            $0.send(.upload, job: nil)
        },
        excuses: [
            Excuse(
                name: "an older scan that is over",
                inside: Example("the older was refused") {
                    $0.youngerFirst { $0.phone(.refused(code: "PHOTO_UNUSABLE", cause: .photo)) }
                },
                outside: Example("it waits") { $0.youngerFirst { $0.phone(.queued(.captured)) } }),
            Excuse(
                name: "a backoff, up to its ceiling",
                inside: Example("the older failed 499 ms ago") {
                    $0.youngerFirst {
                        $0.phone(.queued(.serverError))
                        $0.pass(.milliseconds(498))
                    }
                },
                outside: Example("500 ms ago") {
                    $0.youngerFirst {
                        $0.phone(.queued(.serverError))
                        $0.pass(.milliseconds(499))
                    }
                }),
            Excuse(
                name: "the pause after an error event: 2 s",
                inside: Example("the older came back 1.9 s ago") {
                    $0.youngerFirst {
                        $0.comeBack(.error, .retryableError)
                        $0.pass(.milliseconds(1_900))
                    }
                },
                outside: Example("2 s ago") {
                    $0.youngerFirst {
                        $0.comeBack(.error, .retryableError)
                        $0.pass(.seconds(2))
                    }
                }),
            Excuse(
                name: "a job that is kept",
                inside: Example("the older waits for its stream") {
                    $0.youngerFirst {
                        $0.phone(.uploadAccepted(job: $0.job, took: .zero, service: .zero))
                        $0.phone(.queued(.unexpectedStatus))
                        $0.pass(.seconds(30))
                    }
                },
                outside: Example("its job is gone") {
                    $0.youngerFirst { $0.comeBack(.gone, .jobGone) }
                }),
            Excuse(
                name: "background, until the app is opened",
                inside: Example("the older came back while it was away") {
                    $0.youngerFirst {
                        $0.phone(.suspended)
                        $0.comeBack(.gone, .suspended)
                    }
                },
                outside: Example("the app was opened since") {
                    $0.youngerFirst {
                        $0.phone(.suspended)
                        $0.comeBack(.gone, .suspended)
                        $0.phone(.resumed)
                    }
                }),
            Excuse(
                name: "kill: what waits is told anew",
                inside: Example("not told yet") {
                    $0.youngerFirst {
                        $0.phone(.killed)
                        $0.launch(restored: 2)
                    }
                },
                outside: Example("told") {
                    $0.youngerFirst {
                        $0.phone(.killed)
                        $0.launch(restored: 2)
                        $0.phone(.queued(.interrupted))
                    }
                }),
        ],
        scenario: ShippedScenario(name: "rate-limited"))

    fileprivate static let jobCleanedOnce = InvariantRow(
        broken: .journey("two DELETEs of a job have an effect") {
            $0.clean()
            $0.backend(.cleaned(job: $0.job, effective: true))
        },
        kept: .journey("the second has none") {
            $0.clean()
            $0.backend(.cleaned(job: $0.job, effective: false))
        },
        excuses: [
            Excuse(
                name: "an answer that asks for another try",
                inside: Example("a second DELETE after a 503") {
                    $0.cleanAgain(503) { $0.pass(.milliseconds(400)) }
                },
                outside: Example("after a 404") { $0.cleanAgain(404) { $0.pass(.milliseconds(400)) } }),
            Excuse(
                name: "stretch without a path, for what is under way",
                inside: Example("the path is lost while the first is under way") {
                    $0.cleanAgain(nil) {
                        $0.phone(.pathLost)
                        $0.phone(.pathReturned)
                    }
                },
                outside: Example("the first is under way") { $0.cleanAgain(nil) }),
            Excuse(
                name: "background: 5 s, then what is under way is gone",
                inside: Example("the app is opened again after 5 s") {
                    $0.cleanAgain(nil) {
                        $0.phone(.suspended)
                        $0.pass(.seconds(5))
                        $0.phone(.resumed)
                    }
                },
                outside: Example("the app leaves the screen, and the first is under way") {
                    $0.cleanAgain(nil) {
                        $0.phone(.suspended)
                        $0.pass(.milliseconds(4_900))
                    }
                }),
            Excuse(
                name: "kill within 1 s, before the answer was written down",
                inside: Example("killed after 1 s") {
                    $0.cleanAgain(204) {
                        $0.pass(.milliseconds(990))
                        $0.kill(keeping: $0.job, decided: true)
                        $0.launch()
                    }
                },
                outside: Example("after 1.1 s: the settled scan has come back") {
                    $0.cleanAgain(204) {
                        $0.pass(.milliseconds(1_100))
                        $0.kill(keeping: $0.job, decided: true)
                        $0.launch()
                    }
                }),
            Excuse(
                name: "storage-full, until 1 s after it",
                inside: Example("killed while there was no room") {
                    $0.cleanAgain(401) {
                        $0.phone(.storageFilled)
                        $0.pass(.seconds(9))
                        $0.kill(keeping: $0.job, decided: true)
                        $0.launch()
                    }
                },
                outside: Example("1.1 s after there was room again") {
                    $0.cleanAgain(401) {
                        $0.phone(.storageFilled)
                        $0.pass(.seconds(9))
                        $0.phone(.storageFreed)
                        $0.pass(.milliseconds(1_100))
                        $0.kill(keeping: $0.job, decided: true)
                        $0.launch()
                    }
                }),
        ],
        scenario: ShippedScenario(name: "network-drops"))

    fileprivate static let jobEnded = InvariantRow(
        broken: .journey("a job stays for ever") { _ in },
        kept: .journey("it is deleted") { $0.clean() },
        excuses: [
            Excuse(
                name: "its expiry",
                inside: .journey("it expires") { $0.backend(.expired(job: $0.job)) },
                outside: .journey("another does") { $0.backend(.expired(job: "job-0")) }),
            Excuse(
                name: "fired fault that takes the job away",
                inside: .journey("it vanishes") { $0.backend(.vanished(job: $0.job)) },
                outside: .journey("another does") { $0.backend(.vanished(job: "job-0")) }),
        ],
        scenario: ShippedScenario(name: "app-lifecycle", isSettled: true, leavesPhonesBroken: true))

    fileprivate static let jobOrphansBounded = InvariantRow(
        broken: .twoJobs("two jobs from one upload", uploads: 1),
        kept: .twoJobs("two jobs from two uploads", uploads: 2),
        excuses: [],
        scenario: ShippedScenario(name: "network-drops"))

    fileprivate static let jobSilentAfterCleanup = InvariantRow(
        broken: .journey("its stream is asked for after the DELETE") {
            $0.clean()
            $0.send(.stream, attempt: 2, job: $0.job)
        },
        kept: .journey("another job's is") {
            $0.clean()
            $0.send(.stream, attempt: 2, job: "job-2")
        },
        excuses: [],
        scenario: ShippedScenario(name: "network-drops"))

    // MARK: Streams

    fileprivate static let streamDeadDetected = InvariantRow(
        broken: .silent("nothing came for 2.2 s, and the phone kept it", for: .milliseconds(2_200)),
        kept: .silent("for 1.8 s", for: .milliseconds(1_800)),
        excuses: [
            .absence("kill", .killed, .launched(restored: 1)),
            .absence("background", .suspended, .resumed),
            .absence("stretch without a path", .pathLost, .pathReturned),
            Excuse(
                name: "an end: what comes after it is nothing",
                inside: .silent("after the terminal event", for: .seconds(9)) {
                    $0.phone(.terminalApplied(job: $0.job, kind: .completed, inline: .books))
                },
                outside: .silent("without one", for: .seconds(9))),
            Excuse(
                name: "a terminal event, for a stream that is closed",
                inside: .closed("after it", before: { $0.end(isApplied: true) }),
                outside: .closed("after one that could not be read", before: { $0.end(isApplied: false) })),
            .uprooting("stretch without a path", .pathLost, .pathReturned),
            .uprooting("another path", .pathChanged, .ping(id: nil, gap: nil)),
            .uprooting("background", .suspended, .resumed),
            Excuse(
                name: "DELETE, for a stream that is closed",
                inside: .closed("with its DELETE", last: { $0.send(.cleanup, job: $0.job) }),
                outside: .closed(
                    "with the DELETE of another scan",
                    last: {
                        $0.scan = ScanNumber(2)
                        $0.send(.cleanup, job: "job-2")
                        $0.scan = ScanNumber(1)
                    })),
            Excuse(
                name: "an event beyond 128 KiB, for a stream that is closed",
                inside: .overlong("when so much has come", bytes: 131_072),
                outside: .overlong("a byte before", bytes: 131_071)),
        ],
        scenario: ShippedScenario(name: "half-open"))

    fileprivate static let streamParseRobust = InvariantRow(
        broken: .journey("an event cannot be read") {
            $0.phone(.eventIgnored(job: $0.job, id: nil, name: "progress", malformed: true))
            $0.clean()
        },
        kept: .journey("one of a kind that is not known is ignored") {
            $0.phone(.eventIgnored(job: $0.job, id: nil, name: "novelty", malformed: false))
            $0.clean()
        },
        excuses: [
            Excuse(
                name: "fired fault that writes on the scan's stream what cannot be read",
                inside: .journey("it has fired") {
                    $0.fault(.fired(fault: Fault.garbles, .stream, attempt: 1))
                    $0.phone(.eventIgnored(job: $0.job, id: nil, name: "progress", malformed: true))
                    $0.clean()
                },
                outside: .journey("one that cuts has") {
                    $0.fault(.fired(fault: Fault.cuts, .stream, attempt: 1))
                    $0.phone(.eventIgnored(job: $0.job, id: nil, name: "progress", malformed: true))
                    $0.clean()
                }),
            Excuse(
                name: "fired fault on an answer that cannot be used",
                inside: .journey("it fired on that answer") {
                    $0.fault(.fired(fault: Fault.cuts, .results, attempt: 1))
                    $0.phone(.badAnswer(.results, attempt: 1, .undecodable))
                    $0.clean()
                },
                outside: .journey("it fired on the answer before") {
                    $0.fault(.fired(fault: Fault.cuts, .results, attempt: 1))
                    $0.phone(.badAnswer(.results, attempt: 2, .undecodable))
                    $0.clean()
                }),
        ],
        scenario: ShippedScenario(name: "network-drops"))

    // MARK: Requests

    fileprivate static let authNoStaleUse = InvariantRow(
        broken: Example("the stream is asked for again after a 401") {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.answer(.upload, 202)
            $0.open()
            $0.answer(.stream, 401)
            $0.backend(.expired(job: $0.job))
            $0.send(.stream, attempt: 2, job: $0.job)
        },
        kept: Example("that of another job is") {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.answer(.upload, 202)
            $0.open()
            $0.answer(.stream, 401)
            $0.backend(.expired(job: $0.job))
            $0.send(.stream, attempt: 2, job: "job-2")
        },
        excuses: [
            Excuse(
                name: "kill within 1 s, before the 401 was written down",
                inside: Example("killed after 1 s") { $0.askedAgainAfterKill(in: .milliseconds(990)) },
                outside: Example("after 1.1 s") { $0.askedAgainAfterKill(in: .milliseconds(1_100)) }),
            Excuse(
                name: "storage-full, until 1 s after it",
                inside: Example("killed while there was no room") {
                    $0.askedAgainAfterKill(in: .seconds(9)) { $0.phone(.storageFilled) }
                },
                outside: Example("1.1 s after there was room again") {
                    $0.askedAgainAfterKill(in: .milliseconds(1_100)) {
                        $0.phone(.storageFilled)
                        $0.pass(.seconds(9))
                        $0.phone(.storageFreed)
                    }
                }),
        ],
        scenario: ShippedScenario(name: "token-expiry"))

    fileprivate static let authOneExchange = InvariantRow(
        broken: Example("a token that is good for 31 minutes") { $0.exchangeToken(after: .minutes(89)) },
        kept: Example("one that is good for 30") { $0.exchangeToken(after: .minutes(90)) },
        excuses: [
            Excuse(
                name: "a token that the server has replaced is as old as the new one",
                inside: Example("90 minutes after an exchange") {
                    $0.exchangeToken(after: .minutes(90), isLast: false)
                    $0.exchangeToken(again: 2, after: .minutes(90))
                },
                outside: Example("89 minutes after it") {
                    $0.exchangeToken(after: .minutes(90), isLast: false)
                    $0.exchangeToken(again: 2, after: .minutes(89))
                }),
            Excuse(
                name: "a WebSocket",
                inside: Example("of a job that is followed by one") { $0.exchangeToken(after: .minutes(90)) },
                outside: Example("of a job that is followed by an event stream") {
                    $0.exchangeToken(by: .sse, after: .minutes(90))
                }),
        ],
        scenario: ShippedScenario(name: "websocket-tokens"))

    fileprivate static let retryBudget = InvariantRow(
        broken: Example("a lost stream is asked for after 502 ms") {
            $0.loseStream(wait: .milliseconds(502))
        },
        kept: Example("after 500 ms") { $0.loseStream(wait: .milliseconds(500)) },
        excuses: [
            .held("kill", .killed, .launched(restored: 1)),
            .held("background", .suspended, .resumed),
            .held("stretch without a path", .pathLost, .pathReturned),
            Excuse(
                name: "the wait that the server asked for",
                inside: .postponed("a 503 asks for 5 s", wait: .seconds(5)),
                outside: .postponed("a nanosecond less", wait: .seconds(5) - .nanoseconds(1))),
            Excuse(
                name: "the wait of a 429, to the millisecond",
                inside: Example("3.2 s in the body, and an upload after 3.2 s") {
                    $0.limited(wait: .milliseconds(3_200))
                },
                outside: Example("after 4 s, as the header has it") { $0.limited(wait: .seconds(4)) }),
            Excuse(
                name: "a fault that leaves the body of a 429 without its wait",
                inside: Example("an upload after 4 s, as the header has it") {
                    $0.limited(wait: .seconds(4), by: Fault.rounds)
                },
                outside: Example("after 4.02 s") {
                    $0.limited(wait: .milliseconds(4_020), by: Fault.rounds)
                }),
            Excuse(
                name: "no slot",
                inside: Example("the last slot is given back after 4 s") {
                    $0.limited(wait: .seconds(4)) {
                        $0.scan = ScanNumber(2)
                        for _ in 0..<5 { $0.phone(.slotTaken) }
                        $0.pass(.milliseconds(3_990))
                        $0.phone(.slotGiven)
                        $0.scan = ScanNumber(1)
                    }
                },
                outside: Example("a slot is free") {
                    $0.limited(wait: .seconds(4)) {
                        $0.scan = ScanNumber(2)
                        for _ in 0..<4 { $0.phone(.slotTaken) }
                        $0.scan = ScanNumber(1)
                    }
                }),
        ],
        scenario: ShippedScenario(name: "network-drops"))

    fileprivate static let requestOneFate = InvariantRow(
        broken: Example("an upload while another is under way") { $0.uploadTwice { _ in } },
        kept: Example("an upload after another has failed") {
            $0.uploadTwice {
                $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(1)))
            }
        },
        excuses: [
            Excuse(
                name: "stretch without a path, for what is under way",
                inside: Example("the path is lost between them") {
                    $0.uploadTwice {
                        $0.phone(.pathLost)
                        $0.phone(.pathReturned)
                    }
                },
                outside: Example("it was lost before") {
                    $0.launch()
                    $0.phone(.pathLost)
                    $0.phone(.pathReturned)
                    $0.uploadTwice { _ in }
                }),
            Excuse(
                name: "background, for what is under way",
                inside: Example("the app leaves the screen between them") {
                    $0.uploadTwice {
                        $0.phone(.suspended)
                        $0.phone(.resumed)
                    }
                },
                outside: Example("it had left it before") {
                    $0.launch()
                    $0.phone(.suspended)
                    $0.phone(.resumed)
                    $0.uploadTwice { _ in }
                }),
            Excuse(
                name: "kill, for what is under way",
                inside: Example("the app is killed between them") {
                    $0.uploadTwice {
                        $0.phone(.killed)
                        $0.launch(restored: 1)
                    }
                },
                outside: Example("it was killed before") {
                    $0.launch()
                    $0.phone(.killed)
                    $0.uploadTwice { _ in }
                }),
        ],
        scenario: ShippedScenario(name: "network-drops"))

    fileprivate static let authNoLeak = InvariantRow(
        broken: Example("a request with another job's token", finding: .strayToken(.stream)),
        kept: .journey("requests with their own") { $0.clean() },
        excuses: [],
        scenario: ShippedScenario(name: "network-drops"))

    fileprivate static let requestWellFormed = InvariantRow(
        broken: .inForm("a stream without Accept: text/event-stream") { form in
            if form.operation == .stream { form.headers.removeAll { $0.name == "Accept" } }
        },
        kept: .inForm("as the contract has it") { _ in },
        excuses: [
            Excuse(
                name: "reinstallation, for another device id",
                inside: .otherIdentity("after it", isReinstalled: true),
                outside: .otherIdentity("without one", isReinstalled: false)),
            Excuse(
                name: "no place to resume from, for a stream without Last-Event-ID",
                inside: .resuming("nothing was applied", after: nil),
                outside: .resuming("an event was", after: History.id(1))),
        ],
        scenario: ShippedScenario(name: "app-lifecycle"))

    fileprivate static let herdBounded = InvariantRow(
        broken: .release(
            "six uploads at the end of a limit", 6,
            after: .rateLimited(.upload, retryAfter: .seconds(3)), wait: .seconds(3)),
        kept: .release(
            "five", 5, after: .rateLimited(.upload, retryAfter: .seconds(3)), wait: .seconds(3)),
        excuses: [
            Excuse(
                name: "what is long ago",
                inside: .release(
                    "six uploads, 1.01 s after the path returned", 6, after: .pathReturned,
                    wait: .milliseconds(1_010)),
                outside: .release(
                    "0.9 s after it returned", 6, after: .pathReturned, wait: .milliseconds(900)))
        ],
        scenario: ShippedScenario(name: "train-tunnel"))

    // MARK: The world

    fileprivate static let timeSane = InvariantRow(
        broken: Example("something is seen 5 ms before what was seen before it") {
            $0.launch()
            $0.phone(.suspended)
            $0.pass(.milliseconds(-5))
            $0.phone(.resumed)
        },
        kept: Example("in order") {
            $0.launch()
            $0.phone(.suspended)
            $0.phone(.resumed)
        },
        excuses: [],
        scenario: ShippedScenario(name: "network-drops"))

    fileprivate static let linkConserves = InvariantRow(
        broken: Example(
            "20 bytes are nowhere",
            finding: .leak(.linkDown, LeakedBytes(sent: 90, delivered: 40, destroyed: 20, underway: 10))),
        kept: .journey("nothing is missing") { $0.clean() },
        excuses: [],
        scenario: ShippedScenario(name: "network-drops"))

    fileprivate static let memoryBounded = InvariantRow(
        broken: Example("a capture without room, and no word") {
            $0.launch()
            $0.phone(.storageFilled)
            $0.phone(.captured(scheduled: $0.now))
        },
        kept: Example("it is refused at once") {
            $0.launch()
            $0.phone(.storageFilled)
            $0.phone(.captured(scheduled: $0.now))
            $0.phone(.refused(code: "STORAGE_FULL", cause: .storage))
        },
        excuses: [
            Excuse(
                name: "room",
                inside: Example("freed before the capture") {
                    $0.launch()
                    $0.phone(.storageFilled)
                    $0.phone(.storageFreed)
                    $0.phone(.captured(scheduled: $0.now))
                },
                outside: Example("freed after it") {
                    $0.launch()
                    $0.phone(.storageFilled)
                    $0.phone(.captured(scheduled: $0.now))
                    $0.phone(.storageFreed)
                })
        ],
        scenario: ShippedScenario(name: "app-lifecycle"))

    fileprivate static let deviceNotStuck = InvariantRow(
        broken: Example(
            "a phone has something under way when all is over",
            remains: FinalWorldState(stuck: [phone], restless: [], broken: [])),
        kept: Example("none has"),
        excuses: [
            Excuse(
                name: "no path, for good",
                inside: Example(
                    "one that stays broken",
                    remains: FinalWorldState(stuck: [], restless: [], broken: [phone])),
                outside: Example(
                    "another one",
                    remains: FinalWorldState(stuck: [phone], restless: [], broken: [DeviceNumber(1)])))
        ],
        scenario: aftermath)

    fileprivate static let scanSettles = InvariantRow(
        broken: .unsettled("a scan waits that nothing was answered to"),
        kept: Example("none waits"),
        excuses: [
            Excuse(
                name: "two error events that allow a retry, until the path returns or the app is opened",
                inside: .unsettled("after the second") { $0.failTwice() },
                outside: .unsettled("the path returned after it") {
                    $0.failTwice()
                    $0.phone(.pathLost)
                    $0.phone(.pathReturned)
                }),
            Excuse(
                name: "four answers that the token has expired or the job is gone, until the app is opened",
                inside: .unsettled("after the fourth") { $0.answers(410, times: 4) },
                outside: .unsettled("after the third") { $0.answers(410, times: 3) }),
            Excuse(
                name: "three other 4xx to the stream of one job, until the app is opened",
                inside: .unsettled("after the third") { $0.answers(403, times: 3) },
                outside: .unsettled("of two jobs") {
                    $0.answers(403, times: 2)
                    $0.upload(attempt: 2)
                    $0.phone(.replied(.upload, attempt: 2, status: 202, took: .milliseconds(1)))
                    $0.answers(403, times: 1)
                }),
            Excuse(
                name: "three results of one job that cannot be used, until the app is opened",
                inside: .unsettled("after the third") { $0.badResults(3) },
                outside: .unsettled("the app was opened since") {
                    $0.badResults(3)
                    $0.phone(.suspended)
                    $0.phone(.resumed)
                }),
            Excuse(
                name: "five failed requests for the status of one job, until the app is opened",
                inside: .unsettled("after the fifth") { $0.statuses(failed: 5) },
                outside: .unsettled("after the fourth") { $0.statuses(failed: 4) }),
            Excuse(
                name: "75 requests for the status of one job, until the app is opened",
                inside: .unsettled("after the 75th") { $0.statuses(75) },
                outside: .unsettled("after the 74th") { $0.statuses(74) }),
            Excuse(
                name: "no path, for good",
                inside: .unsettled("its phone stays broken", broken: [phone]),
                outside: .unsettled("another one does", broken: [DeviceNumber(1)])),
        ],
        scenario: aftermath)

    fileprivate static let timersClean = InvariantRow(
        broken: Example(
            "a phone with nothing to do wants to be woken",
            remains: FinalWorldState(stuck: [], restless: [phone], broken: [])),
        kept: Example("none does"),
        excuses: [],
        scenario: aftermath)

    fileprivate static let othersUnharmed = InvariantRow(
        broken: Example(
            "a phone is stuck beside one that stays broken",
            remains: FinalWorldState(stuck: [phone], restless: [], broken: [DeviceNumber(1)])),
        besides: [.deviceNotStuck],
        kept: Example(
            "only the broken one is",
            remains: FinalWorldState(stuck: [], restless: [], broken: [DeviceNumber(1)])),
        excuses: [],
        scenario: aftermath)
}

extension Example {
    /// A scan that was uploaded, and that waits when all is over.
    fileprivate static func unsettled(
        _ name: String, broken: [DeviceNumber] = [],
        _ script: @escaping @Sendable (inout History) -> Void = { _ in }
    ) -> Example {
        var remains = FinalWorldState(stuck: [], restless: [], broken: broken)
        remains.waiting = [WaitingRecord(device: DeviceNumber(0), scan: ScanNumber(1), cause: .interrupted)]
        return Example(name, remains: remains) {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.answer(.upload, 202)
            script(&$0)
            $0.backend(.expired(job: $0.job))
        }
    }
}

extension History {
    /// A job is uploaded and followed, and its token exchanged. `again`: the attempt of another exchange of the same job.
    fileprivate mutating func exchangeToken(
        again attempt: UInt32? = nil, by transport: StreamTransport = .websocket, after time: Interval,
        isLast: Bool = true
    ) {
        if attempt == nil {
            self.launch()
            self.capture()
            self.upload()
            self.answer(.upload, 202)
            self.phone(.jobFollowed(job: self.job, by: transport))
        }
        self.pass(time)
        self.send(.refresh, attempt: attempt ?? 1, job: self.job)
        self.backend(.tokenExchanged(job: self.job))
        self.phone(.replied(.refresh, attempt: attempt ?? 1, status: 200, took: .milliseconds(5)))
        self.phone(.tokenExchanged(job: self.job, took: .milliseconds(5)))
        if isLast { self.backend(.expired(job: self.job)) }
    }
}
