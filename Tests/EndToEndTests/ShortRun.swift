import Foundation
import Testing

/// `Scenarios/flaky-network.scenario`, shortened by options so that it ends in a few seconds while every fault of it
/// still fires.
enum ShortRun {
    static let devices = 12
    static let scans = 24
    static let scenario = "flaky-network.scenario"

    static let options = Self.set([
        "fleet.commuters.phones=\(Self.devices)", "fleet.commuters.scans=2", "fleet.commuters.arrivals=12/s",
        "fleet.commuters.preprocess=once",
        "server.job-time=300ms..900ms", "faults.offline-1.at=1s", "faults.offline-1.for=1s",
        "faults.rate-limit-1.quota=1 per 3s", "faults.rate-limit-1.retry-after=1s",
        "faults.expire-token-1.after=150ms", "faults.expire-token-1.chance=25%", "drain=40s",
    ])

    /// Times and rates are not what these tests are about, and a busy machine must not fail them.
    static let patientObjectives = Self.set([
        "slo.sse.connect.time=p(95) < 1m", "slo.sse.first_event.time=p(95) < 1m",
        "slo.sse.reconnect.time=p(99) < 1m", "slo.sse.connect.failed=rate < 90%",
        "slo.sse.reconnect.failed=rate < 90%", "slo.results.failed=rate < 90%",
    ])

    /// For runs that may end before anything is lost: a latency without a sample would not have been met.
    static let objectiveOfScansAlone = Self.set(["slo={scans.lost: count == 0}"])

    static let arguments = [Self.scenario] + Self.options + Self.patientObjectives

    static func set(_ changes: [String]) -> [String] { changes.flatMap { ["--set", $0] } }

    /// A whole run. One that could not be trusted, because this machine was too busy for it (98), is made again.
    static func finished(_ more: [String]) async throws -> (outcome: Outcome, process: RunProcess) {
        var attempt = 1
        while true {
            let process = try RunProcess(Self.arguments + more)
            let outcome = try await process.end(seconds: 50)
            guard outcome.code == 98, attempt < 3 else { return (outcome, process) }
            attempt += 1
        }
    }

    /// The run that several tests look at: with `--trace`, otherwise as it is.
    static func standard() async throws -> (outcome: Outcome, process: RunProcess) {
        try await self.shared.value
    }

    private static let shared = Task { try await Self.finished(["--trace"]) }
}
