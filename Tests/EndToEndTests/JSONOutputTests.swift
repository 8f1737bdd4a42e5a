import Foundation
import Testing

extension SideBySide {
    /// What `--json` prints, read by Python's parser.
    @Suite struct JSONOutputTests {
        /// The document as an object, and its keys in the order in which Python sorts them.
        private static func document(
            _ words: [String], code: Int32 = 0, complaint: String? = ""
        ) async throws -> [String: Any] {
            let outcome = try await Binary.run(words + ["--json"])
            #expect(outcome.code == code, "\(words): \(outcome)")
            if let complaint { #expect(outcome.complaint == complaint, "\(words)") }
            // One document and nothing else, without a key that comes twice.
            let script = """
                import json, sys
                def pairs(items):
                    assert len(items) == len(dict(items)), items
                    return dict(items)
                json.dump(json.load(sys.stdin, object_pairs_hook=pairs), sys.stdout)
                """
            let parsed = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", "-c", script], input: Data(outcome.output.utf8))
            try #require(parsed.code == 0, "\(words): \(parsed.complaint)")
            let object = try JSONSerialization.jsonObject(with: Data(parsed.output.utf8))
            let members = try #require(object as? [String: Any])
            #expect(members["schema"] as? Int == 1, "\(words)")
            return members
        }

        private static func objects(_ value: Any?) throws -> [[String: Any]] {
            try #require(value as? [[String: Any]])
        }

        @Test func `scenarios, machines and clients are told to programs`() async throws {
            let list = try Self.objects(try await Self.document(["list"])["scenarios"])
            let flaky = try #require(list.first { $0["name"] as? String == "flaky-network" })
            #expect(flaky["path"] as? String == "Scenarios/flaky-network.scenario")
            #expect(flaky["valid"] as? Bool == true && flaky["hidden"] as? Bool == false)
            let doctor = try await Self.document(["doctor"])
            #expect((doctor["phones"] as? Int ?? 0) > 0 && (doctor["memory_bytes"] as? Int ?? 0) > 1 << 20)
            #expect((doctor["libraries"] as? [String: String])?["libcurl"]?.hasPrefix("libcurl/") == true)
            let plan = try await Self.document(["plan", "steady-load"])
            #expect(plan["name"] as? String == "steady-load" && plan["drain_ms"] is Int)
            let shards = try await Self.document(["plan", "steady-load", "--shards", "2"])
            #expect(shards["shards"] as? Int == 2)
            let profiles = try await Self.document(["profiles"])
            #expect(try Self.objects(profiles["profiles"]).first?["name"] as? String == "contract")
            let one = try await Self.document(["profiles", "swiftwing-head"])
            #expect(try !Self.objects(one["values"]).isEmpty && !Self.objects(one["toggles"]).isEmpty)
            let two = try await Self.document(["profiles", "contract", "swiftwing-head"])
            let differences = try Self.objects(two["differences"])
            #expect(
                !differences.isEmpty && differences.allSatisfy { $0["from"] != nil && $0["to"] != nil })
        }

        @Test func `check lists every scenario, and more errors than the text shows`() async throws {
            let scratch = try Scratch()
            let keys = (0..<60).map { "key-\($0): 1\n" }.joined()
            let file = try scratch.file(
                "wrong.scenario",
                Data("scenario: 1\n\(keys)fleet: {a: {phones: 1, arrivals: 1/s}}\n".utf8)
            ).path
            let document = try await Self.document(["check", file, "flaky-network"], code: 65)
            let scenarios = try Self.objects(document["scenarios"])
            #expect(scenarios.map { $0["valid"] as? Bool } == [false, true])
            let errors = try Self.objects(scenarios[0]["errors"])
            #expect(errors.count == 60 && scenarios[0]["errors_left_out"] as? Int == 0)
            #expect(errors.map { $0["line"] as? Int } == Array(2..<62))
            #expect(errors[0]["message"] as? String == "unknown key `key-0` in a scenario")
            let text = try await Binary.run(["check", file]).output
            #expect(text.hasSuffix("\n\nand 40 more\n"), "\(text)")
            let lines = try await Binary.run(["check", "--format", "json", file])
            #expect(lines.output.split(separator: "\n").count == 60 && lines.complaint == "")
            let many = (0..<1_010).map { "key-\($0): 1\n" }.joined()
            try Data("scenario: 1\n\(many)".utf8).write(to: URL(filePath: file))
            let left = try Self.objects(try await Self.document(["check", file], code: 65)["scenarios"])
            #expect(left[0]["errors_left_out"] as? Int == 11)
            let both = try await Binary.run(["check", "--json", "--format", "json", file])
            #expect(both.code == 64 && both.output == "")
        }

        @Test func `runs are told to programs`() async throws {
            let scratch = try Scratch()
            func run(_ name: String, _ more: [String] = []) async throws -> String {
                let folder = scratch.folder.appending(path: name).path
                _ = try await Binary.run(
                    ["simulate", "flaky-network", "--quiet", "--phones", "20", "--output", folder] + more)
                return folder
            }
            let base = try await run("a")
            let new = try await run("b", ["--set", "fleet.commuters.resume=off", "--tag", "build=7"])
            let compared = try await Self.document(["compare", base, new], code: 99)
            #expect(compared["regression"] as? Bool == true && compared["verdict"] as? String == "WORSE")
            let invariants = try Self.objects(compared["invariants"])
            let gap = try #require(invariants.first { $0["id"] as? String == "stream.no-gap" })
            #expect(gap["base_violations"] as? Int == 0 && gap["change"] as? String == "worse")
            let latencies = try Self.objects(compared["latencies"])
            let scan = try #require(latencies.first { $0["metric"] as? String == "scan.time" })
            #expect((scan["new"] as? [String: Any])?["unit"] as? String == "ms")
            let trend = try Self.objects(try await Self.document(["trend", base, new])["runs"])
            #expect(trend.map { $0["folder"] as? String } == [base, new])
            #expect(trend[1]["tags"] as? [String: String] == ["build": "7"])
            let phones = try await Self.document(["inspect", new])
            let worst = try Self.objects(phones["phones"])
            #expect(phones["count"] as? Int == worst.count && worst[0]["slowest_scan_ms"] is Double)
            let device = try #require(worst[0]["device"] as? Int)
            let events = try Self.objects(
                try await Self.document(["inspect", new, "--phone", "\(device)"])["events"])
            #expect(events.allSatisfy { $0["device"] as? Int == device && $0["what"] is String })
            // A phone with problems has these without --trace, between the others.
            #expect(events.contains { $0["kind"] as? String == "progress" })
            let times = events.compactMap { $0["t"] as? Int }
            #expect(times == times.sorted() && times.count == events.count)
            let story = try await Self.document(["inspect", new, "--phone", "\(device)", "--scan", "1"])
            let lines = try Self.objects(story["lines"])
            #expect(lines.contains { ($0["text"] as? String)?.hasPrefix("photo taken") == true })
            let slow = try await Self.document(["inspect", new, "--slower-than", "1s"])
            let scans = try Self.objects(slow["scans"])
            #expect(slow["count"] as? Int == scans.count && scans[0]["finished"] as? Bool == true)
            let hung = try await Self.document(["inspect", base, "--hung"])
            #expect(hung["count"] as? Int == 0)
        }
    }
}
