import Foundation
import Ledger
import Plan
import RunJudge
import SimBase
import Testing

@testable import ScenarioFile

/// What is in `Scenarios/` keeps its promises.
struct ShippedScenarioTests {
    private func scenarios() throws -> [Scenario] {
        let folder = packageFolder + "/Scenarios"
        let library = ScenarioLibrary.files(current: packageFolder, folders: [folder]) { path in
            (try? Data(contentsOf: URL(fileURLWithPath: path))).map { [UInt8]($0) }
        }
        return try ScenarioFinder.all(in: [folder]).map { path in
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            return try ScenarioLoader.load(
                path: path, bytes: bytes, overrides: [], environment: [:], library: library)
        }
    }

    @Test func `every shipped scenario is valid and gives each fault at least ten firings`() throws {
        let scenarios = try scenarios()
        #expect(!scenarios.isEmpty)
        for scenario in scenarios {
            let plan = RunPlan(scenario, target: .embedded)
            #expect(ObjectiveCheck.warnings(scenario, plan.expectedArrivals) == [], "\(scenario.name)")
            let firings = plan.expectedFirings
            for (fault, count) in zip(scenario.faults, firings) {
                #expect(count >= 10, "\(scenario.name): \(fault.id) is expected to fire \(count) times")
            }
        }
    }

    /// Where each invariant has something to judge, and by which times a run shows that it came to it. What
    /// any run with a scan comes to has none.
    private static let reached: [(Invariant, scenario: String, moments: [CoverageGoal])] = [
        (.scanCustody, "torn-writes", [.relaunched]),
        (.scanRefusedForCause, "backend-degraded", [.scanRefused]),
        (.bookNeverLost, "stripped-books", [.resultsFetched]),
        (.bookNeverDoubleAdded, "torn-writes", [.bookRecognized]),
        (.bookFaithful, "steady-load", []),
        (.streamIDMonotone, "network-drops", [.resumed]),
        (.streamNoGap, "hostile-stream", [.resumed, .replayed]),
        (.streamTerminalOnce, "hostile-stream", [.eventIgnored]),
        (.jobCleaned, "network-drops", [.cleanupRepeated]),
        (.jobNotCleanedEarly, "torn-writes", [.cleanupRepeated]),
        (.limitHonoured, "rate-limited", [.limited, .streamLimited, .resultsLimited, .cleanupLimited]),
        (.slotsBounded, "long-jobs", [.slotsFull]),
        (.serverAgrees, "steady-load", []),
        (.scanOrder, "long-jobs", [.slotsFull]),
        (.jobCleanedOnce, "network-drops", [.cleanupRepeated]),
        (.jobEnded, "torn-writes", [.uploadRepeated]),
        (.jobOrphansBounded, "network-drops", [.jobOrphaned]),
        (.jobSilentAfterCleanup, "app-lifecycle", [.suspended]),
        (.streamDeadDetected, "half-open", [.silenceFound]),
        (.streamParseRobust, "network-drops", [.endWithoutTerminal]),
        (.authNoStaleUse, "token-expiry", [.tokenRefused, .restarted]),
        (.authOneExchange, "websocket-tokens", []),
        (.retryBudget, "outage", [.connectRefused]),
        (.deviceNotStuck, "outage", [.pathLost]),
        (.scanSettles, "outage", [.pathLost]),
        (.timersClean, "outage", [.pathLost]),
        (.timeSane, "steady-load", []),
        (.requestOneFate, "network-drops", [.jobOrphaned, .connectRefused]),
        (.linkConserves, "network-drops", [.uploadRepeated]),
        (.memoryBounded, "app-lifecycle", [.storageFull, .scanRefused]),
        (.authNoLeak, "app-lifecycle", [.reinstalled]),
        (.herdBounded, "outage", [.connectRefused, .pathLost]),
        (.othersUnharmed, "outage", [.pathLost]),
        (.requestWellFormed, "app-lifecycle", [.reinstalled]),
        (.rowsConserved, "csv-import", []),
        (.lookupBilledOnce, "batch-enrichment", []),
        (.cancelFinal, "csv-import", []),
        (.bookAnswered, "batch-enrichment", []),
        (.reviewBookAccounted, "review-under-kill", []),
        (.reviewEditKept, "review-under-kill", []),
        (.reviewNoDuplicate, "review-under-kill", []),
        (.bookShown, "progressive-results", []),
        (.textKeptForCause, "text-enrichment", []),
    ]

    @Test func `every invariant is reached by a shipped scenario, which names the moments that show it`()
        throws
    {
        #expect(Set(Self.reached.map(\.0)) == Set(Invariant.allCases.filter { $0.targetRule == nil }))
        let scenarios = try scenarios()
        for (invariant, name, moments) in Self.reached {
            let scenario = try #require(scenarios.first { $0.name == name }, "\(invariant.rawValue)")
            #expect(
                Set(moments.map(\.rawValue)).isSubset(of: scenario.coverageGoals),
                "\(invariant.rawValue): \(name)")
        }
        // No moment is there for nothing.
        #expect(Set(scenarios.flatMap(\.coverageGoals)) == Set(CoverageGoal.allCases.map(\.rawValue)))
    }

    @Test func `flaky-network is 120 scans in about 20 seconds`() throws {
        let flaky = try #require(try scenarios().first { $0.name == "flaky-network" })
        let expectedArrivals = RunPlan(flaky, target: .embedded).expectedArrivals
        #expect(expectedArrivals.scans == 120)
        #expect((15...25).contains(expectedArrivals.lastArrival.nanoseconds / 1_000_000_000))
        #expect(flaky.slos.count == 8)
    }
}
