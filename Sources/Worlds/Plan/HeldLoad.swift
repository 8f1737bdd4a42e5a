package import SimBase

/// The load that the operator of a run takes away from its phones: captures that are planned and not made.
///
/// A capture that is due while its phone is held counts once, in open groups and in closed ones. What a phone of a closed group
/// would have captured after that depends on the run: where the phones have a number of scans, those that they have not begun
/// at the end count; where captures end at a time, the time counts for which phones with scans left were held.
package struct HeldLoad: Sendable {
    /// The end of all captures; nil where only the number of scans limits them.
    private let until: Instant?
    package private(set) var isPaused = false
    private var resting: Set<DeviceNumber> = []
    /// Phones of closed groups whose next capture was due. Their users think again when captures go on.
    private var waiting: [DeviceNumber] = []
    /// Captures that were held back.
    package private(set) var captures = 0
    /// The time for which phones of closed groups were held, of all phones together.
    package private(set) var time = PhoneTime.zero
    private var since = Instant.zero

    /// `until`: the end of all captures; `distantFuture` if there is none.
    package init(until: Instant) { self.until = until == .distantFuture ? nil : until }

    // MARK: Events

    package mutating func paused() { self.isPaused = true }

    /// Returns the phones whose users think again.
    package mutating func resumed() -> [DeviceNumber] {
        self.isPaused = false
        return self.takeReleased()
    }

    package mutating func rested(_ devices: [DeviceNumber]) { self.resting.formUnion(devices) }

    /// Returns the phones whose users think again.
    package mutating func woke(_ devices: [DeviceNumber]) -> [DeviceNumber] {
        self.resting.subtract(devices)
        return self.takeReleased()
    }

    /// Notes that time has passed, before what is held changes. `phones`: those of closed groups that have scans left.
    package mutating func passed(to now: Instant, phones: some Sequence<DeviceNumber>) {
        defer { self.since = now }
        guard let until = self.until, self.isPaused || !self.resting.isEmpty else { return }
        let span = PhoneTime(min(now, until) - min(self.since, until))
        self.time += span * Int64(phones.count { self.holds($0) })
    }

    /// A capture of an open group is due. Returns whether it is held back.
    package mutating func holdsBack(_ device: DeviceNumber) -> Bool {
        guard self.holds(device) else { return false }
        self.captures += 1
        return true
    }

    /// A capture of a closed group is due. Returns whether it is put off.
    package mutating func putsOff(_ device: DeviceNumber) -> Bool {
        guard self.holdsBack(device) else { return false }
        self.waiting.append(device)
        return true
    }

    /// The run ends. `left`: the scans that each phone of a closed group has not begun. Returns the number of those that count.
    package mutating func ended(left: some Sequence<(device: DeviceNumber, scans: Int)>) -> Int {
        guard self.until == nil else { return 0 }
        let counted = Set(self.waiting)
        let scans = left.reduce(0) {
            guard self.holds($1.device) else { return $0 }
            return $0 + $1.scans - (counted.contains($1.device) ? 1 : 0)
        }
        self.captures += scans
        return scans
    }

    // MARK: Queries

    package func holds(_ device: DeviceNumber) -> Bool { self.isPaused || self.resting.contains(device) }

    /// Whether captures are left that only the operator keeps from being made. A phone at rest does not keep a run going.
    package var keepsRunning: Bool { self.isPaused && !self.waiting.isEmpty }

    private mutating func takeReleased() -> [DeviceNumber] {
        let waiting = self.waiting
        self.waiting = waiting.filter { self.holds($0) }
        return waiting.filter { !self.holds($0) }
    }
}
