package import Observations
package import SimBase
package import Talaria

/// Decides which faults affect an exchange.
///
/// Every draw is a function of (seed, fault key, device, scan, operation), and the values of a trigger also
/// of the attempt, never of the order of arrival or the fault's position in the list. Two runs with the same
/// seed therefore decide the same for every exchange that both reach, and removing one fault does not affect
/// the others. A planner only remembers how often each fault has fired for each scan.
package struct FaultPlanner: Sendable {
    /// Scans whose firings are remembered. Beyond it the scan that fired first of all is forgotten: its faults could
    /// fire again, which for a scan that old only means that a retry is disturbed twice.
    package static let scansRemembered = 200_000

    package let specs: [FaultSpec]
    /// Whether this side meets each fault.
    private let isMine: [Bool]
    private var random: KeyedRandom
    /// The identity of each fault for the draws.
    private let digests: [UInt64]
    /// Whether each fault acts; all do at first.
    private var isOn: [Bool]
    private var firings = FiringCounts(scansMax: FaultPlanner.scansRemembered)

    package init(specs: [FaultSpec], random: KeyedRandom, side: FaultSide = .backend) {
        self.specs = specs
        // Faults of the phone belong to no exchange.
        self.isMine = specs.map {
            $0.kind.layer != .phone && $0.kind.has(.isHandledByPhone) == (side == .phone)
        }
        self.random = random
        self.digests = specs.map(\.key)
        self.isOn = Array(repeating: true, count: specs.count)
    }

    /// Switches a fault on or off, for the exchanges that open from now on.
    package mutating func set(_ fault: Int, isOn: Bool) { self.isOn[fault] = isOn }

    /// Whether a fault is switched on.
    package func isOn(_ fault: Int) -> Bool { self.isOn[fault] }

    /// Continues with other draws.
    package mutating func redraw(_ random: KeyedRandom) { self.random = random }

    /// Returns the faults that affect this exchange, in the order of the list. `transport`: by what the job is followed, where it
    /// is one of a stream.
    ///
    /// Observes one `.decided` for every fault that acts on such an operation: whether scope and chance
    /// select this key, whatever the time is and whatever has fired before. Of these, the faults that are
    /// active and have firings left are armed. A fault whose window opens later in the exchange is armed if
    /// its trigger is a time (or none): it waits for its window. A trigger of events or bytes must be active
    /// when the exchange opens. A fault that lasts for its whole window (`FaultTraits.lasts`) is armed until
    /// its window has closed.
    package mutating func open(
        _ key: ExchangeKey, by transport: StreamTransport, group: String, at now: Instant,
        into observations: inout [Observation]
    ) -> [ArmedFault] {
        var armed: [ArmedFault] = []
        // By index: the loop would copy each fault.
        for index in self.specs.indices
        where self.isOn[index] && self.isMine[index]
            && self.specs[index].acts(on: key.operation, by: transport)
        {
            let fires = self.decides(index, key, group: group)
            observations.append(
                Observation(
                    at: now, device: key.device, scan: key.scan,
                    what: .fault(
                        .decided(fault: index, key.operation, attempt: key.attempt, fires: fires))))
            guard fires, self.hasFiringsLeft(index, key),
                let trigger = self.trigger(index, key, at: now)
            else { continue }
            let spec = self.specs[index]
            armed.append(
                ArmedFault(
                    fault: index, kind: spec.kind, trigger: trigger, window: spec.window,
                    draw: self.random.draw(
                        .cut, self.digests[index], Self.scanKey(key), Self.attemptKey(key))))
        }
        return armed
    }

    /// Whether scope and chance choose this exchange: a pure function of the key.
    package func decides(_ fault: Int, _ key: ExchangeKey, group: String) -> Bool {
        // Each by the index: the fault as a whole would be copied.
        self.covers(fault, key.device, group: group)
            && self.specs[fault].scan ?? key.scan.raw == key.scan.raw
            && self.specs[fault].attempt ?? key.attempt == key.attempt
            && self.specs[fault].chance.happens(
                self.random.draw(
                    .faultChance, self.digests[fault], Self.scanKey(key), UInt64(key.operation.rawValue)))
    }

    /// Records that a fault took effect. Consumes one firing of the scan; unknown indexes are ignored.
    package mutating func fired(_ fault: Int, _ key: ExchangeKey) {
        guard self.specs.indices.contains(fault), self.specs[fault].count.firingsMax != nil else { return }
        self.firings.add(fault, device: key.device, scan: key.scan)
    }

    /// Records that a fault came too late: its firing is available for another exchange of the scan.
    package mutating func missed(_ fault: Int, _ key: ExchangeKey) {
        guard self.specs.indices.contains(fault) else { return }
        self.firings.takeBack(fault, device: key.device, scan: key.scan)
    }

    /// Returns the faults of a phone with their times, in the order of the list; windows may overlap.
    ///
    /// Chance, scope and the time within the spread are drawn once per fault and phone, for the whole run.
    package func phoneSchedule(device: DeviceNumber, group: String) -> [PhoneWindow] {
        var windows: [PhoneWindow] = []
        for (index, spec) in self.specs.enumerated() {
            guard case .phone(let fault) = spec.kind, self.covers(index, device, group: group),
                spec.chance.happens(
                    self.random.draw(.faultChance, self.digests[index], UInt64(device.raw)))
            else { continue }
            let late = Self.pick(
                self.random.draw(.faultTrigger, self.digests[index], UInt64(device.raw)),
                0...spec.spread.nanoseconds)
            let from = (Instant.zero + spec.window.at) + Interval(nanoseconds: late)
            windows.append(
                PhoneWindow(
                    fault: index, kind: fault, from: from,
                    to: spec.window.length.map { from + $0 } ?? .distantFuture,
                    trigger: self.phoneTrigger(index, device)))
        }
        return windows
    }

    private func phoneTrigger(_ fault: Int, _ device: DeviceNumber) -> PhoneTrigger? {
        switch self.specs[fault].trigger {
        case .atOnce, .afterTime, .afterEvents, .afterBytes: return nil
        case .afterRecords(let range):
            let draw = self.random.draw(.faultTrigger, self.digests[fault], UInt64(device.raw), 1)
            return .afterRecords(
                Int(Self.pick(draw, Int64(range.lowerBound)...Int64(range.upperBound))))
        case .afterStep(let step): return .afterStep(step)
        }
    }

    private func covers(_ fault: Int, _ device: DeviceNumber, group: String) -> Bool {
        switch self.specs[fault].scope {
        case .everyone: true
        case .group(let name): name == group
        case .phone(let number): number == device
        case .share(let share):
            share.happens(self.random.draw(.faultScope, self.digests[fault], UInt64(device.raw)))
        }
    }

    private func hasFiringsLeft(_ fault: Int, _ key: ExchangeKey) -> Bool {
        guard let limit = self.specs[fault].count.firingsMax else { return true }
        return self.firings.count(fault, device: key.device, scan: key.scan) < limit
    }

    /// The trigger with its value drawn, or nil when the window rules it out.
    private func trigger(_ fault: Int, _ key: ExchangeKey, at now: Instant) -> ArmedTrigger? {
        let spec = self.specs[fault]
        if spec.kind.has(.lasts) { return spec.window.end.map { now < $0 } ?? true ? .atOnce : nil }
        let draw = self.random.draw(
            .faultTrigger, self.digests[fault], Self.scanKey(key), Self.attemptKey(key))
        switch spec.trigger {
        case .afterEvents(let range):
            return spec.window.contains(now)
                ? .afterEvents(Int(Self.pick(draw, Int64(range.lowerBound)...Int64(range.upperBound)))) : nil
        case .afterBytes(let range):
            return spec.window.contains(now)
                ? .afterBytes(Int(Self.pick(draw, Int64(range.lowerBound)...Int64(range.upperBound)))) : nil
        case .afterTime(let range):
            let time = Self.pick(draw, range.lowerBound.nanoseconds...range.upperBound.nanoseconds)
            return self.timed(spec.window, Interval(nanoseconds: time), at: now)
        case .afterRecords, .afterStep: return nil  // Only a phone's own side knows.
        case .atOnce:
            if spec.window.contains(now) { return .atOnce }
            // Only a stream lives long enough to wait for a window, and only when it is open.
            guard key.operation == .stream, !spec.kind.has(.isHandledByPhone) else { return nil }
            return self.timed(spec.window, .zero, at: now)
        }
    }

    /// The trigger of an exchange with its value drawn, as a range of one value.
    func drawnTrigger(_ fault: Int, _ key: ExchangeKey) -> FaultTrigger {
        let draw = self.random.draw(
            .faultTrigger, self.digests[fault], Self.scanKey(key), Self.attemptKey(key))
        switch self.specs[fault].trigger {
        case .afterEvents(let range):
            let events = Int(Self.pick(draw, Int64(range.lowerBound)...Int64(range.upperBound)))
            return .afterEvents(events...events)
        case .afterBytes(let range):
            let bytes = Int(Self.pick(draw, Int64(range.lowerBound)...Int64(range.upperBound)))
            return .afterBytes(bytes...bytes)
        case .afterTime(let range):
            let time = Interval(
                nanoseconds: Self.pick(draw, range.lowerBound.nanoseconds...range.upperBound.nanoseconds))
            return .afterTime(time...time)
        case .atOnce, .afterRecords, .afterStep: return self.specs[fault].trigger
        }
    }

    /// The trigger's time, moved back to the opening of the window if need be; nil when the window is over by then.
    private func timed(_ window: FaultWindow, _ time: Interval, at now: Instant) -> ArmedTrigger? {
        let opens = Instant.zero + window.at
        let due = max(now + time, opens)
        return window.contains(due) ? .afterTime(due - now) : nil
    }

    private static func pick(_ draw: UInt64, _ range: ClosedRange<Int64>) -> Int64 {
        let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
        guard width < .max else { return Int64(bitPattern: draw) }
        return range.lowerBound &+ Int64(bitPattern: draw.multipliedFullWidth(by: width + 1).high)
    }

    private static func scanKey(_ key: ExchangeKey) -> UInt64 {
        UInt64(key.device.raw) << 32 | UInt64(key.scan.raw)
    }

    private static func attemptKey(_ key: ExchangeKey) -> UInt64 {
        UInt64(key.operation.rawValue) << 32 | UInt64(key.attempt)
    }
}

