import Faults
import Phone
import Plan
import RunJudge
import SimBase
import Testing

@testable import ScenarioFile

@Suite struct PlanTests {
    private static let scenario = """
        scenario: 1
        name: small
        description: "a \\"quoted\\" $${word}\\nand a line"
        seed: 18446744073709551615
        fleet:
          first: {phones: 2, scans: 3, arrivals: 2/s, spacing: poisson, network: lte}
          second: {phones: 3, scans: 1, arrivals: 1/s, network: [{at: 0s, link: lte}, {at: 3s, link: edge, for: 2s}]}
        faults:
          - {do: reset, on: stream, after: 1..3 events, cut: inside-event, chance: 50%}
          - {do: offline, scope: 50% of phones, at: 2s, for: 1s}
        slo:
          scans.lost: count == 0
        """

    private func plan(captures: Bool = true) throws -> SavedPlan {
        let scenario = try ScenarioLoader.load(
            path: "small.scenario", text: Self.scenario, overrides: [], environment: [:])
        let run = RunPlan(scenario, target: .embedded)
        // As a plan has them: a draw that means the same photo.
        let arrivals = run.arrivals.map {
            Arrival(
                scheduled: $0.scheduled, device: $0.device, ordinal: $0.ordinal,
                photo: $0.photo(of: $0.device.raw < 2 ? 2 : 3), of: $0.device.raw < 2 ? 2 : 3)
        }
        return SavedPlan(
            tool: "swiftwing-sim 0.1.0", note: "why", scenario: scenario,
            photos: [[100_000, 200_000], [1, 2, 3]], captures: captures ? arrivals : nil,
            settle: .minutes(2), wallClockAtZero: 1_769_947_200_000, splits: true, heapMax: 5_000,
            eventsPerInstantMax: 6_000, outcome: .init(digest: "00000000deadbeef", events: 12))
    }

    private func complaint(_ text: String) throws -> Diagnostic {
        let errors = try #require(throws: ScenarioErrors.self) {
            try PlanLoader.load(path: "a.plan.json", bytes: Array(text.utf8))
        }
        return try #require(errors.diagnostics.first)
    }

    @Test(arguments: [true, false]) func `a plan that is read back is the plan that was written`(
        captures: Bool
    )
        throws
    {
        let plan = try self.plan(captures: captures)
        let text = PlanWriter.text(plan)
        let read = try PlanLoader.load(path: "a.plan.json", bytes: Array(text.utf8))
        #expect(read == plan)
        #expect(PlanWriter.text(read) == text)
    }

    @Test func `ties and phones that stay broken are in a plan where it has them`() throws {
        var plan = try self.plan()
        let usual = PlanWriter.text(plan)
        #expect(!usual.contains("ties") && !usual.contains("stays-broken"))
        plan.shufflesTies = true
        plan.staysOffline = .percent(25)
        let text = PlanWriter.text(plan)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.contains("  \"ties\": \"shuffled\",") && lines.contains("  \"stays-broken\": \"25%\","))
        let read = try PlanLoader.load(path: "a.plan.json", bytes: Array(text.utf8))
        #expect(read == plan)
        let wrong = try self.complaint(text.replacing("shuffled", with: "random"))
        #expect(wrong.message == "ties must be fixed or shuffled, not `random`")
    }

    @Test func `a plan of a live run says what that run broke`() throws {
        var plan = try self.plan()
        plan.outcome = nil
        var live = LiveRecord(
            command: "swiftwing-sim run small --seed 7",
            failures: [
                LiveRecord.Failure(
                    .broken(.streamNoGap), device: DeviceNumber(3), scan: ScanNumber(2),
                    at: .zero + .milliseconds(12_480), text: "the event \"5\" was never applied"),
                LiveRecord.Failure(
                    .broken(.herdBounded), device: nil, scan: .none, at: .zero, text: "too many"),
                LiveRecord.Failure(
                    .unfinished, device: DeviceNumber(1), scan: ScanNumber(1), at: .zero + .seconds(30),
                    text: "not finished"),
            ])
        (live.phonesLeftOut, live.faultsLeftOut) = (4, 5)
        plan.live = live
        var fault = plan.scenario.faults[0]
        (fault.scope, fault.scan, fault.attempt) = (.phone(DeviceNumber(3)), 2, 1)
        plan.scenario.faults[0] = fault
        let text = PlanWriter.text(plan)
        #expect(text.split(separator: "\n").count { $0.contains("\"what\": ") } == 3)
        let read = try PlanLoader.load(path: "a.plan.json", bytes: Array(text.utf8))
        #expect(read == plan)
        let wrong = try self.complaint(text.replacing("stream.no-gap", with: "stream.no-gab"))
        #expect(wrong.message == "`stream.no-gab` is no invariant")
        #expect(wrong.help == "did you mean `stream.no-gap`?")
    }

    @Test func `one capture, one fault and one value stand on a line`() throws {
        let lines = PlanWriter.text(try self.plan()).split(separator: "\n").map(String.init)
        #expect(lines.count { $0.contains("\"do\": ") } == 2)
        #expect(lines.count { $0.contains("\"device\": ") } == 9)
        #expect(lines.contains("  \"settle\": \"2m\","))
        #expect(lines.allSatisfy { $0.count < 400 })
    }

    @Test func `a plan of another format says so, before anything else`() throws {
        let text = PlanWriter.text(try self.plan()).replacing("\"plan\": 1", with: "\"plan\": 2, \"new\": []")
        let found = try self.complaint(text)
        #expect(found.message == "the plan has format `2`; this program reads format 1")
        #expect([found.line, found.column] == [2, 11])
    }

    @Test(arguments: [
        ("\"heap-max\": 5000", "\"heap-mox\": 5000", "unknown key `heap-mox` in a plan"),
        ("\"do\": \"offline\"", "\"do\": \"offlune\"", "unknown fault `offlune`"),
        ("\"device\": 0", "\"device\": 5", "a phone must be a number from 0 to 4, not 5"),
        (
            "\"digest\": \"0", "\"digest\": \"x",
            "a digest must have 16 hexadecimal digits, not `x0000000deadbeef`"
        ),
    ])
    func `what is wrong is told with its location`(from: String, to: String, message: String) throws {
        let text = PlanWriter.text(try self.plan())
        let start = try #require(text.firstRange(of: from)).lowerBound
        let changed = text[..<start] + to + text[start...].dropFirst(from.count)
        #expect(try self.complaint(String(changed)).message.contains(message.prefix(20)))
    }

    @Test func `captures stand in the order of their times`() throws {
        var plan = try self.plan()
        plan.captures?.reverse()
        #expect(
            try self.complaint(PlanWriter.text(plan)).message == "captures must be in ascending order of `at`"
        )
    }

    @Test(arguments: [1, 2, 3, 7, 1_000]) func `a draw can be found for every photo`(count: Int) {
        for photo in 0..<count {
            let arrival = Arrival(
                scheduled: .zero, device: DeviceNumber(0), ordinal: 1, photo: photo, of: count)
            #expect(arrival.photo(of: count) == photo)
        }
    }
}
