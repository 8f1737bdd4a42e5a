import Backend
import Phone
import SimBase
import Talaria

/// Something that one simulated backend counts over all phones. Backends of shards cannot: each has its own phones only.
package struct FleetCount: Hashable, Sendable {
    /// The key in the scenario.
    package let key: String
    /// What is counted, as a clause: `it opens after failures of jobs of all phones`.
    package let reason: String
    package let help: String
}

extension Scenario {
    /// Why a rollout runs in one process.
    package static let rolloutObjection = "its conditions count the scans of all phones together"

    /// The settings of the simulated backend that count over the whole fleet. With them, shards are not parts of the run.
    package var fleetCounts: [FleetCount] {
        let backend = self.server.backend
        let standard = BackendConfiguration()
        var counts: [FleetCount] = []
        if backend.v2.breaker != nil, self.groups.contains(where: \.profile.journey.version.hasCircuit) {
            counts.append(
                FleetCount(
                    key: "server.circuit-breaker",
                    reason: "it opens after failures in a row of the jobs of all phones",
                    help: "set server.circuit-breaker=off, or run the scenario in one process"))
        }
        if backend.jobsMax != standard.jobsMax {
            counts.append(
                FleetCount(
                    key: "server.jobs-max", reason: "it limits the jobs of all phones together",
                    help: "remove the key, or run the scenario in one process"))
        }
        if backend.tombstonesMax != standard.tombstonesMax {
            counts.append(
                FleetCount(
                    key: "server.tombstones-max",
                    reason: "it limits the jobs of all phones together that are gone",
                    help: "remove the key, or run the scenario in one process"))
        }
        return counts
    }
}
