import Foundation
import Testing

extension SideBySide {
    /// The commands that one uses before a run.
    @Suite struct PlanningCommandTests {
        private static let fixtures = "Tests/EndToEndTests/Fixtures"

        // MARK: plan

        @Test func `plan says what a run would do`() async throws {
            let text = try await Golden.transcript([
                ["plan", "\(Self.fixtures)/mixed.scenario"],
                [
                    "plan", "\(Self.fixtures)/mixed.scenario", "--phones", "44", "--duration", "3s",
                    "--seed", "9",
                ],
                ["plan", "Scenarios/flaky-network.scenario"],
                ["plan", "\(Self.fixtures)/journeys.scenario"],
            ])
            // What the machine allows is the machine's.
            let anywhere = text.replacing(/limit: [0-9]+/, with: "limit: N")
                .replacing(/address has [0-9]+ to/, with: "address has N to")
            try Golden.expect(anywhere, is: "plan.txt")
            #expect(text.contains("warning: reset-1: 1 firing drawn with seed 1; fewer than 10 give"))
        }

        @Test func `plan says how many machines a fleet needs`() async throws {
            let machine = ["--cores", "8", "--memory", "32GiB", "--descriptors", "20000"]
            let words = ["plan", "Scenarios/crowd.scenario", "--phones", "1000000", "--shards"]
            let text = try await Binary.run(words + ["auto"] + machine)
            #expect(text.code == 0, "\(text)")
            #expect(text.output.contains("shards: 1000000 phones / 19512 a process = 52"), "\(text.output)")
            let json = try await Binary.run(words + ["60", "--json"] + machine)
            #expect(json.code == 0 && json.output.contains("\"phones_per_shard\": 16667"), "\(json)")
            let few = try await Binary.run(words + ["10"] + machine)
            #expect(few.code == 104 && few.complaint.contains("file descriptors"), "\(few)")
            let alone = try await Binary.run(["plan", "flaky-network", "--cores", "8"])
            #expect(alone.code == 64 && alone.complaint.contains("--cores requires --shards"), "\(alone)")
        }

        @Test func `plan refuses what no machine gives`() async throws {
            let outcome = try await Binary.run([
                "plan", "\(Self.fixtures)/mixed.scenario", "--phones", "900000", "--duration", "1s",
            ])
            // A hard limit of a million descriptors exists, and then this is not a mistake.
            #expect([0, 104].contains(outcome.code))
            #expect(outcome.output.contains("needs: "))
            #expect((outcome.code == 104) == outcome.complaint.contains("descriptors"))
        }

        @Test func `a scenario on top of another is checked as one, with the paths of both`() async throws {
            try Golden.expect(
                try await Golden.transcript([["check", "\(Self.fixtures)/extends-mixed.scenario"]]),
                is: "check-extends.txt")
        }

        @Test func `faults that no chosen scan survives are warned of before anything runs`() async throws {
            let scratch = try Scratch()
            let file = try scratch.file(
                "hard.scenario",
                Data("scenario: 1\nextends: flaky-network\nfaults: [{do: expire-token, count: 5}]\n".utf8)
            ).path
            let warning =
                "\(file): warning: faults.expire-token-1.count: a scan that fails 5 times cannot finish: "
            for command in ["check", "plan"] {
                let outcome = try await Binary.run([command, file])
                #expect(outcome.code == 0, "\(command): \(outcome)")
                #expect(outcome.complaint.contains(warning), "\(command): \(outcome)")
            }
        }

