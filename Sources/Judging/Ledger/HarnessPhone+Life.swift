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

extension HarnessPhone {
    struct Act: Sendable {
        let what: PhoneLifecycleEvent
        /// The index of its phone.
        let phone: Int
    }

    mutating func began(_ fault: Int, _ fleet: inout HarnessFleet) {
        guard fleet.settings.faults.indices.contains(fault),
            case .ofPhone(let what) = fleet.settings.faults[fault]
        else { return }
        fleet.acts.append(Act(what: what, phone: self.index))
        if what == .offline || what == .handover { self.life.losses += 1 }
    }

    mutating func ended(_ fault: Int, _ fleet: inout HarnessFleet) {
        guard fleet.settings.faults.indices.contains(fault),
            case .ofPhone(let what) = fleet.settings.faults[fault], what == .offline || what == .handover
        else { return }
        self.life.losses = max(0, self.life.losses - 1)
    }

    private func hasBegun(_ fleet: inout HarnessFleet, _ fits: (PhoneLifecycleEvent) -> Bool) -> Bool {
        fleet.acts.contains { $0.phone == self.index && fits($0.what) }
    }

    mutating func ofLife(_ payload: PhoneObservation, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        let now = fleet.now
        var unexplained: String?
        switch payload {
        case .launched:
            self.life.isAlive = true
            self.life.isAway = false
            let isSure = self.life.losses == 0 && !fleet.settings.hasTunnels
            self.life.hasPath = isSure ? true : nil
            self.life.launchedAt = now
        case .killed:
            self.life.isAlive = false
            self.life.isAway = false
            if !self.hasBegun(&fleet, { $0 == .kill || $0 == .reinstall }) {
                unexplained = "an app was killed"
            }
        case .reinstalled:
            self.life.reinstalledAt = now
            if !self.hasBegun(&fleet, { $0 == .reinstall }) { unexplained = "an app was reinstalled" }
        case .suspended: self.life.isAway = true
        case .resumed:
            self.life.isAway = false
            self.life.resumedAt = now
        case .pathLost: self.life.hasPath = false
        case .pathReturned:
            self.life.hasPath = true
            self.life.pathReturnedAt = now
        case .pathChanged:
            self.life.pathChangedAt = now
            if !self.hasBegun(&fleet, { $0 == .handover }) { unexplained = "the path changed" }
        case .storageFilled:
            self.life.isFull = true
            if !self.hasBegun(&fleet, { $0 == .storageFull }) { unexplained = "a storage became full" }
        case .storageFreed:
            self.life.isFull = false
            self.life.freedAt = now
        case .clockSet: self.life.clockSetAt = now
        default: break
        }
        guard let unexplained else { return }
        self.error("\(unexplained) without a fault", scan, &fleet)
    }

    /// Checks that a fault that began at this instant took effect by the end of the instant, unless it ended
    /// at once.
    mutating func judge(_ act: Act, _ fleet: inout HarnessFleet) {
        let (life, now) = (self.life, fleet.now)
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
        self.error("a fault of the phone began (\(act.what)), but the phone did not react", .none, &fleet)
    }
}
