package import Observations
package import SimBase

/// The observations of some phones in the log of a run.
package enum PhoneLog {
    /// The limit for all phones together.
    package static let observationsMax = 1_000_000

    /// Reads the observations of these phones in one pass over the log, in the order of time. Empty if there is no log.
    ///
    /// - Parameter folder: The folder of the run, which may still be going on.
    /// - Parameter faults: The ids of the scenario's faults, in its order.
    package static func observations(
        of phones: [DeviceNumber], folder: String, faults: [String]
    ) -> [Observation] {
        guard var lines = LineReader(path: RunDirectory.joined(folder, RunDirectory.FileName.events)) else {
            return []
        }
        let wanted = Set(phones.map(\.raw))
        let reader = ObservationReader(faults: faults)
        var observations: [Observation] = []
        while let line = lines.next(), observations.count < Self.observationsMax {
            guard lines.isWhole, let device = PhoneTimeline.device(line), wanted.contains(device),
                let observation = reader.observation(line)
            else { continue }
            observations.append(observation)
        }
        return observations
    }
}
