import Foundation

/// `simulate flaky-network --seeds` for tests.
enum CampaignSearch {
    static func run(
        _ words: [String], faults: String = "swarm", in folder: URL
    ) async throws -> Outcome {
        try await Subprocess.run(
            Binary.path,
            ["simulate", "flaky-network", "--faults", faults, "--quiet", "--output", folder.path] + words,
            environment: Subprocess.environment, seconds: 240)
    }
}
