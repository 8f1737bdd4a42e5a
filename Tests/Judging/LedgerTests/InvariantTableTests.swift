import Foundation
import Ledger
import SimTestSupport
import Testing

/// The table of the invariants: what breaks each, what does not, how far its excuses reach, and which shipped scenario comes
/// to it. Every cell is run here; the page `Docs/invariants.md` is made from those that were.
@Suite struct InvariantTableTests {
    private static func row(of invariant: Invariant) throws -> InvariantRow {
        let rows = [invariant.rowOfTheLedger, invariant.rowOfTheSimulation].compactMap(\.self)
        try #require(rows.count == 1, "\(invariant.rawValue) has \(rows.count) rows")
        return rows[0]
    }

    @Test(arguments: Invariant.ofPhones)
    func `an invariant has a history that breaks it, and nothing else, and one that does not`(
        invariant: Invariant
    ) throws {
        let row = try Self.row(of: invariant)
        let broken = row.broken.broken(judging: invariant)
        #expect(Set(broken) == Set([invariant] + row.besides), "\(row.broken.name)")
        #expect(row.kept.broken(judging: invariant) == [], "\(row.kept.name)")
    }

    @Test(arguments: Invariant.ofPhones)
    func `an excuse has a history just inside and one just outside`(invariant: Invariant) throws {
        for excuse in try Self.row(of: invariant).excuses {
            #expect(excuse.inside.broken(judging: invariant) == [], "\(excuse.name): \(excuse.inside.name)")
            #expect(
                excuse.outside.broken(judging: invariant).contains(invariant),
                "\(excuse.name): \(excuse.outside.name)")
        }
    }

    @Test(arguments: Accident.allCases)
    func `an accident of an earlier scan breaks nothing, and excuses nothing of a later one`(
        accident: Accident
    ) throws {
        let earlier = accident.history
        for invariant in Invariant.ofPhones {
            let row = try Self.row(of: invariant)
            #expect(
                row.broken.broken(judging: invariant, after: earlier).contains(invariant),
                "\(invariant.rawValue): \(row.broken.name), after a \(accident.rawValue)")
            #expect(
                row.kept.broken(judging: invariant, after: earlier) == [],
                "\(invariant.rawValue): \(row.kept.name), after a \(accident.rawValue)")
        }
    }

    @Test func `a shipped scenario comes to what each invariant speaks of`() throws {
        var invariants: [ShippedScenario: [Invariant]] = [:]
        for invariant in Invariant.ofPhones {
            invariants[try Self.row(of: invariant).scenario, default: []].append(invariant)
        }
        for (scenario, invariants) in invariants {
            let subjects = try scenario.run(upTo: invariants)
            for invariant in invariants where subjects.count(of: invariant) == 0 {
                Issue.record("\(scenario.command) never comes to \(invariant.rawValue)")
            }
        }
    }

    @Test func `the page of the invariants is made from the table`() throws {
        let page = try InvariantPage.text { try Self.row(of: $0) }
        let file = Checkout.root.appending(path: "Docs/invariants.md")
        if ProcessInfo.processInfo.environment["SWIFTWING_SIM_REGOLD"] == "1" {
            try page.write(to: file, atomically: true, encoding: .utf8)
        }
        let written = try? String(contentsOf: file, encoding: .utf8)
        #expect(page == written, "Docs/invariants.md differs; SWIFTWING_SIM_REGOLD=1 writes it anew")
    }
}

/// `Docs/invariants.md`.
enum InvariantPage {
    static func text(_ row: (Invariant) throws -> InvariantRow) rethrows -> String {
        var text = """
            # Invariants

            An invariant holds for every phone and in every run, whatever fails. \(Invariant.everywhere.count) invariants are judged in every run
            against the simulated backend, \(Self.withTarget) of them also with `--target`. The others are judged in the virtual world only.

            Each cell below is a history that the ledger, or the invariants of the virtual world, have judged:
            `InvariantTableTests` runs them and generates this page. A past accident is no exception for a later scan: the test
            judges each first line also after a \(Accident.list).

            Each exception has a history just outside of it, which violates the invariant, and one just inside. In the scenario that
            is named, the virtual world reaches the situation of the invariant.

            \(Self.withBackend) need the view of the backend: a run with `--target` reports them as n/a (`Invariant.needsBackend`).
            The invariants of a target, `target.*`, are judged by its trial, in a live run with `--target` only
            (`TargetTrial`, `TargetTrialTests`). `Ledger/PhoneAccount` (`PhoneAccount+*.swift`) judges the invariants of every run,
            `Ledger/PhoneChecks.swift` those of the virtual world.

            """
        for invariant in Invariant.ofPhones {
            let row = try row(invariant)
            text += """

                ## \(invariant.rawValue)

                \(Self.sentence(invariant.statement)) \(Self.when(invariant))

                | exception | violates it | does not |
                |---|---|---|
                | none | \(Self.cell(row.broken, invariant)) | \(Self.cell(row.kept, invariant)) |

                """
            for excuse in row.excuses {
                let cells = [excuse.outside, excuse.inside].map { Self.cell($0, invariant) }
                text += "| \(excuse.name) | \(cells[0]) | \(cells[1]) |\n"
            }
            text += "\nScenario: `\(row.scenario.command)`\n"
        }
        return text
    }

    /// The history's name, and what it breaks besides.
    private static func cell(_ example: Example, _ invariant: Invariant) -> String {
        let besides = example.broken(judging: invariant).filter { $0 != invariant }.map(\.rawValue)
        return besides.isEmpty ? example.name : "\(example.name) (and \(besides.joined(separator: ", ")))"
    }

    private static var withTarget: Int { Invariant.everywhere.count { !$0.needsBackend } }

    /// The invariants of every run that need the backend.
    private static var withBackend: String {
        let names = Invariant.everywhere.filter(\.needsBackend).map { "`\($0.rawValue)`" }
        return "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")"
    }

    private static func when(_ invariant: Invariant) -> String {
        let runs =
            if !Invariant.everywhere.contains(invariant) {
                "in the virtual world"
            } else if invariant.needsBackend {
                "in every run against the simulated backend"
            } else {
                "in every run, also with `--target`"
            }
        switch invariant.kind {
        case .always: return "Judged \(runs), after each observation."
        case .eventually: return "Judged \(runs), within a bounded time."
        case .finally: return "Judged \(runs), at its end."
        }
    }

    private static func sentence(_ words: String) -> String {
        words.prefix(1).uppercased() + words.dropFirst() + "."
    }
}
