import Observations
import SimBase

/// The process, the screen, the path, the storage and the stream slots of a phone, rebuilt once for all checks of that phone.
/// A check of an observation is given the state before it.
struct PhoneLife: Sendable {
    private(set) var isRunning = false
    private(set) var hasPath = true
    /// The time at which the app went to the background; nil in the foreground.
    private(set) var suspendedAt: Instant?
    private(set) var storage = PhoneStorage()
    private(set) var slots = 0
    /// The start of the last period in which it ran in the foreground with a path.
    private(set) var presentSince = Instant.zero
    /// The end of that period; nil while it lasts.
    private(set) var absentSince: Instant? = .zero
    /// The time at which it last lost its data in flight: with its path, its app or its process.
    private(set) var interruptedAt: Instant?

    var isOnScreen: Bool { self.suspendedAt == nil }

    mutating func record(_ payload: PhoneObservation, at moment: Instant) {
        switch payload {
        case .launched: self.begin(isRunning: true)
        case .killed, .reinstalled:
            self.begin(isRunning: false)
            self.interruptedAt = moment
        case .suspended:
            self.suspendedAt = moment
            self.interruptedAt = moment
        case .resumed: self.suspendedAt = nil
        case .pathLost:
            self.hasPath = false
            self.interruptedAt = moment
        case .pathChanged: self.interruptedAt = moment
        case .pathReturned: self.hasPath = true
        case .storageFilled, .storageFreed: self.storage.record(payload, at: moment)
        case .slotTaken: self.slots += 1
        case .slotGiven: self.slots = max(0, self.slots - 1)
        default: return
        }
        let isPresent = self.isRunning && self.isOnScreen && self.hasPath
        if isPresent, self.absentSince != nil {
            self.absentSince = nil
            self.presentSince = moment
        } else if !isPresent {
            self.absentSince = self.absentSince ?? moment
        }
    }

    /// A process has begun or ended. One that has no path says so.
    private mutating func begin(isRunning: Bool) {
        self.isRunning = isRunning
        self.suspendedAt = nil
        self.hasPath = true
        self.slots = 0
    }
}

/// An observation of a phone: its scan, its time, and the state of the phone before it.
struct PhoneMoment: Sendable {
    let scan: ScanNumber
    let at: Instant
    let life: PhoneLife
}
