import Foundation
import Testing

extension SideBySide {
    /// A run in shards: what is put together is what one process finds.
    @Suite struct ShardTests {
        /// Without faults and with many, phones of v2, closed groups and other clients than the contract's.
        private static let scenarios: [[String]] = [
            ["flaky-network"], ["steady-load"], ["v2-under-fire"],
            ["head-on-flaky-network"], ["segmented-shelves"], ["sudden-kills"],
            // With objectives for windows of the run, also such in which something stays open, and for the time after a fault.
            [
                "flaky-network", "--set",
                "slo={scan.time: p(90) < 4s over 5s, upload.time: max < 2s over 500ms, http.202: count >= 1 over 2s, sse.connect.time: p(90) < 300ms within 3s of offline-1.end}",
            ],
        ]

        private static func simulate(_ arguments: [String], to folder: URL) async throws -> Outcome {
            try await Subprocess.run(
                Binary.path,
                ["simulate"] + arguments + ["--output", folder.path, "--quiet", "--no-color"], seconds: 200)
        }

        private static func merge(_ shards: [URL], to folder: URL) async throws -> Outcome {
            try await Subprocess.run(
                Binary.path, ["report"] + shards.map(\.path) + ["--output", folder.path, "--no-color"],
                seconds: 100)
        }

