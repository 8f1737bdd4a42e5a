import Faults
import Observations
import SimBase
import Talaria
import Testing

@testable import RunMetrics

/// Who is to blame for errors and findings (Docs/design.md section 11.11).
struct CauseAccountTests {
    private static let cut = Cause.injected(fault: "cut")
    private static let broken = FaultKind.reset(.betweenEvents, .reply)

    /// The causes of errors and findings, in their order. `T` is a second.
    private static func causes(
        _ faults: [(String, FaultKind)], lifetime: Interval = .hours(2),
        _ story: [(Int64, ObservationPayload)]
    ) -> [Cause] {
        var account = CauseAccount(faults: faults.map { (id: $0.0, kind: $0.1) }, tokenLifetime: lifetime)
        return story.compactMap { second, payload in
            account.record(
                Observation(
                    at: .zero + .seconds(second), device: DeviceNumber(3), scan: ScanNumber(1), what: payload)
            )
        }
    }

    private static func sent(
        _ operation: Talaria.Operation, _ attempt: UInt32 = 1, job: String? = "j"
    ) -> ObservationPayload {
        .phone(.requestSent(operation, attempt: attempt, job: job, lastEventID: nil))
    }

    private static func replied(
        _ operation: Talaria.Operation, _ status: Int, _ attempt: UInt32 = 1
    ) -> ObservationPayload {
        .phone(.replied(operation, attempt: attempt, status: status, took: .zero))
    }

    private static func failed(
        _ operation: Talaria.Operation, _ failure: TransportFailure, _ attempt: UInt32 = 1
    ) -> ObservationPayload {
        .phone(.requestFailed(operation, attempt: attempt, failure, took: .zero))
    }

    private static func fired(
        _ operation: Talaria.Operation, _ attempt: UInt32 = 1, fault: Int = 0
    ) -> ObservationPayload {
        .fault(.fired(fault: fault, operation, attempt: attempt))
    }

    private static func lost(_ cause: LossCause, _ attempt: UInt32 = 1) -> ObservationPayload {
        .phone(.streamLost(job: "j", attempt: attempt, cause, silence: nil))
    }

    private static func found(
        _ operation: Talaria.Operation, _ part: String, _ path: String, seen: String = "missing"
    ) -> ObservationPayload {
        .phone(
            .found(
                ContractFinding(
                    operation: operation, part: part, path: path, expected: "a string", seen: seen,
                    excerpt: nil, isDecisive: false, count: 1)))
    }

    private static let accepted = ObservationPayload.phone(
        .uploadAccepted(job: "j", took: .zero, service: .zero))
    private static let opened = ObservationPayload.phone(
        .streamOpened(job: "j", attempt: 1, after: nil, took: .zero))

    private static func error(_ status: Int) -> FaultKind {
        .httpError(
            HTTPFault(
                status: status, code: nil, retryable: nil, retryAfter: nil, retryAfterLocation: .neither))
    }

    // MARK: Answers

    @Test func `an answer is the fault's only on the request on which it fired, and with its status`() {
        let causes = Self.causes(
            [("error", Self.error(503))],
            [
                (1, Self.sent(.upload, job: nil)), (1, Self.fired(.upload)), (1, Self.replied(.upload, 503)),
                (2, Self.sent(.upload, 2, job: nil)), (2, Self.replied(.upload, 503, 2)),
                (3, Self.sent(.upload, 3, job: nil)), (3, Self.fired(.upload, 3)),
                (3, Self.replied(.upload, 500, 3)),
            ])
        #expect(causes == [.injected(fault: "error"), .target, .target])
    }

