import Observations
import SimBase
import Talaria

// What faults do to phones, as the phones report it: their paths, their apps, their clocks and their storage.

/// The state of a phone by its own reports.
struct HarnessLifecycle: Sendable {
    var isAlive = false
    var isAway = false
    /// Nil if it is not known: changes of a path while the app is dead are not reported.
    var hasPath: Bool?
    /// Faults that keep it from its path.
    var losses = 0
    var isFull = false
    /// The time at which each of these was last reported.
    var launchedAt: Instant?
    var resumedAt: Instant?
    var reinstalledAt: Instant?
    var pathChangedAt: Instant?
    var pathReturnedAt: Instant?
    var clockSetAt: Instant?
    var freedAt: Instant?
}

extension HarnessChecks {
    struct Act: Sendable {
        let what: PhoneLifecycleEvent
        /// The index of its phone.
        let phoneIndex: Int
    }

    mutating func began(_ fault: Int, _ phoneIndex: Int) {
        guard self.settings.faults.indices.contains(fault),
            case .ofPhone(let what) = self.settings.faults[fault]
        else { return }
        self.acts.append(Act(what: what, phoneIndex: phoneIndex))
        if what == .offline || what == .handover { self.phones[phoneIndex].life.losses += 1 }
    }

    mutating func ended(_ fault: Int, _ phoneIndex: Int) {
        guard self.settings.faults.indices.contains(fault),
            case .ofPhone(let what) = self.settings.faults[fault], what == .offline || what == .handover
        else { return }
        self.phones[phoneIndex].life.losses = max(0, self.phones[phoneIndex].life.losses - 1)
    }

    private func hasBegun(_ phoneIndex: Int, _ fits: (PhoneLifecycleEvent) -> Bool) -> Bool {
        self.acts.contains { $0.phoneIndex == phoneIndex && fits($0.what) }
    }

    mutating func ofLife(_ payload: PhoneObservation, _ scan: ScanNumber, _ phoneIndex: Int) {
        let now = self.now
        var unexplained: String?
        switch payload {
        case .launched:
            self.phones[phoneIndex].life.isAlive = true
            self.phones[phoneIndex].life.isAway = false
            let isSure = self.phones[phoneIndex].life.losses == 0 && !self.settings.hasTunnels
            self.phones[phoneIndex].life.hasPath = isSure ? true : nil
            self.phones[phoneIndex].life.launchedAt = now
        case .killed:
            self.phones[phoneIndex].life.isAlive = false
            self.phones[phoneIndex].life.isAway = false
            if !self.hasBegun(phoneIndex, { $0 == .kill || $0 == .reinstall }) {
                unexplained = "an app was killed"
            }
        case .reinstalled:
            self.phones[phoneIndex].life.reinstalledAt = now
            if !self.hasBegun(phoneIndex, { $0 == .reinstall }) { unexplained = "an app was reinstalled" }
        case .suspended: self.phones[phoneIndex].life.isAway = true
        case .resumed:
            self.phones[phoneIndex].life.isAway = false
            self.phones[phoneIndex].life.resumedAt = now
        case .pathLost: self.phones[phoneIndex].life.hasPath = false
        case .pathReturned:
            self.phones[phoneIndex].life.hasPath = true
            self.phones[phoneIndex].life.pathReturnedAt = now
        case .pathChanged:
            self.phones[phoneIndex].life.pathChangedAt = now
            if !self.hasBegun(phoneIndex, { $0 == .handover }) { unexplained = "the path changed" }
        case .storageFilled:
            self.phones[phoneIndex].life.isFull = true
            if !self.hasBegun(phoneIndex, { $0 == .storageFull }) { unexplained = "a storage became full" }
        case .storageFreed:
            self.phones[phoneIndex].life.isFull = false
            self.phones[phoneIndex].life.freedAt = now
        case .clockSet: self.phones[phoneIndex].life.clockSetAt = now
        default: break
        }
        guard let unexplained else { return }
        self.error("\(unexplained) without a fault", scan, phoneIndex)
    }

    /// Checks that a fault that began at this instant took effect by the end of the instant, unless it ended
    /// at once.
    mutating func judge(_ act: Act) {
        let (life, now) = (self.phones[act.phoneIndex].life, self.now)
        let hasHappened =
            switch act.what {
            case .kill: !life.isAlive || life.launchedAt == now
            case .reinstall: life.reinstalledAt == now
            case .background: !life.isAlive || life.isAway || life.resumedAt == now || life.launchedAt == now
            case .offline: !life.isAlive || life.hasPath != true || life.pathReturnedAt == now
            case .handover: !life.isAlive || life.hasPath != true || life.pathChangedAt == now
            case .storageFull: life.isFull || life.freedAt == now
            case .clockSkew: !life.isAlive || life.clockSetAt == now
            }
        guard !hasHappened else { return }
        self.error(
            "a fault of the phone began (\(act.what)), but the phone did not react", .none, act.phoneIndex)
    }
}
