import Foundation
import Testing

extension SideBySide {
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
            let found = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(".scenario") }.sorted().map { "Scenarios/\($0)" }
            let fixtures = ["mixed", "journeys"].map {
                "Tests/EndToEndTests/Fixtures/\($0).scenario"
            }
            let scenarios = found + fixtures
            #expect(found.count > 50)
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

        /// Each text, and the position that the validator names.
        private static let refused: [(text: String, place: String)] = [
            ("fleet: {a: {phones: 1, arrivals: 1/s, network: 4g}}", "fleet/a/network"),
            ("fleet: {a: {phones: 1, arrivals: 1/s, network: 17}}", "fleet/a/network"),
            ("fleet: {a: {phones: 1, arrivals: 1/s, network: none}}", "fleet/a/network"),
            (
                "fleet: {a: {phones: 1, arrivals: 1/s, network: [{at: 0s, link: lte}, {at: 9s, link: tunnel}]}}",
                "fleet/a/network/1/link"
            ),
            ("fleet: {a: {phones: 1, arrivals: [1]}}", "fleet/a/arrivals/0"),
            ("fleet: {a: {phones: 1, arrivals: [{rate: 1/s, over: 5s}]}}", "fleet/a/arrivals/0"),
            ("fleet: {a: {phones: 1, arrivals: [{ramp: 1/s, over: 5s}]}}", "fleet/a/arrivals/0/ramp"),
            ("fleet: {a: {phones: 1, arrivals: []}}", "fleet/a/arrivals"),
            ("fleet: {a: {phones: 1, arrivals: 1/s, think: 1s}}", "fleet/a"),
            ("fleet: {a: {phones: 1, arrivals: 1/s, start: 1s}}", "fleet/a"),
            ("fleet: {a: {phones: 1}}", "fleet/a"),
            ("fleet: {a: {arrivals: 1/s}}", "fleet/a"),
            ("fleet: {a: {phones: 0, arrivals: 1/s}}", "fleet/a/phones"),
            ("fleet: {a: {phones: many, arrivals: 1/s}}", "fleet/a/phones"),
            ("fleet: {a: {phones: 1, arrivals: 1/s, profile: contrakt}}", "fleet/a/profile"),
            ("fleet: {a: {phones: 1, arrivals: 1/s, resume: maybe}}", "fleet/a/resume"),
            ("fleet: {a: {phones: 1, arrivals: 1/s, idle-timeout: 5 s}}", "fleet/a/idle-timeout"),
            ("fleet: {all: {phones: 1, arrivals: 1/s}}", "fleet"),
            ("seed: 1", ""),
            ("GROUP\nserver: {ping: 5d}", "server/ping"),
            ("GROUP\nserver: {repeated-cleanup: 405}", "server/repeated-cleanup"),
            ("GROUP\nserver: {dialect: contrakt}", "server/dialect"),
            ("GROUP\nslo: {scan.time: banana}", "slo/scan.time"),
            ("GROUP\nslo: {scan.time: rate < 5%}", "slo/scan.time"),
            ("GROUP\nslo: {scan.time: p(95) < 20}", "slo/scan.time"),
            ("GROUP\nslo: {upload.failed: [rate < 5%, {expect: rate < 5}]}", "slo/upload.failed/1/expect"),
            ("GROUP\nslo: {http_req_duration: p(95) < 1s}", "slo"),
            ("GROUP\nslo: {scan.time: {severity: warn}}", "slo/scan.time"),
            ("GROUP\nexpect-broken: [nothing]", "expect-broken/0"),
            ("GROUP\nsometimes: [nothing]", "sometimes/0"),
            ("GROUP\nfaults: [{do: reste, on: stream}]", "faults/0/do"),
            ("GROUP\nfaults: [{do: reset, on: strem}]", "faults/0/on"),
            ("GROUP\nfaults: [{do: reset, on: stream, afer: 1s}]", "faults/0"),
            ("GROUP\nfaults: [{do: reset, on: stream, after: soon}]", "faults/0/after"),
            ("GROUP\nfaults: [{do: reset, on: stream, chance: 0.3}]", "faults/0/chance"),
            ("GROUP\nfaults: [{do: delay, on: link}]", "faults/0"),
            ("GROUP\nfaults: [{on: stream}]", "faults/0"),
        ]

        private static let group = "fleet: {a: {phones: 1, arrivals: 1/s}}"

        @Test func `what the schema refuses, check refuses as well, and an editor marks its place`()
            async throws
        {
            let scratch = try Scratch()
            let files = try Self.refused.enumerated().map { index, mistake in
                let text = mistake.text.replacing("GROUP", with: Self.group)
                return try scratch.file("\(index).scenario", Data("scenario: 1\n\(text)\n".utf8)).path
            }
            let valid = try await self.validate(files)
            #expect(valid.code == 1 && valid.complaint.isEmpty, "\(valid)")
            let complaints = valid.output.split(separator: "\n")
            for (mistake, file) in zip(Self.refused, files) {
                let lines = complaints.filter { $0.hasPrefix("\(file): ") }
                #expect(!lines.isEmpty, "\(mistake.text)")
                #expect(
                    lines.allSatisfy { $0.hasPrefix("\(file): \(mistake.place): ") },
                    "\(mistake.text): \(lines)")
                let check = try await Binary.run(["check", file])
                #expect(check.code == 65, "\(mistake.text): \(check)")
            }
        }

        /// Forms that a schema could easily refuse.
        private static let taken = [
            "fleet: {a: {phones: '40', arrivals: 1.5/m, scans: '${SCANS:-3}', network: '${LINK:-lte}'}}",
            "fleet: {a: {phones: 1, think: 1s, start: 0s..5s, profile: '${PROFILE:-contract}', resume: true}}",
            "fleet: {7: {phones: 1, arrivals: [{rate: 0/s, for: 1s}, {ramp: 1/s..2/4s, over: 1m}]}}",
            "fleet: {a: {phones: 1, arrivals: 1/s, network: {up: {rate: off, loss: 2%}, dns-delay: 1s}}}",
            "fleet: {a: {phones: 1, arrivals: 1/s, network: [{at: 0s, link: lte}, {at: 9s, link: none, for: 1s}]}}",
            "fleet: {a: {phones: 1, arrivals: 1/s, photos: {paint: 2}, gap-1: off, idle-timeout: auto}}",
            "name: 2024\ndescription:\nseed: 7\nGROUP\nfaults:\nslo:",
            "GROUP\nserver: {repeated-cleanup: 404, retry: off, rate-limit: 10 per 20m, dialect: bendv3}",
            "GROUP\nserver: {circuit-breaker: {failures: 3}, links: 'https://api.example'}",
            "GROUP\nslo: {'scan.time{group:a}': [p(99.9)<20s over 30s, {expect: count > 0, no-data: pass}]}",
            "GROUP\nslo: {http.429: value == 0, job.first_event.time: 'max <= 1m', faults.r: count < 5}\n"
                + "faults: [{do: delay, on: link, id: r, by: 50ms, count: each-attempt, scope: a}]",
            "GROUP\nfaults: [{do: close, side: request, on: upload, after: 4KiB, key: 0123456789ABCDEF, scope: 50%}]",
            "GROUP\nfaults: [{do: reset, cut: {after-bytes: 12}}, {do: reset, cut: after-bytes(12), count: 3}]",
            "GROUP\nexpect-broken: [stream.no-gap, scans.lost, scans.waiting]",
        ]

        @Test func `what check takes, the schema takes`() async throws {
            let scratch = try Scratch()
            let files = try Self.taken.enumerated().map { index, text in
                let text = "scenario: 1\n\(text.replacing("GROUP", with: Self.group))\n"
                return try scratch.file("\(index).scenario", Data(text.utf8)).path
            }
            let base = try scratch.file(
                "base.scenario",
                Data(
                    "scenario: 1\ndrain: 20s\nfleet: {a: {phones: 1, arrivals: 1/s, network: lte}}\n".utf8)
            ).path
            let top = try scratch.file(
                "top.scenario",
                Data(
                    """
                    extends: base.scenario
                    drain:
                    fleet: {a: {scans: 2, network: }}
                    slo: {scan.time: {expect: p(95) < 1m}}
                    """.utf8)
            ).path
            let check = try await Binary.run(["check"] + files + [base, top])
            #expect(check.code == 0, "\(check)")
            #expect(
                try await self.validate(files + [base, top])
                    == Outcome(code: 0, output: "", complaint: ""))
        }

        private func validate(_ scenarios: [String]) async throws -> Outcome {
            let script = Package.tests.appending(path: "Tools/validate.py").path
            return try await Subprocess.run(
                Package.root.appending(path: ".build/venv/bin/python"),
                [script, "Docs/scenario.schema.json"] + scenarios)
        }
    }
}
