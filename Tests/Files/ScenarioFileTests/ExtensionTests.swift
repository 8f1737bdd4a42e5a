import Foundation
import Plan
import SimBase
import Testing

@testable import ScenarioFile

/// Scenarios that extend others.
struct ExtensionTests {
    private let base = """
        scenario: 1
        name: the-base
        description: What others stand on.
        seed: 5
        fleet:
          a: {phones: 3, arrivals: 2/s, spacing: poisson, network: {up: {delay: 5ms, rate: 1Mbps}}}
          b: {phones: 4, arrivals: 1/s}
        server: {ping: 2s, books: 1..2}
        faults: [{do: reset}, {do: strip-books}]
        slo: {scans.lost: count == 0}

        """

    private func library(_ files: [String: String]) -> ScenarioLibrary {
        ScenarioLibrary(
            find: { name, _ throws(ScenarioLibrary.Missing) in
                guard let text = files[name] else {
                    throw ScenarioLibrary.Missing("no scenario `\(name)`", help: nil)
                }
                return ScenarioLibrary.Found(path: name, identity: name, bytes: Array(text.utf8))
            },
            capture: { _, _ throws(ScenarioLibrary.Missing) in
                throw ScenarioLibrary.Missing("no captured stream", help: nil)
            }, identity: { $0 })
    }

    private func load(
        _ text: String, over files: [String: String], set overrides: [String] = [],
        environment: [String: String] = [:]
    ) throws(ScenarioErrors) -> Scenario {
        try ScenarioLoader.load(
            path: "top.scenario", bytes: Array(text.utf8), overrides: overrides, environment: environment,
            library: library(files))
    }

    private func errors(_ text: String, over files: [String: String], set overrides: [String] = [])
        -> [String]
    {
        do throws(ScenarioErrors) {
            _ = try self.load(text, over: files, set: overrides)
            return []
        } catch {
            return error.diagnostics.map { "\($0.file):\($0.line):\($0.column): \($0.message)" }
        }
    }

    @Test func `what is not said is inherited, but for the name and the description`() throws {
        let scenario = try load("extends: base", over: ["base": base])
        var expected = try ScenarioLoader.load(path: "x", text: base, overrides: [], environment: [:])
        expected.name = "top"
        expected.description = ""
        #expect(scenario == expected)
    }

