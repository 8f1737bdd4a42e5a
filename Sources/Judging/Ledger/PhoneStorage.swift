import Observations
import SimBase

/// The storage of a phone: whether it has room, and so what of its process must be in it after a kill.
struct PhoneStorage: Sendable {
    private(set) var isFull = false
    /// The time at which it last had room again.
    private var freedAt = Instant.zero

    mutating func record(_ payload: PhoneObservation, at moment: Instant) {
        switch payload {
        case .storageFilled: self.isFull = true
        case .storageFreed:
            self.isFull = false
            self.freedAt = moment
        default: break
        }
    }

    /// Whether what the phone learned at a time had to be durable at a later one. A kill excuses the loss of anything newer.
    func hasKept(_ learned: Instant, at moment: Instant, within recordTime: Interval) -> Bool {
        !self.isFull && max(learned, self.freedAt) + recordTime < moment
    }
}