        /// The summary without what one process alone can know: what it used, when it started, the open streams, and notes on how
        /// it came about.
        private static func summary(_ folder: URL) throws -> String {
            let data = try Data(contentsOf: folder.appending(path: "summary.json"))
            var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            for key in ["resources", "started", "gauges"] { object[key] = nil }
            // A scan that had not ended is as old as its own shard.
            let unfinished = (object["slow_scans"] as? [String: Any])?["unfinished"] as? Int ?? 0
            if unfinished > 0 { object["slow_scans"] = nil }
            object["notes"] = (object["notes"] as? [String])?.filter {
                !$0.hasPrefix("digest ") && !$0.hasPrefix("merged from ")
            }
            let bytes = try JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .prettyPrinted])
            return String(decoding: bytes, as: UTF8.self)
        }

        private static func difference(_ one: String, _ other: String) -> String {
            zip(one.split(separator: "\n"), other.split(separator: "\n")).filter { $0 != $1 }.prefix(12)
                .map { "\($0) | \($1)" }.joined(separator: "\n")
        }

        @Test(arguments: scenarios) func `shards of any number are the run of one process`(
            arguments: [String]
        ) async throws {
            let scratch = try Scratch()
            let whole = scratch.folder.appending(path: "whole")
            let code = try await Self.simulate(arguments, to: whole).code
            let expected = try Self.summary(whole)
            for count in arguments == ["flaky-network"] ? [1, 2, 4, 7] : [4] {
                var shards: [URL] = []
                for index in 0..<count {
                    let shard = scratch.folder.appending(path: "\(index)-of-\(count)")
                    _ = try await Self.simulate(arguments + ["--shard", "\(index)/\(count)"], to: shard)
                    // The merge needs neither the log nor, but for objectives of parts of a run, the series.
                    try FileManager.default.removeItem(at: shard.appending(path: "events.ndjson"))
                    shards.append(shard)
                }
                guard count > 1 else {
                    let only = try Self.summary(shards[0])
                    #expect(only == expected, "\(Self.difference(only, expected))")
                    continue
                }
                let merged = scratch.folder.appending(path: "merged-\(count)")
                let outcome = try await Self.merge(shards.reversed(), to: merged)
                #expect(outcome.code == code, "\(outcome)")
                let found = try Self.summary(merged)
                #expect(found == expected, "\(count) shards:\n\(Self.difference(found, expected))")
            }
        }

        @Test func `a shard that is missing is named, and nothing is said of its phones`() async throws {
            let scratch = try Scratch()
            var shards: [URL] = []
            for index in [0, 2, 3] {
                shards.append(scratch.folder.appending(path: "\(index)"))
                _ = try await Self.simulate(
                    ["flaky-network", "--phones", "12", "--shard", "\(index)/4"],
                    to: shards[shards.count - 1])
            }
            let merged = scratch.folder.appending(path: "merged")
            let outcome = try await Self.merge(shards, to: merged)
            #expect(outcome.code == 98, "\(outcome)")
            #expect(outcome.output.contains("shard 1/4 is missing"), "\(outcome.output)")
            let report = RunReport(folder: merged)
            let summary = try report.summary()
            #expect(summary.scans.captured == 27 && summary.scans.completed == 27, "\(summary.scans)")
            #expect(summary.invariants.allSatisfy { $0.violations == .notAvailable }, "\(summary.invariants)")
            // The only shard that left a folder is not a whole run.
            let alone = try await Self.merge([shards[0]], to: scratch.folder.appending(path: "alone"))
            #expect(alone.code == 98 && alone.output.contains("shard 1/4 is missing"), "\(alone)")
        }

        @Test func `shards of different runs are refused`() async throws {
            let scratch = try Scratch()
            func shard(_ name: String, _ words: [String]) async throws -> URL {
                let folder = scratch.folder.appending(path: name)
                _ = try await Self.simulate(["flaky-network", "--phones", "8"] + words, to: folder)
                return folder
            }
            let first = try await shard("first", ["--shard", "0/2"])
            let others: [(String, [String], String)] = [
                ("seed", ["--shard", "1/2", "--seed", "7"], "they differ in the seed"),
                (
                    "scenario", ["--shard", "1/2", "--set", "fleet.commuters.scans=2"],
                    "they differ in the scenario"
                ),
                ("number", ["--shard", "1/3"], "they differ in the number of shards"),
                ("settle", ["--shard", "1/2", "--settle", "1m"], "they differ in --settle or --ties"),
                ("ties", ["--shard", "1/2", "--ties", "shuffled"], "they differ in --settle or --ties"),
                ("twin", ["--shard", "0/2"], "are both shard 0/2 of the run"),
                ("whole", [], "is not a shard of a run"),
            ]
            for (name, words, complaint) in others {
                let other = try await shard(name, words)
                let outcome = try await Self.merge(
                    [first, other], to: scratch.folder.appending(path: "merged"))
                #expect(outcome.code == 65 && outcome.complaint.contains(complaint), "\(name): \(outcome)")
            }
            let second = try await shard("second", ["--shard", "1/2"])
            let head = second.appending(path: "run.json")
            let text = try String(contentsOf: head, encoding: .utf8)
            try text.replacing("swiftwing-sim 0", with: "swiftwing-sim 9").write(
                to: head, atomically: true, encoding: .utf8)
            let older = try await Self.merge([first, second], to: scratch.folder.appending(path: "merged"))
            #expect(
                older.code == 65 && older.complaint.contains("they differ in the version of the program"),
                "\(older)")
        }

        /// Two shards of a run in which phones of the first one skip events.
        private static func broken(_ scratch: Scratch, _ more: [String] = []) async throws -> [URL] {
            var shards: [URL] = []
            for index in 0..<2 {
                shards.append(scratch.folder.appending(path: "run/shards/\(index)-of-2"))
                _ = try await Self.simulate(
                    [
                        "flaky-network", "--phones", "12", "--set", "fleet.commuters.gap-5=on", "--shard",
                        "\(index)/2",
                    ] + more, to: shards[index])
            }
            return shards
        }

        @Test(arguments: ["evidence.ndjson", "summary.json", "scenario.resolved", "run.json"])
        func `a damaged file costs a shard its verdict, and nothing of what is left`(name: String)
            async throws
        {
            let scratch = try Scratch()
            let shards = try await Self.broken(scratch)
            let merged = scratch.folder.appending(path: "merged")
            let whole = try await Self.merge(shards, to: merged)
            #expect(whole.code == 97, "\(whole)")
            let all = try RunReport(folder: merged).summary()
            let file = shards[1].appending(path: name)
            if name == "scenario.resolved" {
                try FileManager.default.removeItem(at: file)
            } else {
                try Data(contentsOf: file).dropLast(20).write(to: file)
            }
            let outcome = try await Self.merge(shards, to: merged)
            #expect(outcome.code == 97, "\(outcome)")
            let text =
                [
                    "evidence.ndjson": "shard 1/2 left no whole evidence.ndjson: the verdict on its phones",
                    "summary.json": "shard 1/2 left a damaged summary.json: the verdict on its phones",
                    "scenario.resolved": "shard 1/2 left no scenario.resolved: the verdict on its phones",
                    "run.json": "1-of-2/run.json is missing or damaged: its shard is left out",
                ][name] ?? ""
            let complaints = try RunReport(folder: merged).text("summary.json")
            #expect(complaints.contains(text), "\(outcome.output)")
            let rest = try RunReport(folder: merged).summary()
            let captured = name == "run.json" ? all.scans.captured / 2 : all.scans.captured
            #expect(rest.scans.captured == captured, "\(rest.scans)")
            // Also from the folder of the run, which contains something else.
            let run = scratch.folder.appending(path: "run")
            try Data().write(to: run.appending(path: "shards/notes.txt"))
            let again = try await Binary.run(["report", run.path, "--no-color"])
            #expect(again.code == 97 && again.output.contains("phones of the fleet are missing"), "\(again)")
        }

        @Test func `a report that cannot be written costs no verdict`() async throws {
            let scratch = try Scratch()
            let shards = try await Self.broken(scratch)
            let merged = scratch.folder.appending(path: "merged")
            let words = (["report"] + shards.map(\.path) + ["--output", merged.path]).joined(separator: " ")
            // The page is larger.
            let outcome = try await Subprocess.run(
                URL(filePath: "/bin/bash"), ["-c", "ulimit -f 40; \(Binary.path.path) \(words)"], seconds: 60)
            #expect(outcome.code == 97, "\(outcome)")
            #expect(outcome.complaint.contains("cannot write to \(merged.path)"), "\(outcome.complaint)")
            #expect(outcome.output.contains("stream.no-gap"), "\(outcome.output)")
            #expect(try RunReport(folder: merged).text("summary.json").contains("cannot write to"))
        }

        @Test func `the folder of a merge is that of a run`() async throws {
            let scratch = try Scratch()
            let whole = scratch.folder.appending(path: "whole")
            let words = ["flaky-network", "--phones", "12"]
            _ = try await Self.simulate(words, to: whole)
            // As a run in several processes leaves it.
            let merged = scratch.folder.appending(path: "merged")
            var shards: [URL] = []
            for index in 0..<3 {
                shards.append(merged.appending(path: "shards/\(index)-of-3"))
                _ = try await Self.simulate(words + ["--shard", "\(index)/3"], to: shards[index])
            }
            #expect(try await Self.merge(shards, to: merged).code == 0)
            let compared = try await Binary.run(["compare", whole.path, merged.path, "--no-color"])
            #expect(compared.code == 0 && compared.output.contains("NO REGRESSION"), "\(compared)")
            #expect(!compared.output.contains("simulated runs are reproducible"), "\(compared.output)")
            let trend = try await Binary.run(["trend", whole.path, merged.path, "--no-color"])
            #expect(trend.code == 0 && trend.output.contains("2 runs"), "\(trend)")
            for words in [
                ["--phone", "7"], ["--phone", "7", "--scan", "1"], [], ["--slower-than", "4s"],
            ] {
                let (one, all) = (
                    try await Binary.run(["inspect", whole.path] + words),
                    try await Binary.run(["inspect", merged.path] + words)
                )
                // Each shard's backend counts its own connections.
                let texts = [one, all].map { $0.output.replacing(#/connection=[0-9]+/#, with: "") }
                #expect(all.code == 0 && texts[0] == texts[1], "\(words): \(all)")
            }
            // Also without the shards: the evidence is read instead of their logs.
            let alone = scratch.folder.appending(path: "alone")
            #expect(try await Self.merge(shards, to: alone).code == 0)
            let page = try RunReport(folder: alone).text("report.md")
            let again = try await Binary.run(["report", alone.path, "--no-color"])
            #expect(again.code == 0 && again.output.contains("Reproduce with"), "\(again)")
            #expect(try RunReport(folder: alone).text("report.md") == page)
            let story = try await Binary.run(["inspect", alone.path, "--phone", "7"])
            #expect(story.code == 65 && story.complaint.contains("has no events.ndjson"), "\(story)")
        }

        @Test func `a summary of another shard is none`() async throws {
            let scratch = try Scratch()
            let shards = try await Self.broken(scratch)
            let merged = scratch.folder.appending(path: "merged")
            let (first, second) = (
                shards[0].appending(path: "summary.json"), shards[1].appending(path: "summary.json")
            )
            try FileManager.default.removeItem(at: first)
            try FileManager.default.copyItem(at: second, to: first)
            let outcome = try await Self.merge(shards, to: merged)
            // What its log shows is broken all the same.
            #expect(outcome.code == 97, "\(outcome)")
            #expect(
                try RunReport(folder: merged).text("summary.json").contains(
                    "shard 0/2 has a summary.json that does not belong to its evidence.ndjson"))
        }

        @Test func `a series that is cut is noticed`() async throws {
            let scratch = try Scratch()
            let objective = ["--set", "slo={http.202: count <= 200 over 2s}"]
            var shards: [URL] = []
            for index in 0..<2 {
                shards.append(scratch.folder.appending(path: "\(index)"))
                _ = try await Self.simulate(
                    ["flaky-network", "--phones", "12", "--shard", "\(index)/2"] + objective,
                    to: shards[index])
            }
            let merged = scratch.folder.appending(path: "merged")
            func summary() throws -> String { try RunReport(folder: merged).text("summary.json") }
            let whole = try await Self.merge(shards, to: merged)
            #expect(whole.code == 0, "\(whole)")
            // Whether two counts that are small enough are small together is in the series alone.
            let series = shards[1].appending(path: "series.ndjson")
            let bytes = try Data(contentsOf: series)
            try bytes.dropLast(bytes.count / 2).write(to: series)
            let cut = try await Self.merge(shards, to: merged)
            #expect(cut.code == 98, "\(cut)")
            let digits = IntegerFormatStyle<Int>(locale: Locale(identifier: "en_US"))
            let has = (bytes.count - bytes.count / 2).formatted(digits)
            let all = bytes.count.formatted(digits)
            let text = "shard 1/2: series.ndjson has \(has) of its \(all) bytes"
            #expect(try summary().contains(text), "\(cut.output)")
            try FileManager.default.removeItem(at: series)
            let none = try await Self.merge(shards, to: merged)
            #expect(none.code == 98, "\(none)")
            #expect(try summary().contains("not all shards have a whole series"))
        }

        @Test func `a shard says that the whole fleet is judged later`() async throws {
            let scratch = try Scratch()
            let shard = scratch.folder.appending(path: "shard")
            let outcome = try await Self.simulate(
                ["flaky-network", "--phones", "12", "--shard", "0/2"], to: shard)
            #expect(
                outcome.output.contains(
                    "retry.budget, herd.bounded (could not be judged before the shards are merged)"),
                "\(outcome.output)")
            let summary = try RunReport(folder: shard).summary()
            for id in ["herd.bounded", "retry.budget"] {
                #expect(summary.invariants.first { $0.id == id }?.violations == .notAvailable)
            }
        }

        @Test(arguments: [["--shard", "0/2"], ["--processes", "2"]])
        func `what one backend counts over all phones is refused`(words: [String]) async throws {
            let outcome = try await Binary.run(["run", "open-circuit"] + words)
            #expect(outcome.code == 64)
            #expect(
                outcome.complaint.contains(
                    "open-circuit.scenario: server.circuit-breaker cannot be used with \(words[0])"),
                "\(outcome.complaint)")
        }
    }
}
