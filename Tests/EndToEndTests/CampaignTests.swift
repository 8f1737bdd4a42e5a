import Foundation
import Testing

extension SideBySide {
    /// `simulate --seeds`: the search for failing seeds, and what it says of them.
    @Suite struct CampaignTests {
        @Test func `the contract client passes, with any number of processes the same`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            var digests: [String] = []
            for jobs in ["1", "3"] {
                let outcome = try await CampaignSearch.run(
                    ["--seeds", "1..400", "--jobs", jobs], in: scratch.folder.appending(path: "search\(jobs)")
                )
                #expect(outcome.code == 0, "\(outcome)")
                #expect(outcome.output.contains("no failures"))
                let digest = try #require(
                    outcome.output.firstMatch(
                        of: /digest ([0-9a-f]{16}); (\d+) seeds run again alone, 0 with/))
                #expect(digest.2 == "20")
                digests.append(String(digest.1))
            }
            #expect(Set(digests).count == 1)
        }

        @Test func `a search that its budget ended at once has shown nothing`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let outcome = try await CampaignSearch.run(
                ["--seeds", "1..1000000", "--budget", "1s"], in: scratch.folder.appending(path: "search"))
            #expect(outcome.code == 98, "\(outcome)")
            #expect(outcome.output.contains("ended early: the time of --budget"), "\(outcome)")
        }

        /// The first two once ended the program: the answer to an upload came with its last bytes, and the
        /// next upload took the connection before its head was sent. In the last one the status of one stream
        /// was mistaken for that of another scan's.
        @Test(arguments: [3_483, 7_499, 8_417]) func `a seed that once failed passes`(seed: Int) async throws
        {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let outcome = try await CampaignSearch.run(
                ["--seeds", "\(seed)..\(seed)"], in: scratch.folder.appending(path: "search"))
            #expect(outcome.output.contains("1 seed "), "\(outcome)")
            #expect(!outcome.output.contains("FAIL"), "\(outcome)")
        }

        /// What the harness once took for its own error: a client that orders events by their times, a backend without tokens, and
        /// one that completes a job twice, under an address of its results that only it has.
        @Test(arguments: [
            (22, ["fleet.commuters.inconsistency-5=on"]),
            (38, ["fleet.commuters.profile=wingtip", "server.dialect=wingtip"]),
            (90, ["fleet.commuters.profile=wingtip", "server.dialect=wingtip"]),
            (108, ["fleet.commuters.profile=wingtip", "server.dialect=wingtip"]),
            (30, ["fleet.commuters.profile=swiftwing-head", "server.dialect=live-2026-02"]),
            (143, ["fleet.commuters.profile=swiftwing-head", "server.dialect=live-2026-02"]),
            (165, ["fleet.commuters.profile=swiftwing-head", "server.dialect=live-2026-02"]),
            (26, ["server.dialect=live-2026-02"]),
            (24, ["server.dialect=legacy-openapi"]),
        ])
        func `another client or backend is no error of the harness`(seed: Int, settings: [String])
            async throws
        {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let outcome = try await CampaignSearch.run(
                ["--seeds", "\(seed)..\(seed)"] + settings.flatMap { ["--set", $0] },
                in: scratch.folder.appending(path: "search"))
            #expect(outcome.output.contains("1 seed "), "\(outcome)")
            for failure in ["FAIL  simulation", "FAIL  request.well-formed"] {
                #expect(!outcome.output.contains(failure), "\(outcome)")
            }
        }

        @Test func `the report of a failing seed is short, and its plan replays`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "search")
            let outcome = try await CampaignSearch.run(
                ["--seeds", "38..38", "--set", "fleet.commuters.gap-5=on"], in: folder)
            #expect(outcome.code == 97, "\(outcome)")
            let text = try String(
                contentsOf: folder.appending(path: "stream.no-gap-38.txt"), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 45)
            #expect(
                lines.allSatisfy {
                    $0.count <= 100 || $0.contains("swiftwing-sim ") || $0.hasPrefix("Keep it")
                })
            #expect(lines[0].hasPrefix("FAIL  stream.no-gap, seed 38, client contract: phone "))
            #expect(text.contains("VIOLATION") && text.contains("server "))
            #expect(text.contains("the run passes"))
            let plan = folder.appending(path: "stream.no-gap-38.plan.json").path
            let again = try await Binary.run(
                ["replay", plan, "--quiet", "--output", scratch.folder.appending(path: "again").path])
            #expect(again.code == 97, "\(again)")
            #expect(!again.output.contains("does not reproduce"))
            let verified = try await Binary.run(["replay", plan, "--verify"])
            #expect(verified.code == 0, "\(verified)")
        }

        @Test(arguments: [
            (["--seeds", "5..4"], "--seeds 5..4 ends before it begins"),
            (["--seeds", "5"], "--seeds expects a range"),
            (["--seeds", "1..2", "--faults", "all"], "--faults expects"),
            (["--seeds", "1..2", "--worker", "2/2"], "--worker expects"),
            (["--seeds", "1..2", "--jobs", "0"], "--jobs"),
            (["--seeds", "@no-such-commit+5"], "git does not know"),
            (["--seeds", "1..2", "--save-plan", "x"], "--save-plan belongs to one run"),
            (["--seeds", "1..2", "--seed", "3"], "--seed belongs to one run"),
            (["--seeds", "1..2", "--stays-broken", "50%"], "--stays-broken requires --settle"),
            (["--seeds", "1..2", "--profile", "contract,wingtip"], "--seeds belongs to one run"),
            (["--faults", "swarm"], "--faults requires --seeds"),
            (["--jobs", "2"], "--jobs requires --seeds"),
        ]) func `what cannot be searched is refused`(words: [String], complaint: String) async throws {
            let outcome = try await Binary.run(["simulate", "flaky-network"] + words)
            #expect(outcome.code == 64)
            #expect(outcome.complaint.contains(complaint), "\(outcome.complaint)")
        }

        @Test func `a search that reached too little is not trustworthy, and says why`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.folder.appending(path: "search")
            let empty = try await Binary.run(
                [
                    "simulate", "flaky-network", "--quiet", "--output", folder.path, "--seeds", "1..3",
                    "--duration", "1ms",
                ])
            #expect(empty.code == 98, "\(empty)")
            #expect(empty.output.contains("not trustworthy: no scan was captured"))
            #expect(!empty.output.contains("no failures"))
            // One seed cannot come to all situations that the scenario names.
            let short = try await CampaignSearch.run(["--seeds", "1..1"], in: folder)
            #expect(short.code == 98, "\(short)")
            #expect(short.output.contains("not trustworthy: no seed reached "))
        }

        @Test func `a folder that cannot be written is reported beside the failure`() async throws {
            let outcome = try await CampaignSearch.run(
                ["--seeds", "38..38", "--set", "fleet.commuters.gap-5=on"],
                in: URL(filePath: "/proc/no-such-folder"))
            #expect(outcome.code == 74)
            #expect(outcome.output.contains("FAIL  stream.no-gap"))
            #expect(outcome.output.contains(#""captures": ["#), "the plan is printed")
            #expect(outcome.complaint.contains("cannot write"), "\(outcome.complaint)")
        }

        @Test(arguments: ["quirk-2", "quirk-9", "gap-5"])
        func `a planted bug fails with a pair of faults`(toggle: String) async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let outcome = try await CampaignSearch.run(
                ["--seeds", "1..1000", "--stop-after", "1", "--set", "fleet.commuters.\(toggle)=on"],
                faults: "pairs", in: scratch.folder.appending(path: "search"))
            #expect(outcome.code == 97, "\(outcome)")
            let beyond = try await CampaignSearch.run(
                ["--seeds", "99999999..100000000"], faults: "pairs",
                in: scratch.folder.appending(path: "beyond"))
            #expect(beyond.code == 64 && beyond.complaint.contains("have the numbers 1.."), "\(beyond)")
        }

        @Test func `what a profile is known to break is reported where that is asked for, with its toggle`()
            async throws
        {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let words = [
                "--seeds", "1..10", "--profile", "swiftwing-head", "--set", "fleet.commuters.quirk-11=off",
            ]
            let known = try await CampaignSearch.run(
                words + ["--known-breaks"], in: scratch.folder.appending(path: "known"))
            #expect(known.code == 97, "\(known)")
            #expect(known.output.contains("FAIL  scan.custody (client swiftwing-head)"))
            #expect(known.output.contains(#/ book\.never-lost: 1 scan, .*; passes without quirk-2/#))
        }
    }
}

extension Searches {
    @Suite struct CampaignTests {
        /// Every pair of faults that can be tied to the events of one scan.
        @Test func `the contract client passes with every pair of faults of one scan`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let outcome = try await CampaignSearch.run(
                ["--seeds", "1..100000000"], faults: "pairs", in: scratch.folder.appending(path: "search"))
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.output.contains("no failures"))
            #expect(
                outcome.output.contains(
                    "faults: 37 of 37 kinds fired; not possible: ws-close without a WebSocket, "))
            // A number that shrinks means that anchors or kinds are lost.
            let plans = try #require(
                outcome.output.firstMatch(of: /^(\d+) seeds \(1\.\.(\d+), faults: pairs\), (\d+) scans/))
            #expect(plans.1 == plans.2 && plans.1 == plans.3)
            #expect(try #require(Int(plans.1)) >= 36_000)
        }
    }
}
