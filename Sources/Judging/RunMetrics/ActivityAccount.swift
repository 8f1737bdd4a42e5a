package import Observations
package import SimBase
import Talaria

/// The time of one scan by activity, in units of `ScanTable.unit`.
package struct ActivityTimes: Equatable, Sendable {
    private var units = SIMD16<UInt32>.zero

    package init() {}

    package var total: Interval { ScanActivity.allCases.reduce(.zero) { $0 + self[$1] } }

    /// The activity that took longest; nil if none took any time.
    package var longest: ScanActivity? { SlowTime.parts { self[$0] }.first?.activity }

    package subscript(activity: ScanActivity) -> Interval {
        ScanTable.unit * Int64(self.units[activity.ordinal])
    }

    package mutating func add(_ time: Interval, to activity: ScanActivity) {
        let units = (time + ScanTable.unit / 2).nanoseconds / ScanTable.unit.nanoseconds
        self.units[activity.ordinal] = UInt32(clamping: Int64(self.units[activity.ordinal]) + units)
    }
}

extension ScanActivity {
    fileprivate var ordinal: Int {
        switch self {
        case .queue: 0
        case .preparing: 1
        case .upload: 2
        case .limited: 3
        case .backoff: 4
        case .connecting: 5
        case .server: 6
        case .results: 7
        case .offline: 8
        case .closed: 9
        }
    }
}

/// Follows where the time of each scan of a run goes. A value; phones may come in any order.
package struct ActivityAccount: Sendable {
    fileprivate struct OpenScan {
        let scan: ScanNumber
        var clock: ActivityClock
        var times = ActivityTimes()
    }

    fileprivate struct Phone {
        let device: DeviceNumber
        var condition = PhoneCondition()
        var scans: [OpenScan] = []
    }

    private var indexes = DeviceIndex()
    private var phones: [Phone] = []

    package init() {}

    /// Returns the times of a scan that an observation of a phone ends.
    package mutating func record(
        _ payload: PhoneObservation, of scan: ScanNumber, on device: DeviceNumber, at moment: Instant
    ) -> ActivityTimes? {
        let index = self.index(of: device)
        if PhoneCondition.isChanged(by: payload) { self.phones[index].change(payload, at: moment) }
        return scan == .none ? nil : self.phones[index].record(payload, of: scan, at: moment)
    }

    /// The scans that have not ended.
    package func open(at moment: Instant) -> [(device: DeviceNumber, scan: ScanNumber, times: ActivityTimes)]
    {
        self.phones.flatMap { phone in
            var phone = phone
            phone.advance(to: moment)
            return phone.scans.map { (phone.device, $0.scan, $0.times) }
        }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.phones.append(Phone(device: device))
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }
}

extension ActivityAccount.Phone {
    fileprivate mutating func advance(to moment: Instant) {
        for index in self.scans.indices { self.scans[index].advance(to: moment, self.condition) }
    }

    fileprivate mutating func change(_ payload: PhoneObservation, at moment: Instant) {
        self.advance(to: moment)
        self.condition.record(payload, at: moment)
        // What went with the app has no end.
        if case .reinstalled = payload { self.scans = [] }
    }

    fileprivate mutating func record(_ payload: PhoneObservation, of scan: ScanNumber, at moment: Instant)
        -> ActivityTimes?
    {
        if case .captured(let scheduled) = payload {
            let from = max(.zero, min(scheduled, moment))
            self.scans.append(ActivityAccount.OpenScan(scan: scan, clock: ActivityClock(from: from)))
        }
        guard let index = self.scans.lastIndex(where: { $0.scan == scan }) else { return nil }
        self.scans[index].record(payload, at: moment, self.condition)
        switch payload {
        case .completed, .refused, .canceled: return self.scans.remove(at: index).times
        default: return nil
        }
    }
}

extension ActivityAccount.OpenScan {
    fileprivate mutating func advance(to moment: Instant, _ phone: PhoneCondition) {
        var times = self.times
        self.clock.advance(to: moment, phone) { times.add($2 - $1, to: $0) }
        self.times = times
    }

    fileprivate mutating func record(_ payload: PhoneObservation, at moment: Instant, _ phone: PhoneCondition)
    {
        var times = self.times
        self.clock.record(payload, at: moment, phone) { times.add($2 - $1, to: $0) }
        self.times = times
    }
}
