import Faults
import Ledger
import Metrics
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Whole runs of phones that poll.
struct StatusWorldTests {
    private func scenario(
        _ polling: StatusPolling, faults: [FaultSpec] = [],
        jobTime: ClosedRange<Interval> = .seconds(3)...Interval.seconds(7),
        change: (inout ClientProfile) -> Void = { _ in }
    ) -> Scenario {
        let group = Bench.group(devices: 6, scans: 3) {
            $0.status.polling = polling
            $0.requestTimeout = .seconds(4)
            change(&$0)
        }
        return Bench.scenario(groups: [group], faults: faults, jobTime: jobTime, drain: .seconds(200))
    }

    private static func error(_ status: Int, retryAfter: Interval? = nil) -> FaultKind {
        .httpError(
            HTTPFault(
                status: status, code: nil, retryable: nil, retryAfter: retryAfter, retryAfterLocation: .both))
    }

    @Test func `every book comes without a stream`() throws {
        let outcome = try Bench.run(scenario(.always))
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.completed == 18)
        #expect(outcome.ledger.totals.books.missing == 0 && outcome.ledger.totals.books.received > 0)
        #expect(
            outcome.count { if case .phone(.requestSent(.stream, _, _, _)) = $0 { true } else { false } } == 0
        )
        #expect(
            outcome.count {
                if case .phone(.replied(.status, _, status: 429, _)) = $0 { true } else { false }
            }
                == 0, "the phone stays within the limit of the contract")
    }

    @Test(
        arguments: [
            (Self.error(503, retryAfter: .seconds(1)), FaultTrigger.atOnce, 4),
            (Self.error(429, retryAfter: .seconds(3)), .atOnce, 6), (Self.error(403), .atOnce, 4),
            (.reset(.afterBytes(40), .reply), .atOnce, 4), (.close(.afterBytes(0), .reply), .atOnce, 4),
            (.reset(.afterBytes(20), .request), .atOnce, 4), (.silence(.afterBytes(0), .reply), .atOnce, 4),
            (.refuse, .atOnce, 4), (.slice(bytes: 1...5), .atOnce, 99),
            (.delay(by: .milliseconds(200)...(.milliseconds(900))), .atOnce, 99),
            (.expireToken, .atOnce, 3), (.jobGone(status: 404), .atOnce, 3),
            (.jobGone(status: 410), .atOnce, 3),
        ] as [(FaultKind, FaultTrigger, Int)])
    func `a fault on the status delays a scan and loses nothing`(
        kind: FaultKind, trigger: FaultTrigger, count: Int
    ) throws {
        let fault = Bench.fault(
            kind, on: .status, after: trigger, count: count == 99 ? .eachAttempt : .perScan(count))
        let outcome = try Bench.run(scenario(.always, faults: [fault]))
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.completed == 18)
        #expect(outcome.ledger.totals.books.missing == 0)
        let fired = outcome.count { if case .fault(.fired(_, .status, _)) = $0 { true } else { false } }
        #expect(fired >= 18)
    }

    @Test func `tokens that expire are replaced by another upload`() throws {
        var scenario = scenario(.always, jobTime: .seconds(3)...Interval.seconds(9))
        scenario.server.backend.tokenLifetime = .seconds(6)
        let outcome = try Bench.run(scenario)
        #expect(outcome.broken == [])
        #expect(
            outcome.count {
                if case .phone(.replied(.status, _, status: 401, _)) = $0 { true } else { false }
            }
                > 0)
        #expect(outcome.ledger.totals.books.missing == 0)
    }

    @Test(arguments: [
        FaultKind.reset(.insideEvent, .reply), .close(.betweenEvents, .reply),
        .silence(.betweenEvents, .reply), .endWithoutTerminal, .retryableError(code: "PROVIDER_TIMEOUT"),
        .finalError(code: "INVALID_FILE"),
    ])
    func `a lost stream is followed by the status`(kind: FaultKind) throws {
        let trigger: FaultTrigger = kind == .endWithoutTerminal ? .atOnce : .afterEvents(1...2)
        let outcome = try Bench.run(
            scenario(.afterLoss, faults: [Bench.fault(kind, on: .stream, after: trigger)]))
        #expect(outcome.broken == [])
        let totals = outcome.ledger.totals
        #expect(totals.scans.completed + totals.scans.refused == 18 && totals.books.missing == 0)
    }

    @Test func `a job that fails under a lost stream is uploaded again`() throws {
        // The error event that the cut hides is in the status.
        let faults = [
            Bench.fault(
                .retryableError(code: "PROVIDER_TIMEOUT"), on: .stream, id: "error",
                after: .afterEvents(2...2)),
            Bench.fault(.close(.betweenEvents, .reply), on: .stream, id: "loses", after: .afterEvents(2...2)),
        ]
        let outcome = try Bench.run(scenario(.afterLoss, faults: faults))
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.completed == 18)
    }

    @Test func `a spent budget leaves scans waiting for a named reason`() throws {
        let outcome = try Bench.run(
            scenario(.always, jobTime: .seconds(20)...Interval.seconds(20)) { $0.status.requestsMax = 3 })
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.waiting == 18)
        #expect(outcome.ledger.totals.scans.waitingByCause[.statusBudget] == 18)
    }

    @Test func `a client that asks too often is told to wait, and does`() throws {
        let outcome = try Bench.run(scenario(.always) { $0.status.interval = .milliseconds(300) })
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.completed == 18)
        #expect(
            outcome.count { if case .phone(.rateLimited(.status, _)) = $0 { true } else { false } } > 18)
    }

    @Test(arguments: [PhoneFault.kill, .background, .offline, .handover, .reinstall])
    func `a disturbance of the phone loses nothing that it polls for`(kind: PhoneFault) throws {
        let window = FaultWindow(at: .seconds(3), length: .seconds(2))
        let target: FaultTarget = kind == .offline || kind == .handover ? .link : .app
        let outcome = try Bench.run(
            scenario(.always, faults: [Bench.fault(.phone(kind), on: target, window: window)]))
        #expect(outcome.broken == [])
        #expect(outcome.ledger.totals.scans.lost == 0 && outcome.ledger.totals.books.missing == 0)
    }
}
