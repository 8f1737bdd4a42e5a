import Backend
import Faults
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// The contract's phone against other dialects of the backend.
@Suite struct DialectTests {
    private static func run(
        _ dialect: String, groups: [FleetGroup] = [Bench.group()], faults: [FaultSpec] = []
    ) throws -> Bench.Outcome {
        let preset = try #require(BackendConfiguration.preset(dialect))
        return try Bench.run(
            Bench.scenario(groups: groups, faults: faults) { server in
                let own = server.backend
                server.backend = preset
                server.backend.jobTime = own.jobTime
                server.backend.ping = own.ping
                server.backend.rateLimit = nil
            })
    }

    @Test(arguments: ["contract", "live-2026-02", "legacy-openapi"]) func `a phone gets its books, once`(
        dialect: String
    ) throws {
        let run = try Self.run(dialect)
        let totals = run.ledger.totals
        #expect(run.broken == [])
        #expect([totals.scans.captured, totals.scans.completed] == [6, 6])
        #expect(totals.books.expected == totals.books.received && totals.books.duplicated == 0)
        #expect([totals.jobs.accepted, totals.jobs.cleaned] == [6, 6])
    }

    /// What the contract requires of a 202 is missing: `data.sseUrl`, or everything; or the part has another name.
    @Test(arguments: [("bendv3", "data.sseUrl"), ("wingtip", "")]) func `a phone says what it cannot read`(
        dialect: String, path: String
    ) throws {
        let run = try Self.run(dialect)
        let totals = run.ledger.totals
        #expect(run.broken == [])
        #expect(totals.scans.isConserved && totals.scans.lost == 0 && totals.scans.completed == 0)
        #expect(totals.scans.waiting == (path.isEmpty ? 0 : 6))
        #expect(totals.scans.refused == (path.isEmpty ? 6 : 0))
        let found = run.count {
            if case .phone(.found(let finding)) = $0 { finding.path == path } else { false }
        }
        #expect(path.isEmpty || found > 0)
    }

    @Test(arguments: Kinds.all) func `faults fall on the bytes of the live dialect, and nothing is lost`(
        sample: Kinds.Sample
    ) throws {
        var faults = sample.faults
        faults[0].id = sample.name
        let run = try Self.run(
            "live-2026-02",
            groups: [
                Bench.group(
                    devices: 8, scans: 3,
                    load: .open(.constant(ArrivalRate(arrivals: 12, per: .seconds(1))), .uniform))
            ], faults: faults)
        #expect(run.broken == [])
        let scans = run.ledger.totals.scans
        #expect(scans.isConserved && scans.lost == 0)
        #expect(scans.captured == 24)
        let fired = run.count {
            switch $0 {
            case .fault(.fired(fault: 0, _, _)), .fault(.began(fault: 0)): true
            case .fault, .phone, .backend, .network, .control: false
            }
        }
        #expect(fired > 0, "the fault never showed")
    }
}