    @Test func `a refusal has the cause of the answer that it names`() {
        let refused = PhoneObservation.refused(
            code: "INVALID_FILE", cause: .answer(.upload, attempt: 1, status: 400, retryable: false))
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.sent(.upload, job: nil)), (1, Self.fired(.upload)), (1, Self.replied(.upload, 400)),
            (1, .phone(refused)),
        ]
        #expect(
            Self.causes([("error", Self.error(400))], story)
                == [.injected(fault: "error"), .injected(fault: "error")])
        #expect(Self.causes([("error", Self.error(503))], story) == [.target, .target])
    }

    @Test func `an error event of a fault refuses its scan, and any other is the target's`() {
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.accepted), (1, Self.sent(.stream)), (1, Self.fired(.stream)),
            (2, .phone(.refused(code: "X", cause: .event(job: "j", retryable: false)))),
        ]
        #expect(Self.causes([("final", .finalError(code: "X"))], story) == [.injected(fault: "final")])
        #expect(Self.causes([("strip", .stripBooks(.empty))], story) == [.target])
    }

    @Test func `a fault that is observed to fire before the phone names its job has changed that job`() {
        let refused = ObservationPayload.phone(
            .refused(code: "X", cause: .event(job: "j", retryable: false)))
        let stream: [(Int64, ObservationPayload)] = [
            (1, Self.fired(.stream)), (1, Self.accepted), (1, Self.sent(.stream)), (2, refused),
        ]
        #expect(Self.causes([("final", .finalError(code: "X"))], stream) == [.injected(fault: "final")])
        let upload: [(Int64, ObservationPayload)] = [
            (1, Self.sent(.upload, job: nil)), (1, Self.fired(.upload)), (1, Self.accepted), (2, refused),
        ]
        #expect(Self.causes([("final", .finalError(code: "X"))], upload) == [.injected(fault: "final")])
        #expect(Self.causes([("strip", .stripBooks(.empty))], stream) == [.target])
    }

    // MARK: Chains

    @Test func `a 401 after a cut is the cut's, once the token is too old`() {
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.accepted), (1, Self.sent(.stream)), (1, Self.opened), (2, Self.fired(.stream)),
            (2, Self.lost(.reset)), (9, Self.sent(.stream, 2)), (9, Self.replied(.stream, 401, 2)),
            (9, Self.lost(.refusedByStatus, 2)), (9, Self.sent(.cleanup)), (9, Self.replied(.cleanup, 401)),
        ]
        let faults = [("cut", Self.broken)]
        #expect(
            Self.causes(faults, lifetime: .seconds(5), story) == [Self.cut, Self.cut, Self.cut, Self.cut])
        // Within its lifetime no cut makes a token invalid.
        #expect(Self.causes(faults, story) == [Self.cut, .target, .target, .target])
    }

    @Test func `the DELETE of a job that was turned away has its cause, though a new job went well`() {
        let causes = Self.causes(
            [("cut", Self.broken)], lifetime: .seconds(5),
            [
                (1, Self.accepted), (1, Self.sent(.stream)), (2, Self.fired(.stream)), (2, Self.lost(.reset)),
                (9, Self.sent(.stream, 2)), (9, Self.replied(.stream, 401, 2)),
                (10, .phone(.uploadAccepted(job: "k", took: .zero, service: .zero))),
                (11, Self.sent(.cleanup)), (11, Self.replied(.cleanup, 401)),
            ])
        #expect(causes == [Self.cut, Self.cut, Self.cut])
    }

    @Test func `what went well ends a chain`() {
        let causes = Self.causes(
            [("cut", Self.broken)], lifetime: .seconds(5),
            [
                (1, Self.accepted), (1, Self.sent(.stream)), (2, Self.fired(.stream)), (2, Self.lost(.reset)),
                (3, Self.sent(.stream, 2)), (3, Self.opened), (8, Self.sent(.results)),
                (8, Self.replied(.results, 401)),
            ])
        #expect(causes == [Self.cut, .target])
    }

    @Test func `a job that the backend has given up is the cause of what kept the phone away`() {
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.accepted), (1, Self.sent(.stream)), (2, Self.fired(.stream)), (2, Self.lost(.reset)),
            (3, .backend(.expired(job: "j"))), (4, Self.sent(.stream, 2)), (4, Self.replied(.stream, 404, 2)),
        ]
        #expect(Self.causes([("cut", Self.broken)], story) == [Self.cut, Self.cut])
        #expect(
            Self.causes([("cut", Self.broken)], story.filter { $0.1 != .backend(.expired(job: "j")) })
                == [Self.cut, .target])
    }

    @Test(arguments: [(FaultKind.expireToken, 401), (.jobGone(status: 410), 410)])
    func `a job that a fault has ended stays the fault's`(kind: FaultKind, status: Int) {
        let causes = Self.causes(
            [("end", kind)],
            [
                (1, Self.accepted), (1, Self.sent(.stream)), (2, Self.fired(.stream)),
                (2, Self.lost(.endWithoutTerminal)), (3, Self.sent(.results)),
                (3, Self.replied(.results, status)), (3, Self.sent(.results, 2)),
                (3, Self.replied(.results, 500, 2)),
            ])
        let fault = Cause.injected(fault: "end")
        #expect(causes == [fault, fault, .target])
    }

    @Test func `a failure of the target during the repair of a cut is the target's`() {
        let causes = Self.causes(
            [("cut", Self.broken)],
            [
                (1, Self.accepted), (1, Self.sent(.stream)), (2, Self.fired(.stream)), (2, Self.lost(.reset)),
                (3, Self.sent(.stream, 2)), (3, Self.failed(.stream, .connectRefused, 2)),
                (4, Self.sent(.stream, 3)), (4, Self.replied(.stream, 500, 3)),
            ])
        #expect(causes == [Self.cut, .target, .target])
    }

    // MARK: Connections

    @Test(arguments: [
        (TransportFailure.reset, Cause.target), (.connectRefused, .target), (.timedOut, .target),
        (.nameNotResolved, .path), (.connectTimedOut, .path), (.noPath, .path),
        (.descriptorsExhausted, .harness),
    ]) func `without a fault the failure itself says where it is`(failure: TransportFailure, cause: Cause) {
        #expect(
            Self.causes([], [(1, Self.sent(.upload, job: nil)), (1, Self.failed(.upload, failure))]) == [
                cause
            ])
    }

    @Test func `a slow link explains a timeout and nothing else`() {
        func causes(_ failure: TransportFailure) -> [Cause] {
            Self.causes(
                [("slow", .bandwidth(bitsPerSecond: 1_000))],
                [
                    (1, Self.sent(.upload, job: nil)), (1, Self.fired(.upload)),
                    (40, Self.failed(.upload, failure)),
                ])
        }
        #expect(causes(.timedOut) == [.injected(fault: "slow")])
        #expect(causes(.reset) == [.target])
    }

    @Test func `the path that a fault took is the fault's, and any other is the network's`() {
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.accepted), (1, Self.sent(.stream)), (2, .phone(.pathLost)), (2, Self.lost(.offline)),
            (3, Self.sent(.results)), (3, Self.failed(.results, .timedOut)),
        ]
        let faults = [("tunnel", FaultKind.phone(.offline))]
        #expect(Self.causes(faults, story) == [.path, .path])
        let began = (Int64(2), ObservationPayload.fault(.began(fault: 0)))
        let tunnel = Cause.injected(fault: "tunnel")
        #expect(Self.causes(faults, [began] + story) == [tunnel, tunnel])
        #expect(
            Self.causes([("skew", .phone(.clockSkew(by: .seconds(5))))], [began] + story) == [.path, .path],
            "that fault takes no path")
    }

    @Test func `a stream that a kill has ended is the kill's`() {
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.accepted), (1, Self.sent(.stream)), (2, .fault(.began(fault: 0))), (2, .phone(.killed)),
            (3, .fault(.ended(fault: 0))), (3, Self.lost(.killed)),
        ]
        #expect(Self.causes([("kill", .phone(.kill))], story) == [.injected(fault: "kill")])
    }

    @Test(arguments: [
        (LossCause.endWithoutTerminal, FaultKind.endWithoutTerminal), (.silence, .noPing),
        (.silence, .loss(.always)), (.reset, .expireToken),
    ]) func `a stream is lost by a fault that can do that`(loss: LossCause, kind: FaultKind) {
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.accepted), (1, Self.sent(.stream)), (1, Self.fired(.stream)), (9, Self.lost(loss)),
        ]
        #expect(Self.causes([("fault", kind)], story) == [.injected(fault: "fault")])
        #expect(Self.causes([("fault", .stripBooks(.empty))], story) == [.target])
    }

    @Test(arguments: [
        (TransportFailure.timedOut, Cause.target), (.nameNotResolved, .path), (.other, .harness),
    ])
    func `a gateway that answers in the place of its target says why`(failure: TransportFailure, cause: Cause)
    {
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.sent(.upload, job: nil)),
            (1, .backend(.upstreamFailed(.upload, attempt: 1, failure))), (1, Self.replied(.upload, 502)),
        ]
        #expect(Self.causes([], story) == [cause])
        #expect(Self.causes([], [story[0], story[1], (1, Self.replied(.upload, 500))]) == [.target])
    }

    // MARK: Fields

    private static func finding(
        _ kind: FaultKind, _ finding: ObservationPayload, _ between: [ObservationPayload] = []
    ) -> Cause? {
        Self.causes(
            [("fault", kind)],
            [(1, Self.accepted), (1, Self.sent(.stream)), (1, Self.fired(.stream))] + between.map { (2, $0) }
                + [(2, finding)]
        ).last
    }

    @Test func `a finding is injected only in the member that the fault changed`() {
        let injected = Cause.injected(fault: "fault")
        let renamed = FaultKind.stripBooks(.renamed)
        #expect(Self.finding(renamed, Self.found(.stream, "completed", "books")) == injected)
        #expect(Self.finding(renamed, Self.found(.stream, "completed", "books[0].title")) == injected)
        #expect(Self.finding(renamed, Self.found(.stream, "completed", "data.results")) == injected)
        #expect(Self.finding(.stripBooks(.empty), Self.found(.stream, "completed", "results")) == .target)
        #expect(Self.finding(renamed, Self.found(.stream, "completed", "booksUnique")) == .target)
        #expect(Self.finding(renamed, Self.found(.stream, "completed", "resultsUrl")) == .target)
        #expect(Self.finding(renamed, Self.found(.stream, "progress", "books")) == .target)
        #expect(Self.finding(renamed, Self.found(.results, "200", "data.results")) == .target)
        #expect(Self.finding(.eventShape(.noMessage), Self.found(.stream, "progress", "message")) == injected)
        #expect(Self.finding(.eventShape(.noMessage), Self.found(.stream, "progress", "status")) == .target)
        #expect(Self.finding(.finalError(code: "X"), Self.found(.stream, "error", "code")) == injected)
    }

    @Test func `the number of books is the fault's while the books could only come with the event`() {
        let count = Self.found(.stream, "completed", "summary.totalDetected", seen: "a higher number")
        #expect(Self.finding(.stripBooks(.empty), count) == .injected(fault: "fault"))
        let results = ObservationPayload.phone(.resultsDecoded(job: "j", books: 2, took: .zero))
        #expect(Self.finding(.stripBooks(.empty), count, [results]) == .target)
        #expect(Self.finding(.eventShape(.noMessage), count) == .target)
    }

    @Test func `an event of a fault is one finding, and one of the target beside it is another`() {
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.accepted), (1, Self.sent(.stream)), (1, Self.fired(.stream)),
            (2, Self.found(.stream, "event", "event", seen: "telemetry")),
            (2, Self.found(.stream, "event", "event", seen: "telemetry")),
            (2, Self.found(.stream, "event", "event", seen: "other")),
        ]
        #expect(
            Self.causes([("extra", .unknownEvent(nil))], story)
                == [.injected(fault: "extra"), .target, .target])
    }

    @Test func `what cannot be read is the fault's once, as a finding and as an error`() {
        let ignored = ObservationPayload.phone(
            .eventIgnored(job: "j", id: nil, name: "progress", malformed: true))
        let body = Self.found(.stream, "progress", "body", seen: "not JSON")
        let story: [(Int64, ObservationPayload)] = [
            (1, Self.accepted), (1, Self.sent(.stream)), (1, Self.fired(.stream)),
            (2, body), (2, ignored), (3, body), (3, ignored),
        ]
        let bad = Cause.injected(fault: "bad")
        #expect(Self.causes([("bad", .badJSON(.extra))], story) == [bad, bad, .target, .target])
    }

    @Test func `findings about requests are the phone's`() {
        #expect(
            Self.causes([], [(1, Self.found(.upload, ContractFinding.requestPart, "query x"))]) == [.phone])
    }

    @Test func `results that a fault cuts short are its own, and the next ones are not`() {
        let bad = ObservationPayload.phone(.badAnswer(.results, attempt: 1, .undecodable))
        let again = ObservationPayload.phone(.badAnswer(.results, attempt: 2, .undecodable))
        let causes = Self.causes(
            [("short", .truncateResults)],
            [
                (1, Self.accepted), (1, Self.sent(.results)), (1, Self.fired(.results)), (1, bad),
                (2, Self.sent(.results, 2)), (2, again), (3, .phone(.resultsGivenUp(job: "j"))),
            ])
        #expect(causes == [.injected(fault: "short"), .target, .injected(fault: "short")])
    }
}

struct CauseCountsTests {
    @Test func `sums do not depend on their order`() {
        let causes: [Cause] = [.target, .injected(fault: "b"), .path, .injected(fault: "a"), .target]
        let forward = causes.reduce(into: CauseCounts()) { $0.add($1) }
        let backward = causes.reversed().reduce(into: CauseCounts()) { $0.add($1) }
        #expect(forward == backward && forward[.target] == 2 && forward.injected == 2)
        var twice = forward
        twice.add(backward)
        #expect(twice[.injected(fault: "a")] == 2 && twice.byCount.first?.cause == .target)
    }

    @Test func `a cause is read as it was written`() {
        for cause in [Cause.injected(fault: "x"), .target, .phone, .path, .harness] {
            #expect(Cause(by: cause.by, fault: cause.fault) == cause)
        }
        #expect(Cause(by: "injected", fault: nil) == nil && Cause(by: "target", fault: "x") == nil)
        #expect(Cause(by: "", fault: nil) == nil)
    }
}
