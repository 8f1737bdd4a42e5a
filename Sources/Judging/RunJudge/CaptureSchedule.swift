import Observations
package import SimBase

/// The second source of the times at which the captures of open groups were due: the schedule of the plan,
/// made apart from the one that starts the captures. A scan that is measured from any other time hides how
/// late it began (coordinated omission).
///
/// Captures may come in any order, and some of the schedule may never come. Its memory is bounded by the number of those.
package struct CaptureSchedule: Sendable {
    /// A capture that the load model requires.
    package struct Capture: Hashable, Sendable {
        var device: DeviceNumber
        var due: Instant

        package init(device: DeviceNumber, due: Instant) {
            self.device = device
            self.due = due
        }
    }

    /// What has not been looked at, in the order of its times.
    private var rest: any IteratorProtocol<Capture> & Sendable
    private var next: Capture?
    /// The captures that were looked at and have not been made, and how often the schedule has each.
    private var open: [Capture: Int] = [:]
    private let isOpenGroup: [Bool]
    /// Phones whose next scan is a later region of the photo before.
    private var laterRegions: Set<DeviceNumber> = []
    private var first: String?
    private var count = 0

    /// - Parameter schedule: The captures of the open groups in the order of their times.
    /// - Parameter isOpenGroup: Whether a group has a schedule, for each group of the fleet.
    package init(_ schedule: any IteratorProtocol<Capture> & Sendable, isOpenGroup: [Bool]) {
        self.rest = schedule
        self.isOpenGroup = isOpenGroup
        self.next = self.rest.next()
    }

    /// Adds captures behind all others, in the order of their times.
    mutating func extend(_ captures: [Capture]) {
        self.rest = Extended(rest: self.rest, more: captures.makeIterator())
        if self.next == nil { self.next = self.rest.next() }
    }

    mutating func record(_ observation: borrowing Observation, group: Int?) {
        guard case .phone(let payload) = observation.what, let group, self.isOpenGroup[group] else { return }
        switch payload {
        case .regionTaken(_, let number, _):
            // All regions of a photo come from one capture.
            if number > 1 { self.laterRegions.insert(observation.device) }
        case .captured(let due):
            guard self.laterRegions.remove(observation.device) == nil else { return }
            let capture = Capture(device: observation.device, due: due)
            if !self.take(capture) { self.note(capture, observation.scan) }
        default: break
        }
    }

    /// Marks a capture as made. Returns whether the schedule has it and it was not made yet.
    private mutating func take(_ capture: Capture) -> Bool {
        while let next = self.next, next.due <= capture.due {
            self.open[next, default: 0] += 1
            self.next = self.rest.next()
        }
        guard let times = self.open[capture] else { return false }
        self.open[capture] = times > 1 ? times - 1 : nil
        return true
    }

    private mutating func note(_ capture: Capture, _ scan: ScanNumber) {
        self.count += 1
        guard self.first == nil else { return }
        self.first =
            "phone \(capture.device.raw) scan \(scan.raw) counts from \(capture.due.nanoseconds) ns, at which the schedule has no capture of that phone"
    }

    /// The captures that the schedule does not have; nil if there is none.
    var differences: (first: String, count: Int)? { self.first.map { ($0, self.count) } }
}

/// A schedule with more captures behind it.
private struct Extended: IteratorProtocol, Sendable {
    var rest: any IteratorProtocol<CaptureSchedule.Capture> & Sendable
    var more: IndexingIterator<[CaptureSchedule.Capture]>

    mutating func next() -> CaptureSchedule.Capture? { self.rest.next() ?? self.more.next() }
}
