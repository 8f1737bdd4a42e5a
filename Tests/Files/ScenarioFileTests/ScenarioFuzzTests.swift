import Foundation
import Plan
import SimBase
import SimTestSupport
import Testing

@testable import ScenarioFile

/// Damaged scenarios. Each is read or refused soon, with errors whose positions are in the file; what is read
/// can be written, and is then read the same.
struct ScenarioFuzzTests {
    private static let words = [
        "{", "}", "[", "]", ": ", "- ", "\n  ", "\n    ", "#", "'", "&a ", "*a", "!x ", "|", ">", "---\n",
        "...\n",
        "${", "${A:-", "%", "@", "`", "..", "/", "s", "ms", "\u{85}", "~", "on", "? ", "<<: ", "each-attempt",
        "fleet:",
        "faults:", "slo:", "server:", "extends:", "p(95)", "after-bytes(", "burst(", "1000000", "0s", "0%",
        "100%",
        "168h", "1/h", "lognormal(1s, 2s)", "1..2", "128KiB", "10 per 20m", "inside-event",
        "{do: reset, on: stream}",
        "9223372036s", "1e9s", "18446744073709551615",
    ]

    private static func scenario(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: packageFolder + "/Scenarios/" + name)))
    }

    @Test func `a scenario of any bytes is read, or refused with locations in the file`() throws {
        let mutator = Mutator(
            corpus: [try Self.scenario("flaky-network.scenario"), Array(minimal.utf8)], dictionary: Self.words
        )
        var (valid, cases) = (0, 0)
        Fuzz.run("scenarios", quick: 2_000, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = mutator.input(fuzz)
            cases += 1
            do throws(ScenarioErrors) {
                let scenario = try ScenarioLoader.load(
                    path: "x.scenario", bytes: bytes, overrides: [], environment: [:])
                valid += 1
                try Self.checkAccepted(scenario)
            } catch {
                try Self.check(error, of: bytes)
            }
        }
        #expect(
            cases < 100 || (cases / 30..<cases).contains(valid),
            "damage that always breaks tests only the errors")
    }

    private static func checkAccepted(_ scenario: Scenario) throws(ScenarioErrors) {
        let again = try ScenarioLoader.load(
            path: "x.scenario", text: ScenarioWriter.resolved(scenario), overrides: [], environment: [:])
        #expect(again == scenario)
        var arrivals = RunPlan(scenario, target: .embedded).arrivals
        #expect(arrivals.next() != nil || scenario.duration != nil)
    }

    private static func check(_ errors: ScenarioErrors, of bytes: [UInt8]) throws {
        try #require(!errors.diagnostics.isEmpty && errors.diagnostics.count <= ScenarioErrors.listedMax)
        let text = String(
            decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes,
            as: UTF8.self)
        let source = SourceText(name: "", isOption: false, text: text)
        for diagnostic in errors.diagnostics where diagnostic.file == "x.scenario" {
            try #require((1...source.linesCount).contains(diagnostic.line), "\(diagnostic)")
            try #require(
                (1...source.line(diagnostic.line).count + 1).contains(diagnostic.column), "\(diagnostic)")
            let shown = diagnostic.sourceLine.unicodeScalars.count
            try #require(diagnostic.caretOffset >= 0 && diagnostic.caretLength >= 1, "\(diagnostic)")
            try #require(diagnostic.caretOffset + diagnostic.caretLength <= shown + 1, "\(diagnostic)")
        }
        try #require(
            !errors.render(color: false).unicodeScalars.contains {
                $0.value < 0x20 && $0 != "\n" && $0 != "\t"
            })
    }

    @Test func `overrides of any text are applied or refused`() throws {
        let options = Mutator(
            corpus: [
                "seed=7", "server.ping=1s", "fleet.phones.phones=80", "faults.reset-1.chance=30%",
                "slo.sse.connect.time=p(95) < 400ms", "faults=[{do: reset, on: stream, after: 1 events}]",
            ].map { Array($0.utf8) }, dictionary: Self.words + [".", "=", "fleet.", "phones", "seed"])
        Fuzz.run("overrides", quick: 2_000, report: { Issue.record("\($0)") }) { fuzz in
            let option = String(decoding: options.input(fuzz), as: UTF8.self)
            let other = FuzzCase(seed: fuzz.random.seed &+ 1, number: fuzz.number)
            do throws(ScenarioErrors) {
                let scenario = try ScenarioLoader.load(
                    path: "x.scenario", text: minimal,
                    overrides: [option, String(decoding: options.input(other), as: UTF8.self)],
                    environment: ["A": option])
                try Self.checkAccepted(scenario)
            } catch {
                try Self.check(error, of: Array(minimal.utf8))
            }
        }
    }
}