        @Test func `plan warns of waits that outlast the run, and of tokens that expire too early`()
            async throws
        {
            let scratch = try Scratch()
            let file = try scratch.file(
                "late.scenario",
                Data(
                    """
                    scenario: 1
                    fleet: {phones: {phones: 20, scans: 12, arrivals: 40/s}}
                    server: {rate-limit: 10 per 20m}
                    slo: {scan.time: p(95) < 5s, scans.completed: count >= 240}
                    faults:
                      - {do: http-error, on: upload, status: 429, retry-after: 30s, chance: 10%}
                      - {do: http-error, on: upload, status: 503, retry-after: 29s, chance: 10%}
                      - {do: expire-token, on: stream, chance: 10%}
                      - {do: expire-token, on: stream, after: 1s, chance: 10%}
                    """.utf8)
            ).path
            let warnings = try await Binary.run(["plan", file]).complaint
            #expect(warnings.contains("faults.http-error-1.retry-after: phones wait 30s, "))
            #expect(!warnings.contains("faults.http-error-2.retry-after"))
            #expect(warnings.contains("server.rate-limit: the phones of phones scan more than 10 times"))
            #expect(warnings.contains("faults.expire-token-1: the token expires before the first event"))
            #expect(!warnings.contains("faults.expire-token-2: the token"))
            #expect(!warnings.contains("never scan"))
            let short = try await Binary.run(
                ["plan", file, "--set", "fleet.phones.arrivals=[{rate: 4/s, for: 4s}]"]
            ).complaint
            #expect(short.contains("the stages have 16 captures, so that at least 4 of 20 phones never scan"))
            let longer = try await Binary.run(["plan", file, "--set", "drain=30m"]).complaint
            #expect(!longer.contains("retry-after") && !longer.contains("server.rate-limit"))
            // `check` says the same, and finds no mistake.
            let check = try await Binary.run(["check", file])
            #expect(check.code == 0 && check.output == "\(file): ok\n")
            let texts = [
                "slo.scan.time: `p(95) < 5s` cannot hold with the simulated backend: a job takes at least 8s",
                "faults.http-error-1.retry-after: phones wait 30s, ",
                "server.rate-limit: the phones of phones scan more than 10 times",
            ]
            let json = try await Binary.run(["check", "--json", file])
            for text in texts {
                #expect(check.complaint.contains("\(file): warning: \(text)"), "\(check.complaint)")
                #expect(json.output.contains("\"\(text)"), "\(json.output)")
            }
        }

        @Test func `check finds photos that are not there, with their place`() async throws {
            let scratch = try Scratch()
            let file = try scratch.file(
                "photos.scenario",
                Data("scenario: 1\nfleet:\n  a: {phones: 1, arrivals: 1/s, photos: shelve}\n".utf8)
            ).path
            let outcome = try await Binary.run(["check", file])
            #expect(outcome.code == 65, "\(outcome)")
            #expect(outcome.output.contains(":3:41: no photos 'shelve'"), "\(outcome)")
        }

        // MARK: list

        @Test func `list names what every command finds by name`() async throws {
            let outcome = try await Binary.run(["list"])
            #expect(outcome.code == 0 && outcome.complaint.isEmpty)
            let sections = outcome.output.components(separatedBy: "\n\n")
            #expect(sections.first?.hasPrefix("start here\nflaky-network ") == true && sections.count == 7)
            let names = sections[0].split(separator: "\n").dropFirst().compactMap {
                $0.split(separator: " ").first
            }
            #expect(!outcome.output.contains("torn-writes"), "what a bug once needed is for --all")
            #expect(
                outcome.output.contains("Commuters scan shelves while their link keeps dropping.")
                    && outcome.output.contains(" Scenarios/flaky-network.scenario\n"))
            for name in names.prefix(3) {
                #expect(try await Binary.run(["check", String(name)]).code == 0)
            }
        }

        @Test func `list --all has the groups, whose scenarios are found by name`() async throws {
            let outcome = try await Binary.run(["list", "--all"])
            #expect(outcome.code == 0)
            #expect(outcome.output.contains("\ntorn-writes "))
            let gaps = try #require(outcome.output.firstRange(of: "\n\ngaps\n"))
            let quirks = try #require(outcome.output.firstRange(of: "\n\nquirks\n"))
            #expect(outcome.output[gaps.upperBound...].hasPrefix("gap-1 "))
            #expect(outcome.output[quirks.upperBound...].contains("\nquirk-4 "))
            #expect(!(try await Binary.run(["list"])).output.contains("gap-1"))
            #expect(try await Binary.run(["check", "gap-1"]).code == 0)
        }

