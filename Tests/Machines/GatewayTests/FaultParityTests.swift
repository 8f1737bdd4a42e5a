import Backend
import Faults
import Gateway
import JSON
import Observations
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Every fault of the server does the same whether the simulated backend carries it out or the gateway in front of it.
@Suite struct FaultParityTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var journey = Journey.scan
        var kind: FaultKind
        var on: Talaria.Operation = .stream
        var trigger = ArmedTrigger.atOnce
        /// Whether the journey has what the fault changes.
        var fires = true
        /// Whether the fault is armed for the stream that resumes, not for the first one.
        var onResumed = false
        /// Lines of what the phone sees that one way alone has: directly (-), or through the gateway (+).
        var answers: [String] = []
        /// Lines of observations, in the same form.
        var seen: [String] = []

        var testDescription: String {
            "\(self.journey.rawValue): \(self.kind.name) on \(self.on), \(self.trigger)"
        }
    }

    static let rows = [
        Row(kind: .rateLimit(quota: Quota(requests: 0, window: .seconds(9)), retryAfter: nil), on: .upload),
        Row(kind: .httpError(.unavailable), on: .upload),
        // The gateway observes the end of a job when a stream carries it.
        Row(
            kind: .httpError(.unavailable), on: .stream,
            seen: ["- 10000 finished completed", "+ 20000 finished completed"]),
        Row(kind: .httpError(.unavailable), on: .results),
        Row(kind: .httpError(.unavailable), on: .cleanup),
        Row(kind: .httpError(.unavailable), on: .status),
        Row(kind: .stripBooks(.absent)), Row(kind: .stripBooks(.null)), Row(kind: .stripBooks(.empty)),
        Row(kind: .stripBooks(.renamed)),
        Row(kind: .truncateResults, on: .results), Row(kind: .reorderResults, on: .results),
        // No stream carries the end to the gateway.
        Row(kind: .expireToken, seen: ["- 10000 finished completed"]),
        Row(kind: .expireToken, trigger: .afterEvents(2), seen: ["- 10000 finished completed"]),
        Row(kind: .expireToken, trigger: .afterTime(.seconds(4)), seen: ["- 10000 finished completed"]),
        Row(kind: .expireToken, on: .status, seen: ["- 10000 finished completed"]),
        // The job lives on at the upstream, where a cleanup finds it.
        Row(
            kind: .jobGone(status: 404),
            answers: ["- cleanup 404 ended", "- ", "+ cleanup 204 ended"],
            seen: [
                "- 25000 answered cleanup 1 404", "- 25000 problem cleanup 404 false -1",
                "+ 25000 answered cleanup 1 204", "+ 25000 cleaned true",
            ]),
        Row(
            kind: .jobGone(status: 410), on: .results,
            seen: ["- 25000 cleaned false", "+ 25000 cleaned true"]
        ),
        // The job at the upstream has not failed. The gateway repeats the failure by itself, and nothing before it.
        Row(
            kind: .retryableError(code: "PROVIDER_TIMEOUT"), trigger: .afterEvents(2),
            answers: ["- 20000 progress "],
            seen: ["- 6000 finished error", "- 20000 streamEnded 2 false", "- 20000 streamOpened 2"]),
        Row(
            kind: .finalError(code: "INVALID_FILE"), trigger: .afterTime(.seconds(1)),
            seen: ["- 1000 finished error", "- 20000 streamEnded 2 false", "- 20000 streamOpened 2"]),
        // The gateway sees no lookups: all events come directly before `completed`, whose summary stays the upstream's. They
        // are not in the upstream's log, so that no stream repeats them.
        Row(
            kind: .degraded(books: .always),
            answers: [
                "- 7260 enrichment_degraded ", "- 8530 enrichment_degraded ", "- 9800 enrichment_degraded ",
                "- 10000 completed ", "- 20000 enrichment_degraded ", "- 20000 enrichment_degraded ",
                "- 20000 enrichment_degraded ", "- 20000 completed ", "+ 10000 enrichment_degraded ",
                "+ 10000 enrichment_degraded ", "+ 10000 enrichment_degraded ", "+ 10000 completed ",
                "+ 20000 completed ",
            ]),
        // The job at the upstream is not slow: events come at the same times with its time stamps, and its
        // pings end with it.
        Row(
            kind: .slowStage(.enriching, by: .seconds(2)...(.seconds(2))),
            answers: [
                "- 9260 progress ", "- 10530 progress ", "- 11800 progress ",
                "- pings [3000, 6000, 9000, 12000]", "- 20000 progress ", "- 20000 progress ",
                "- 20000 progress ", "+ 9260 progress ", "+ 10530 progress ", "+ 11800 progress ",
                "+ pings [3000, 6000, 9000]", "+ 20000 progress ", "+ 20000 progress ", "+ 20000 progress ",
            ], seen: ["- 12000 finished completed", "+ 10000 finished completed"]),
        Row(kind: .unknownEvent(nil)), Row(kind: .unknownEvent(nil), trigger: .afterEvents(2)),
        Row(kind: .badJSON(.extra), trigger: .afterEvents(1)), Row(kind: .badJSON(.progress)),
        Row(kind: .badJSON(.completed)),
        Row(kind: .eventShape(.noMessage)), Row(kind: .eventShape(.splitData)),
        Row(kind: .unknownEvent(.message), trigger: .afterEvents(1)),
        // The backend counts the next period from the late ping. The gateway delays each ping of the upstream.
        Row(
            kind: .latePing(by: .milliseconds(800)),
            answers: ["- pings [3800, 7600]", "+ pings [3800, 6800, 9800]"]),
        Row(kind: .noPing),
        Row(kind: .twoTerminals),
        Row(
            kind: .endWithoutTerminal, seen: ["- 10000 finished completed", "+ 20000 finished completed"]),
        Row(kind: .ignoreLastEventID, onResumed: true),
        Row(kind: .forgetEvents, trigger: .afterEvents(2)),
    ]

    /// A journey of one scan: upload, stream to its end, a second stream that resumes behind the second event, results,
    /// cleanup.
    private static func journey(_ way: TwoWays.Way, _ row: Row) -> TwoWays {
        var two = TwoWays(way)
        var fault = ArmedFault(fault: 2, kind: row.kind, trigger: row.trigger, draw: 0x5555_5555_5555_5555)
        // A stream begins with the state of the job. The backend repeats an event there; the gateway has not seen it before,
        // and counts it as new.
        if way == .gateway, case .afterEvents(let count) = row.trigger {
            fault.trigger = .afterEvents(count + 1)
        }
        func armed(_ operation: Talaria.Operation, resumed: Bool = false) -> [ArmedFault] {
            row.on == operation && row.onResumed == resumed ? [fault] : []
        }
        let journey = row.journey
        if row.on == .upload {
            two.ask(.upload, of: journey, method: "POST", faults: armed(.upload))
        }
        let upload = two.ask(.upload, of: journey, method: "POST", attempt: 2)
        guard let (job, token) = Self.accepted(two.answers[upload].body, journey) else { return two }
        if row.on == .status {
            two.ask(.job(jobId: job), of: journey, token: token, faults: armed(.status))
        }
        let first = two.ask(.stream(jobId: job), of: journey, token: token, faults: armed(.stream))
        two.run(to: .zero + .seconds(20))
        let ids = two.answers[first].ids
        two.ask(
            .stream(jobId: job), of: journey, token: token, lastEventID: ids.count > 1 ? ids[1] : nil,
            attempt: 2, faults: armed(.stream, resumed: true))
        two.run(to: .zero + .seconds(25))
        two.ask(.results(jobId: job), of: journey, token: token, faults: armed(.results))
        two.ask(
            .cleanup(jobId: job), of: journey, method: "DELETE", token: token, faults: armed(.cleanup))
        return two
    }

    @Test(arguments: TwoWays.Way.allCases, Journey.allCases.filter(\.hasJobs))
    func `a job that a fault has failed has the status failed`(way: TwoWays.Way, journey: Journey) throws {
        var two = TwoWays(way)
        let upload = two.ask(.upload, of: journey, method: "POST")
        let (job, token) = try #require(Self.accepted(two.answers[upload].body, journey))
        let fault = ArmedFault(
            fault: 0, kind: .finalError(code: "INVALID_FILE"), trigger: .afterTime(.seconds(1)), draw: 1)
        two.ask(.stream(jobId: job), of: journey, token: token, faults: [fault])
        for (end, status) in [
            (Interval.zero, JobStatus.initialized), (.seconds(4), .failed), (.seconds(20), .failed),
        ] {
            two.run(to: .zero + end)
            let index = two.ask(.job(jobId: job), of: journey, token: token)
            let read = JSON.decode(StatusBody.self, from: two.answers[index].body)?.data.status
            #expect(read == status, "after \(end.wholeMilliseconds) ms")
        }
    }

    /// Job and token of a 202.
    private static func accepted(_ body: [UInt8], _ journey: Journey) -> (job: String, token: String)? {
        var notes = ContractNotes()
        let read =
            journey.version == .v2
            ? UploadAccepted.readV2(body, into: &notes) : JSON.decode(UploadAccepted.self, from: body)
        guard let data = read?.data, let token = data.authToken else { return nil }
        return (data.jobId, token)
    }

    @Test(arguments: Self.rows + Self.v2Rows) func `a fault does the same directly and through the gateway`(
        row: Row
    ) {
        let direct = Self.journey(.direct, row)
        let gateway = Self.journey(.gateway, row)
        #expect(
            direct.answers.count >= (row.journey.hasJobs ? 5 : 2), "the journey ends where it began")
        #expect(direct.firings.count == (row.fires ? 1 : 0))
        #expect(gateway.firings == direct.firings)
        let answers = Self.difference(direct.answers.flatMap(\.lines), gateway.answers.flatMap(\.lines))
        #expect(answers == row.answers)
        let seen = Self.difference(direct.seen, gateway.seen)
        #expect(seen == row.seen)
    }

    /// The lines of one list alone, without their data.
    static func difference(_ direct: [String], _ gateway: [String]) -> [String] {
        let changes = gateway.difference(from: direct)
        return changes.removals.map { "- \($0.text)" } + changes.insertions.map { "+ \($0.text)" }
    }

    @Test(arguments: TwoWays.Way.allCases)
    func `faults of one stream act at their moments, one after the other`(
        way: TwoWays.Way
    ) {
        var two = TwoWays(way)
        let upload = two.ask(.upload, "POST", "/v3/jobs/scans")
        let body = JSON.decode(UploadAccepted.self, from: two.answers[upload].body)
        let faults: [ArmedFault] = [
            ArmedFault(fault: 0, kind: .expireToken, trigger: .afterTime(.seconds(2)), draw: 0),
            ArmedFault(fault: 1, kind: .forgetEvents, trigger: .afterTime(.seconds(1)), draw: 0),
        ]
        two.ask(
            .stream, "GET", "/v3/jobs/scans/\(body?.data.jobId ?? "")/stream", token: body?.data.authToken,
            faults: faults)
        two.run(to: .zero + .seconds(4))
        let moments = two.observed.filter { if case .fault = $0.what { true } else { false } }.map(\.at)
        #expect(moments == [.zero + .seconds(1), .zero + .seconds(2)])
        #expect(
            two.firings == [
                .fired(fault: 1, .stream, attempt: 1), .fired(fault: 0, .stream, attempt: 1),
            ])
    }

    @Test(arguments: Journey.allCases.filter(\.hasJobs)) func `every fault of the server has a row`(
        journey: Journey
    ) {
        let rows = (Self.rows + Self.v2Rows).filter { $0.journey == journey }
        #expect(
            Set(rows.map(\.kind.name))
                == Set(FaultTable.kinds(withSockets: false).filter { $0.layer == .server }.map(\.name)))
    }
}

