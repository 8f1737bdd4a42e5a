import Faults
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// Runs of every journey, with what both sides found in them.
@Suite struct V2FindingRunTests {
    private static func scenario(_ faults: [FaultSpec] = []) -> Scenario {
        let groups = Journey.allCases.map { journey in
            var group = Bench.group(journey.rawValue, devices: 4, scans: 3) { profile in
                profile.journey = journey
                profile.upload.photos = journey.hasPhotos ? 1...3 : 1...1
            }
            if journey == .csvImport { group.library = LibraryFiles() }
            return group
        }
        return Bench.scenario(groups: groups, faults: faults)
    }

    private static func findings(_ run: Bench.Outcome) -> [String] {
        run.observations.compactMap { observation in
            switch observation.what {
            case .phone(.found(let finding)), .backend(.found(let finding)):
                "\(finding.operation.name) \(finding.part) \(finding.path): \(finding.seen)"
            default: nil
            }
        }
    }

    @Test func `nothing is found while nothing fails`() throws {
        let run = try Bench.run(Self.scenario())
        #expect(run.broken == [])
        #expect(run.ledger.totals.scans.completed == 12 * Journey.allCases.count)
        #expect(Self.findings(run) == [])
    }

    @Test func `nothing is found where a job is polled, and given up`() throws {
        var scenario = Self.scenario([
            Bench.fault(.retryableError(code: "NETWORK_ERROR"), on: .stream, after: .afterEvents(1...1))
        ])
        for index in scenario.groups.indices where index % 2 == 0 {
            scenario.groups[index].profile.status.polling = .afterLoss
        }
        let run = try Bench.run(scenario)
        #expect(run.broken == [])
        #expect(Self.findings(run) == [])
    }

    @Test func `what a fault makes of an answer is found, and nothing else`() throws {
        let run = try Bench.run(Self.scenario([Bench.fault(.unknownEvent(nil), on: .stream)]))
        #expect(run.broken == [])
        let findings = Set(Self.findings(run))
        #expect(!findings.isEmpty && findings.allSatisfy { $0.hasPrefix("stream event event: ") })
    }
}