        @Test func `list shows also what is broken, and tells a hidden name by its path`() async throws {
            let scratch = try Scratch()
            _ = try scratch.file("broken.scenario", Data("scenario: 2\n".utf8))
            _ = try scratch.file("flaky-network.scenario", Data("scenario: 2\n".utf8))
            let outcome = try await Subprocess.run(Binary.path, ["list"], folder: scratch.folder)
            let lines = outcome.output.split(separator: "\n").map(String.init)
            #expect(lines[0].hasPrefix("broken "))
            #expect(lines[0].contains("(invalid: see 'swiftwing-sim check')"))
            #expect(
                lines[1].hasPrefix("flaky-network "), "the one of the current folder is what the name means")
            #expect(
                lines.contains { $0.hasPrefix(Package.root.appending(path: "Scenarios/flaky-network").path) })
        }

        @Test func `list --names prints each name once and nothing else`() async throws {
            let outcome = try await Binary.run(["list", "--names"])
            let names = outcome.output.split(separator: "\n")
            #expect(outcome.code == 0 && names.contains("flaky-network"))
            #expect(
                names.allSatisfy { !$0.contains(" ") && !$0.contains("/") } && Set(names).count == names.count
            )
        }

        // MARK: new

        @Test func `new writes the schema as well, and begins with a copy when asked`() async throws {
            let scratch = try Scratch()
            func run(_ words: String...) async throws -> Outcome {
                try await Subprocess.run(Binary.path, words, folder: scratch.folder)
            }
            let first = try await run("new", "mine", "--from", "flaky-network")
            #expect(first.output.hasPrefix("created mine.scenario and scenario.schema.json: "), "\(first)")
            let schema = try String(
                contentsOf: scratch.folder.appending(path: "scenario.schema.json"), encoding: .utf8)
            #expect(try await run("schema").output == schema)
            #expect(try await run("check", "mine").output == "mine.scenario: ok\n")
            let copy = try String(
                contentsOf: scratch.folder.appending(path: "mine.scenario"), encoding: .utf8)
            #expect(copy.contains("name: mine\n") && copy.contains("do: strip-books"))
            _ = try scratch.file("scenario.schema.json", Data("{}".utf8))
            let second = try await run("new", "flaky-network")
            #expect(second.output.hasPrefix("created flaky-network.scenario: "))
            #expect(second.complaint.contains("scenario.schema.json is of another version"))
            #expect(
                second.complaint.contains("'flaky-network' now means flaky-network.scenario, and no longer "))
            let captured = try await run("new", "stream", "--from", "captured-stream")
            #expect(captured.code == 65 && captured.complaint.contains("write `extends: "), "\(captured)")
        }

        @Test func `new writes a scenario that passes check, and never over another`() async throws {
            let scratch = try Scratch()
            func run(_ words: String...) async throws -> Outcome {
                try await Subprocess.run(Binary.path, words, folder: scratch.folder)
            }
            #expect(try await run("new", "rush-hour").code == 0)
            let file = scratch.folder.appending(path: "rush-hour.scenario")
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.contains("name: rush-hour\n"))
            #expect(try await run("check", "rush-hour").output == "rush-hour.scenario: ok\n")
            #expect(try await run("plan", "rush-hour").code == 0)
            try Data("mine\n".utf8).write(to: file)
            for name in ["rush-hour", "rush-hour.scenario"] {
                let refused = try await run("new", name)
                #expect(refused.code == 74 && refused.complaint.contains("already exists"))
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == "mine\n")
            for name in ["../up", "a b", ""] { #expect(try await run("new", name).code == 64) }
            let files = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
            #expect(files.filter { $0.hasSuffix(".scenario") } == ["rush-hour.scenario"])
        }

        // MARK: doctor and profiles

        @Test func `doctor looks at everything that a run stands on`() async throws {
            let outcome = try await Binary.run(["doctor"])
            #expect(outcome.code == 0 && outcome.complaint.isEmpty)
            let labels = outcome.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
            #expect(
                labels == [
                    "descriptors", "ports", "processors", "memory", "clock", "libcurl", "libevent", "libssl",
                    "libyaml", "libzmq", "libmsgpack", "libturbojpeg", "capacity",
                ])
            #expect(outcome.output.contains(/libcurl +libcurl\/[0-9]+\.[0-9]+/))
            #expect(outcome.output.contains(/capacity +about [1-9][0-9]* phones/))
        }

        @Test func `doctor says when there is no room for phones`() async throws {
            let shell = URL(filePath: "/bin/sh")
            let outcome = try await Subprocess.run(
                shell, ["-c", "ulimit -n 110 && exec \"$0\" doctor", Binary.path.path])
            #expect(outcome.code == 104)
            #expect(outcome.complaint.contains("limited by its descriptors"))
            #expect(outcome.output.contains("hard limit 110"))
        }

        @Test func `profiles are listed, shown value by value, and held against each other`() async throws {
            try Golden.expect(
                try await Golden.transcript([
                    ["profiles"], ["profiles", "contract"], ["profiles", "swiftwing-legacy", "contract"],
                    ["profiles", "swiftwing-head", "contract"], ["profiles", "contract", "contract"],
                    ["profiles", "contrakt"],
                ]), is: "profiles.txt")
        }
    }
}