extension HTTPFault {
    static let unavailable = HTTPFault(
        status: 503, code: nil, retryable: nil, retryAfter: .seconds(1), retryAfterLocation: .both)
}

extension TwoWays {
    var firings: [FaultObservation] {
        self.observed.compactMap { if case .fault(let payload) = $0.what { payload } else { nil } }
    }

    /// The observations that both ways can make, with their times. The gateway does not look into jobs:
    /// single events, pings, served results, counts of books and positions are the backend's alone. It
    /// observes the end of a job on each stream that carries it; only the first counts here. What happens at
    /// one time is sorted.
    var seen: [String] {
        var hasFinished = false
        var lines: [(at: Instant, text: String)] = []
        for observation in self.observed {
            guard case .backend(let payload) = observation.what else { continue }
            switch payload {
            case .eventWritten, .pingWritten, .rowsTaken, .bookLookedUp, .textLookedUp, .resultsServed,
                .tokenExchanged,
                .found,
                .circuitOpened, .circuitClosed, .upstreamFailed, .targetBroke, .targetTried, .targetProbed,
                .targetEvent:
                continue
            case .accepted: lines.append((observation.at, "accepted"))
            case .photosReceived(_, let count): lines.append((observation.at, "photosReceived \(count)"))
            case .finished(_, let kind, _):
                if !hasFinished { lines.append((observation.at, "finished \(kind)")) }
                hasFinished = true
            case .streamOpened(_, let attempt, _):
                lines.append((observation.at, "streamOpened \(attempt)"))
            case .requested(let operation, let attempt, _):
                lines.append((observation.at, "requested \(operation) \(attempt)"))
            case .answered(let operation, let attempt, let status):
                lines.append((observation.at, "answered \(operation) \(attempt) \(status)"))
            case .problem(let operation, _, let status, _, let retryable, let wait):
                lines.append(
                    (
                        observation.at,
                        "problem \(operation) \(status) \(retryable) \(wait?.wholeMilliseconds ?? -1)"
                    ))
            case .streamEnded(_, let attempt, let byPeer):
                lines.append((observation.at, "streamEnded \(attempt) \(byPeer)"))
            case .failed(_, let code, let retryable):
                lines.append((observation.at, "failed \(code) \(retryable)"))
            case .cleaned(_, let effective): lines.append((observation.at, "cleaned \(effective)"))
            case .tokenRevoked: lines.append((observation.at, "tokenRevoked"))
            case .vanished: lines.append((observation.at, "vanished"))
            case .connected, .canceled, .expired: lines.append((observation.at, "\(payload)"))
            }
        }
        return lines.sorted { ($0.at, $0.text) < ($1.at, $1.text) }
            .map { "\(($0.at - Instant.zero).wholeMilliseconds) \($0.text)" }
    }
}

extension CollectionDifference<String>.Change {
    fileprivate var text: String {
        switch self {
        case .remove(_, let line, _), .insert(_, let line, _): String(line.prefix { $0 != "{" })
        }
    }
}
