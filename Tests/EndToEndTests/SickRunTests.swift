import Foundation
import Testing

/// A run that one thing is wrong with, and how it must end.
struct SickRun: Sendable {
    /// Where the run takes place.
    enum World: Sendable {
        /// `run --target` against `Tools/sick.py`, which reads these wishes from a header.
        case target(String)
        /// `simulate` with these changes of the scenario.
        case virtual([String])
    }

    var world: World
    var code: Int32
    /// What the line below the verdict has in it, in this order, with `…` for what may differ; nil: `everythingHeld`.
    var headline: String?

    private static let everythingHeld = "invariant… held… (exit code 0)"

    func matches(_ line: String) -> Bool {
        let headline = self.headline ?? Self.everythingHeld
        var rest = line[...]
        return headline.components(separatedBy: "…").allSatisfy { piece in
            guard let found = piece.isEmpty ? rest.startIndex..<rest.startIndex : rest.range(of: piece) else {
                return false
            }
            rest = rest[found.upperBound...]
            return true
        }
    }

    static func target(_ wishes: String, _ code: Int32, _ headline: String? = nil) -> SickRun {
        SickRun(world: .target(wishes), code: code, headline: headline)
    }

    static func virtual(_ changes: [String], _ code: Int32, _ headline: String? = nil) -> SickRun {
        SickRun(world: .virtual(changes), code: code, headline: headline)
    }
}

extension SickRun: CustomStringConvertible {
    var description: String {
        switch self.world {
        case .target(let wishes): wishes
        case .virtual(let changes): changes.joined(separator: " ")
        }
    }
}

extension SideBySide {
    /// Whatever is wrong with a backend, the exit code and the first line of the report say so.
    @Suite struct SickRunTests {
        private static let scans = 12
        private static let scenario = """
            scenario: 1
            name: sick
            description: A few phones against a backend that is not well.
            seed: 3
            fleet:
              crowd: {phones: 6, scans: 2, arrivals: 12/s, network: perfect, photos: {paint: 1, size: 320x240}}
            server: {books: 2..4, job-time: 300ms..900ms}
            drain: 3s
            # What the target does wrong is not the question here, but what becomes of the phones.
            trial: {judge: off}
            """

        // MARK: The table

        /// Every class of answer on each operation.
        private static let answers: [SickRun] = [
            .target("upload=400", 99, "No scan was completed: 12 of 12 scans were refused: INVALID_REQUEST"),
            .target("upload=401", 99, "No scan was completed: … uploads were answered with 401"),
            .target("upload=403", 99, "No scan was completed: … uploads were answered with 403"),
            .target("upload=404", 99, "No scan was completed: … uploads were answered with 404"),
            .target("upload=413", 99, "No scan was completed: 12 of 12 scans were refused: INVALID_REQUEST"),
            .target("upload=422", 99, "No scan was completed: 12 of 12 scans were refused: INVALID_REQUEST"),
            .target(
                "upload=429 retry-after=600", 99, "No scan was completed: … uploads were answered with 429"),
            .target("upload=500", 99, "No scan was completed: … uploads were answered with 500"),
            .target(
                "upload=503 retry-after=600", 99,
                "No scan was completed: 12 of 12 uploads were answered with 503"),
            .target("upload=silent", 99, "No scan was completed: 12 of 12 still running at the end"),
            .target("upload=close", 99, "No scan was completed: … uploads failed: "),
            .target(
                "upload=html", 99, "No scan was completed: … uploads got an unreadable response"),
            .target(
                "upload=503 every=2", 99, "6 of 12 scans had not finished 3 s after the last capture: 6 "),
            .target(
                "stream=401", 99,
                "No scan was completed: 12 of 12 with a token that the server does not accept"),
            .target("stream=404", 99, "No scan was completed: 12 of 12 whose job no longer exists"),
            .target("stream=410", 99, "No scan was completed: 12 of 12 whose job no longer exists"),
            .target(
                "stream=429 retry-after=600", 99,
                "No scan was completed: … stream requests were answered with 429"),
            .target(
                "stream=503", 99, "No scan was completed: … stream requests were answered with 503"),
            .target("stream=silent", 99, "No scan was completed: 12 of 12 still running at the end"),
            .target("stream=close", 99, "No scan was completed: "),
            .target(
                "stream=html", 99,
                "No scan was completed: … stream requests got an unreadable response"),
            .target("stream=open", 99, "No scan was completed: 12 of 12 still running at the end"),
            .target(
                "stream=open every=2", 99,
                "6 of 12 scans had not finished 3 s after the last capture: 6 still running at the end"),
            .target("stream=no-terminal", 99, "No scan was completed: 12 of 12 still running at the end"),
            .target("stream=retryable", 99, "No scan was completed: 12 of 12 waiting to retry a failed job"),
            .target("stream=final", 99, "No scan was completed: 12 of 12 scans were refused: INVALID_FILE"),
            .target(
                "stream=final every=2", 99,
                "6 of 12 scans were refused, and no fault explains it: INVALID_FILE"),
            .target("stream=expired", 99, "No scan was completed: 12 of 12 with an expired token"),
            .target(
                "books=stripped results=400", 99,
                "No scan was completed: … results requests were answered with 400"),
            .target(
                "books=stripped results=401", 99,
                "No scan was completed: 12 of 12 with a token that the server does not accept"),
            .target(
                "books=stripped results=404", 99, "No scan was completed: 12 of 12 whose job no longer exists"
            ),
            .target(
                "books=stripped results=429 retry-after=600", 99,
                "No scan was completed: … results requests were answered with 429"),
            .target(
                "books=stripped results=500", 99,
                "No scan was completed: … results requests were answered with 500"),
            .target(
                "books=stripped results=silent", 99,
                "No scan was completed: 12 of 12 still running at the end"),
            .target(
                "books=stripped results=html", 99,
                "No scan was completed: … results requests got an unreadable response"),
            .target("cleanup=401", 99, "12 jobs were not deleted after the scan was completed"),
            .target(
                "cleanup=429 retry-after=600", 99, "12 jobs were not deleted after the scan was completed"),
            .target("cleanup=500", 99, "12 jobs were not deleted after the scan was completed"),
            .target("cleanup=silent", 99, "12 jobs were not deleted after the scan was completed"),
            // The phone gives up on it: the job stays, which is more than an objective missed.
            .target("cleanup=403", 97, "12 jobs were not deleted after the scan was completed"),
        ]

