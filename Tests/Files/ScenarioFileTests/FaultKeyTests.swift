import Faults
import Observations
import Plan
import SimBase
import Talaria
import Testing

@testable import ScenarioFile

/// What a fault decides does not depend on the other faults of the scenario.
struct FaultKeyTests {
    private static let faults = [
        "{do: reset, chance: 30%, after: 1..4 events}",
        "{do: reset, chance: 30%, after: 1..4 events, cut: inside-event}",
        "{do: reset, chance: 30%, after: 1..4 events, at: 2s}",
        "{do: reset, chance: 31%, after: 1..4 events}",
        "{do: reset, chance: 30%, after: 1..4 events, count: 2}",
        "{do: reset, chance: 30%, after: 1..4 events, scope: 50% of phones}",
        "{do: reset, chance: 30%, after: 1..4 events, id: named}",
        "{do: expire-token, on: stream, chance: 40%, after: 1s..9s}",
        "{do: http-error, on: upload, status: 503, chance: 40%}",
        "{do: http-error, on: upload, status: 500, chance: 40%}",
        "{do: delay, on: link, by: 1ms..90ms}",
        "{do: background, at: 1s..20s, for: 2s, scope: 40% of phones}",
        "{do: background, at: 1s..20s, for: 3s, scope: 40% of phones}",
    ]

    private func planner(_ faults: [String]) throws -> FaultPlanner {
        let text = minimal + "faults:\n" + faults.map { "  - \($0)\n" }.joined()
        return FaultPlanner(specs: try load(text).faults, random: KeyedRandom(seed: 5))
    }

    /// All that the fault of this key does to 3 phones of 40 scans.
    private func decisions(_ planner: FaultPlanner, _ fault: Int) -> [String] {
        var planner = planner
        var decisions: [String] = []
        for device in UInt32(0)..<3 {
            for window in planner.phoneSchedule(device: DeviceNumber(device), group: "phones")
            where window.fault == fault {
                decisions.append("\(window.from) \(window.to)")
            }
            for scan in UInt32(1)...40 {
                for operation in [Talaria.Operation.upload, .stream] {
                    let key = ExchangeKey(
                        device: DeviceNumber(device), scan: ScanNumber(scan), operation: operation, attempt: 1
                    )
                    var observations: [Observation] = []
                    let armed = planner.open(
                        key, by: .sse, group: "phones", at: .zero + .seconds(3), into: &observations)
                    decisions += armed.filter { $0.fault == fault }.map { "\(key) \($0.trigger) \($0.draw)" }
                }
            }
        }
        return decisions
    }

    @Test func `removing any one fault leaves the decisions of every other`() throws {
        let whole = try self.planner(Self.faults)
        let before = Self.faults.indices.map { self.decisions(whole, $0) }
        #expect(Set(before).count == Self.faults.count, "no two faults decide alike")
        #expect(before.allSatisfy { !$0.isEmpty })
        for removed in Self.faults.indices {
            var rest = Self.faults
            rest.remove(at: removed)
            let planner = try self.planner(rest)
            for (now, fault) in Self.faults.indices.filter({ $0 != removed }).enumerated() {
                #expect(
                    self.decisions(planner, now) == before[fault],
                    "\(Self.faults[fault]) without \(Self.faults[removed])")
            }
        }
    }

    @Test func `adding a fault anywhere leaves the decisions of every other`() throws {
        let before = self.decisions(try self.planner([Self.faults[0]]), 0)
        for added in Self.faults.dropFirst() {
            #expect(self.decisions(try self.planner([added, Self.faults[0]]), 1) == before)
            #expect(self.decisions(try self.planner([Self.faults[0], added]), 0) == before)
        }
    }

    @Test func `faults that say the same do not decide the same`() throws {
        let planner = try self.planner([Self.faults[0], Self.faults[0]])
        #expect(self.decisions(planner, 0) != self.decisions(planner, 1))
        let alone = try self.planner([Self.faults[0]])
        #expect(self.decisions(alone, 0) == self.decisions(planner, 0))
    }

    @Test func `a default that is spelled out changes nothing, and the printed id stays the ordinal`() throws
    {
        let short = try self.fault("{do: reset, chance: 30%}")
        let long = try self.fault(
            "{do: reset, on: stream, cut: between-events, side: reply, chance: 30%, at: 0s, count: once, scope: all}"
        )
        #expect(short == long)
        #expect(short.id == "reset-1")
    }

    @Test func `a resolved scenario keeps ids and keys, and an old plan has the key of its id`() throws {
        let text = minimal + "faults:\n" + Self.faults.map { "  - \($0)\n" }.joined()
        let scenario = try loaded(text)
        let again = try loaded(ScenarioWriter.resolved(scenario))
        #expect(again.faults == scenario.faults)
        let old = try self.fault("{do: reset, on: stream, id: reset-1, chance: 30%}")
        #expect(old.key == FaultSpec.key(id: "reset-1"))
    }

    @Test(arguments: ["key: 12", "key: 0x00000000000001", "key: +000000000000001"])
    func `a key that is none is an error`(key: String) {
        let text = minimal + "faults:\n  - {do: reset, \(key)}\n"
        #expect(errors(text).map(\.message) == ["a key must have 16 hexadecimal digits"])
    }

    private func fault(_ text: String) throws -> FaultSpec {
        try #require(try loaded(minimal + "faults:\n  - \(text)\n").faults.first)
    }
}

private func loaded(_ text: String) throws -> Scenario { try load(text) }
