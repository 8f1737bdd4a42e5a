package import Observations
package import SimBase
import Talaria

/// The phones of a run whose very first upload the backend refused with 429. New device ids have no quota to exceed, so that a
/// limit per device then counts what another run with these ids uploaded.
package struct FirstUploads: Sendable {
    private var answered: Set<DeviceNumber> = []
    /// Those that were refused.
    package private(set) var limited: Set<DeviceNumber> = []

    package init() {}

    package mutating func receive(_ observation: borrowing Observation) {
        guard !observation.isRoutine, case .phone(.replied(.upload, _, let status, _)) = observation.what,
            self.answered.insert(observation.device).inserted, status == 429
        else { return }
        self.limited.insert(observation.device)
    }
}