        /// What a phone is meant to cope with.
        private static let coped: [SickRun] = [
            .target("", 0),
            .target("cleanup=404", 0),
            .target("cleanup=410", 0),
            .target("upload=503 once", 0),
            .target("stream=close once", 0),
            .target("stream=expired once", 0),
            .target("books=stripped results=500 once", 0),
            .target("cleanup=500 once", 0),
            .virtual(["faults=[{do: kill, at: 1s, for: 500ms}]", "drain=30s"], 0),
        ]

        private static let simulated: [SickRun] = [
            .virtual(["server.job-time=10m"], 99, "No scan was completed: 12 of 12 still running at the end"),
            .virtual(
                ["server.job-time=1s..8s"], 99,
                "… of 12 scans had not finished 3 s after the last capture: … still running at the end"),
            .virtual(
                ["server.token-lifetime=1ms"], 99, "No scan was completed: 12 of 12 with an expired token"),
            .virtual(
                ["faults=[{do: rate-limit, on: upload, quota: 1 per 10m, retry-after: 10m}]"], 99,
                "6 of 12 scans had not finished 3 s after the last capture: 6 rate limited (429)"),
            .virtual(
                ["faults=[{do: silence, on: stream}]", "fleet.crowd.idle-timeout=10m"], 99,
                "No scan was completed: 12 of 12 still running at the end"),
            .virtual(
                ["faults=[{do: offline, at: 0s, for: 1h}]"], 99,
                "No scan was completed: 12 of 12 offline"),
            .virtual(
                ["faults=[{do: http-error, on: upload, status: 503, chance: 50%, count: 100}]"], 99,
                "… of 12 scans had not finished 3 s after the last capture: "),
        ]

        // MARK: Tests

        @Test func `a run against a sick target is never green`() async throws {
            try await Self.check(Self.answers)
        }

        @Test func `a run that its phones cope with is green`() async throws {
            try await Self.check(Self.coped)
        }

        @Test func `a sick simulated backend is never green`() async throws {
            try await Self.check(Self.simulated)
        }

        @Test func `a target that dies in the middle is told`() async throws {
            let server = try await Self.server(["--die-after", "0.3"])
            let run = SickRun.target("", 99, "… of 12 scans had not finished 3 s after the last capture: ")
            try await Self.check(run, base: server.base, in: try Scratch())
        }

        // MARK: Running

        /// Runs at once, which mostly wait.
        private static let together = 8

        private static func check(_ runs: [SickRun]) async throws {
            let server = try await Self.server([])
            let base = server.base
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, run) in runs.enumerated() {
                    if number >= Self.together { try await group.next() }
                    group.addTask { try await Self.check(run, base: base, in: try Scratch()) }
                }
                try await group.waitForAll()
            }
            #expect(await server.end() == 0)
        }

        private static func server(_ options: [String]) async throws -> ServeProcess {
            let script = Package.tests.appending(path: "Tools/sick.py").path
            return try await ServeProcess.start(URL(filePath: "/usr/bin/env"), ["python3", script] + options)
        }

        private static func check(_ run: SickRun, base: String, in scratch: Scratch) async throws {
            let scenario = try scratch.file("sick.scenario", Data(Self.scenario.utf8)).path
            let folder = scratch.folder.appending(path: "report")
            var words: [String]
            switch run.world {
            case .target(let wishes):
                words = ["run", scenario, "--target", base]
                if !wishes.isEmpty { words += ["--header", "X-Sick: \(wishes)"] }
            case .virtual(let changes):
                words = ["simulate", scenario] + ShortRun.set(changes)
            }
            words += ["--output", folder.path, "--quiet", "--no-color"]
            let outcome = try await Subprocess.run(
                Binary.path, words, environment: Subprocess.environment.merging(["COLUMNS": "400"]) { $1 },
                folder: scratch.folder, seconds: 50)

            #expect(
                outcome.code == run.code, "\(run): \(outcome.code)\n\(outcome.output)\(outcome.complaint)")
            let lines = outcome.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            let headline = lines.count > 1 ? lines[1] : ""
            #expect(run.matches(headline), "\(run): \(headline)")
            let summary = try RunReport(folder: folder).summary()
            #expect(summary.exit == run.code && summary.passed == (run.code == 0), "\(run): \(summary.exit)")
            #expect(
                summary.scans.captured == Self.scans && summary.scans.isConserved, "\(run): \(summary.scans)")
            #expect(summary.scans.lost == 0, "\(run)")
            if run.code == 0 { #expect(summary.scans.completed == Self.scans, "\(run)") }
        }
    }
}