/// Which exchange a fault decides on.
package struct ExchangeKey: Hashable, Sendable {
    package var device: DeviceNumber
    package var scan: ScanNumber
    package var operation: Operation
    /// The attempt, from 1, see `TraceContext.attempt`.
    package var attempt: UInt32

    package init(device: DeviceNumber, scan: ScanNumber, operation: Operation, attempt: UInt32) {
        self.device = device
        self.scan = scan
        self.operation = operation
        self.attempt = attempt
    }
}

/// The side that uses a planner.
package enum FaultSide: Hashable, Sendable {
    /// The server and the link, which the simulated backend applies.
    case backend
    /// The phone's driver, for what happens before anything is sent.
    case phone
}

/// The condition that a fault of the phone waits for, with its value drawn.
package enum PhoneTrigger: Hashable, Sendable {
    case afterRecords(Int)
    case afterStep(ScanStep)
}

/// A time in which a fault of the phone holds.
package struct PhoneWindow: Hashable, Sendable {
    /// Its index in the scenario's list.
    package var fault: Int
    package var kind: PhoneFault
    package var from: Instant
    /// `Instant.distantFuture` when it never ends.
    package var to: Instant
    /// The condition that it waits for, starting at `from`; nil for none. The window opens when the condition
    /// is met and keeps its length.
    package var trigger: PhoneTrigger?

    package init(
        fault: Int, kind: PhoneFault, from: Instant, to: Instant, trigger: PhoneTrigger? = nil
    ) {
        self.fault = fault
        self.kind = kind
        self.from = from
        self.to = to
        self.trigger = trigger
    }

    /// The window of a fault that waited until now.
    package func opened(at now: Instant) -> PhoneWindow {
        PhoneWindow(
            fault: self.fault, kind: self.kind, from: now,
            to: self.to == .distantFuture ? .distantFuture : now + (self.to - self.from))
    }
}