    @Test func `maps merge to any depth, lists and values replace`() throws {
        let scenario = try load(
            """
            extends: base
            fleet:
              c: {phones: 9, arrivals: 3/s}
              a: {phones: 30, network: {up: {delay: 7ms}}}
            server: {ping: 3s}
            faults: [{do: expire-token}]
            slo: {results.failed: rate < 1%}
            """, over: ["base": base])
        #expect(scenario.groups.map(\.name) == ["a", "b", "c"])
        #expect(scenario.groups.map(\.devices) == [30, 4, 9])
        #expect(
            scenario.groups[0].load == .open(.constant(ArrivalRate(arrivals: 2, per: .seconds(1))), .poisson))
        #expect(scenario.groups[0].network.profile(at: .zero).up.delay == .milliseconds(7))
        #expect(scenario.groups[0].network.profile(at: .zero).up.bitsPerSecond == 1_000_000)
        #expect(scenario.server.ping == .seconds(3) && scenario.server.books == 1...2)
        #expect(scenario.faults.map(\.id) == ["expire-token-1"])
        #expect(scenario.slos.map(\.selector.description) == ["scans.lost", "results.failed"])
    }

    @Test func `a key without a value takes away what was there`() throws {
        let scenario = try load(
            "extends: base\nfleet:\n  a: {arrivals: , spacing: , think: 1s}\n  b:\nfaults:\n",
            over: ["base": base])
        #expect(scenario.groups.map(\.name) == ["a"])
        #expect(
            scenario.groups[0].load
                == .closed(ThinkTime(think: .seconds(1)...(.seconds(1)), start: .zero ... .seconds(1))))
        #expect(scenario.faults.isEmpty)
    }

    @Test func `scenarios stand on scenarios, options on all of them, and variables name them`() throws {
        let files = ["base": base, "middle": "extends: base\nseed: 6\nserver: {ping: 4s}\n"]
        let scenario = try load(
            "extends: ${WHICH:-nothing}\nserver: {books: 3}", over: files,
            set: ["fleet.b.phones=8", "faults.reset-1.at=2s"], environment: ["WHICH": "middle"])
        #expect(scenario.seed == 6 && scenario.server.ping == .seconds(4) && scenario.server.books == 3...3)
        #expect(scenario.groups[1].devices == 8)
        #expect(scenario.faults[0].window.at == .seconds(2))
    }

    @Test func `errors point into the file that they are in`() {
        #expect(
            errors(
                "extends: base\nfleet: {a: {scans: no}}\nslow: {}\n",
                over: ["base": base.replacing("ping: 2s", with: "pong: 2s")])
                == [
                    "top.scenario:2:20: the number of scans must be a whole number",
                    "top.scenario:3:1: unknown key `slow` in a scenario",
                    "base:8:10: unknown key `pong` in a server",
                ])
        #expect(
            errors("extends: base\n", over: ["base": "scenario: 1\nfleet: ["]).first?.hasPrefix(
                "base:2:9: invalid YAML")
                == true)
        // What only the whole can get wrong.
        #expect(
            errors(
                "extends: base\nduration: 5s\n", over: ["base": base],
                set: ["faults.reset-1.at=2h"])
                == [
                    "--set faults.reset-1.at=2h:1:19: the fault starts at 7200 s, after the run has ended (at about 34 s)"
                ])
    }

    @Test func `cycles, depth and what is not there are told where they are written`() {
        #expect(
            errors(
                "seed: 1\nextends: middle\n",
                over: ["middle": "extends: top.scenario\n", "top.scenario": base])
                == ["middle:1:10: a scenario cannot extend itself, directly or indirectly"])
        #expect(
            errors("extends: top.scenario\n", over: ["top.scenario": base])
                == ["top.scenario:1:10: a scenario cannot extend itself, directly or indirectly"])
        var files: [String: String] = [:]
        for step in 0..<20 { files["s\(step)"] = "extends: s\(step + 1)\n" }
        #expect(
            errors("extends: s0\n", over: files) == ["s6:1:10: more than 8 levels of `extends`"])
        #expect(errors("extends: nowhere\n", over: [:]) == ["top.scenario:1:10: no scenario `nowhere`"])
        #expect(
            errors("extends: [base]\n", over: ["base": base]) == [
                "top.scenario:1:10: `extends` must be a single value, not a list"
            ])
        #expect(
            ScenarioFileTests.errors("extends: base\n").map(\.message)
                == ["`extends` is not available for this scenario"])
    }

    @Test func `files are found beside the one that extends them, then by name`() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "extension-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }
        for (name, text) in [
            "here/top.scenario": "extends: near\n", "here/near.scenario": "extends: ../up/base.scenario\n",
            "up/base.scenario": base + "\n", "named/far.scenario": base,
            "here/loop.scenario": "extends: ./loop\n",
        ] {
            let url = root.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        let library = ScenarioLibrary.files(
            current: root.path, folders: [root.path + "/named"],
            read: { FileManager.default.contents(atPath: $0).map { [UInt8]($0) } })
        func messages(_ path: String, _ text: String) -> [String] {
            do throws(ScenarioErrors) {
                _ = try ScenarioLoader.load(
                    path: path, bytes: Array(text.utf8), overrides: [], environment: [:], library: library)
                return []
            } catch {
                return error.diagnostics.map { "\($0.file): \($0.message)" }
            }
        }
        #expect(messages("here/top.scenario", "extends: near\n") == [])
        #expect(messages("here/top.scenario", "extends: far\n") == [])
        #expect(messages("top.scenario", "extends: here/near\n") == [])
        #expect(messages(root.path + "/here/top.scenario", "extends: near.scenario\n") == [])
        #expect(messages("here/top.scenario", "extends: faar\n") == ["here/top.scenario: no scenario `faar`"])
        #expect(
            messages("here/loop.scenario", "extends: ./loop\n")
                == ["here/loop.scenario: a scenario cannot extend itself, directly or indirectly"])
        #expect(
            messages("here/x.scenario", "extends: near\nseeed: 1\n") == [
                "here/x.scenario: unknown key `seeed` in a scenario"
            ])
    }
}
