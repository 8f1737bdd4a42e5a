import Foundation
import Testing

extension EndToEnd {
    /// What editors and readers get of the scenario format.
    @Suite struct SchemaTests {
        @Test func `the committed pages are the ones that the program makes`() async throws {
            for (arguments, file) in [
                (["schema", "--faults"], "Docs/faults.md"), (["schema"], "Docs/scenario.schema.json"),
                (["schema", "--openapi"], "Docs/talaria-openapi.yaml"),
                (["schema", "--scenario"], "Docs/manual/scenario.md"),
                (["schema", "--metrics"], "Docs/manual/metrics.md"),
                (["schema", "--links"], "Docs/manual/links.md"),
                (["schema", "--invariants"], "Docs/manual/invariants.md"),
            ] {
                let made = try await Binary.run(arguments)
                let committed = try String(
                    contentsOf: Package.root.appending(path: file), encoding: .utf8)
                #expect(made.code == 0)
                #expect(made.output == committed, "`make docs` writes \(file) again")
            }
        }

        @Test func `a published validator takes every scenario, and not a broken one`() async throws {
            let folder = Package.root.appending(path: "Scenarios")
            let scenarios = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(".scenario") }.sorted().map { "Scenarios/\($0)" }
            #expect(!scenarios.isEmpty)
            let good = try await self.validate(scenarios)
            #expect(good == Outcome(code: 0, output: "", complaint: ""))

            let scratch = try Scratch()
            let text = try String(
                contentsOf: folder.appending(path: "flaky-network.scenario"), encoding: .utf8)
            let broken = try scratch.file(
                "broken.scenario", Data(text.replacing("arrivals:", with: "arivals:").utf8))
            let bad = try await self.validate([broken.path])
            #expect(bad.code == 1 && bad.output.contains("'arivals' was unexpected"))
        }

        private func validate(_ scenarios: [String]) async throws -> Outcome {
            let script = Package.tests.appending(path: "Tools/validate.py").path
            return try await Subprocess.run(
                Package.root.appending(path: ".build/venv/bin/python"),
                [script, "Docs/scenario.schema.json"] + scenarios)
        }
    }
}

extension SideBySide {
    /// The page for the developers of the app, made from runs.
    @Suite struct AppPageTests {
        @Test func `the page of the app at HEAD is made from runs`() async throws {
            let made = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                [
                    "python3", Package.root.appending(path: "Tests/Quirks/page.py").path, "--binary",
                    Binary.path.path,
                ],
                seconds: 300)
            let committed = try String(
                contentsOf: Package.root.appending(path: "Docs/swiftwing-head.md"), encoding: .utf8)
            #expect(made.code == 0, "\(made.complaint)")
            #expect(made.output == committed, "`make docs` writes Docs/swiftwing-head.md again")
        }
    }
}
