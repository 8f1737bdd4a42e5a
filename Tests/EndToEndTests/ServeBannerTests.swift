import Foundation
import Testing

extension SideBySide {
    /// What `serve` says before the first request.
    @Suite struct ServeBannerTests {
        /// Serves for two seconds.
        private static func serve(_ words: [String]) async throws -> Outcome {
            try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                ["timeout", "--signal", "INT", "2", Binary.path.path, "serve", "--port", "0"] + words)
        }

        @Test func `a server says what it serves, where its state is, and how it ends`() async throws {
            for (words, about) in [
                (["flaky-network"], "simulated backend of the scenario flaky-network, seed 5"),
                ([], "simulated backend, seed 5"),
            ] {
                let outcome = try await Self.serve(words + ["--seed", "5"])
                let address = try #require(outcome.output.split(separator: " ").last).dropLast()
                #expect(outcome.output == "listening \(address)\n")
                #expect(
                    outcome.complaint.contains(
                        "\(about); state and faults on demand: \(address)/_sim; Ctrl-C stops it\n"),
                    "\(outcome)")
            }
            let quiet = try await Self.serve(["--quiet"])
            #expect(!quiet.complaint.contains("/_sim"), "\(quiet)")
        }
    }
}
