import Foundation
import Testing

extension SideBySide {
    /// A page in headless Chromium, through the gateway, with what `--browser` is for.
    @Suite struct BrowserTests {
        private struct Seen: Decodable {
            var error: String?
            var events: [String]?
            /// The terminal event is of the job.
            var last: Bool?
            var pieces: Int?
            var cleanup: Int?
        }

        private static func journey(_ how: String, _ toggles: [String]) async throws -> Seen {
            let serve = try await ServeProcess.start(
                toggles + ["--set", "server.job-time=2s", "--set", "server.ping=500ms"])
            let proxy = try await ServeProcess.start(
                Binary.path, ["proxy", "--port", "0", "--upstream", serve.base] + toggles)
            let script = Package.tests.appending(path: "Tools/browser.py").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", script, proxy.base, how], seconds: 80)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return try JSONDecoder().decode(Seen.self, from: Data(outcome.output.utf8))
        }

        @Test(arguments: ["fetch", "eventsource"]) func `a page follows a stream through the gateway`(
            how: String
        ) async throws {
            let seen = try await Self.journey(how, ["--browser"])
            #expect(seen.error == nil)
            #expect(seen.last == true)
            #expect(seen.cleanup == 204)
            let events = try #require(seen.events)
            #expect(events.first == "progress" && events.last == "completed")
            #expect(events.count { $0 == "ping" } >= 1)
            if how == "fetch" {
                let pieces = try #require(seen.pieces)
                #expect(pieces >= 4, "it came as it was made, not at once")
            }
        }

        @Test func `without the toggle a page may read nothing`() async throws {
            let seen = try await Self.journey("fetch", [])
            #expect(seen.error?.contains("Failed to fetch") == true)
        }
    }
}
