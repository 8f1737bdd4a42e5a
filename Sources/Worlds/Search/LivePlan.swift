import Faults
import Metrics
package import Observations
import Phone
package import Plan
package import SimBase
package import VirtualWorld

/// The plan of a live run: some of its phones with their captures, and the faults that took effect on them, each tied to the
/// exchange or the time of its effect.
package struct LivePlan: Sendable {
    package static let phonesMax = 32
    /// Faults of all phones together.
    package static let faultsMax = 60
    package static let capturesMax = 2_000
    /// The size of the largest photo that a plan can have.
    private static let photoBytesMax = 100_000_000

    package private(set) var plan: WorldPlan
    package private(set) var phones: [DeviceNumber] = []
    /// Faults of the first phone that fit nowhere.
    package private(set) var faultsLeftOut = 0

    /// - Parameter candidates: The phones, the most important first. Those that no longer fit are left out.
    /// - Parameter observations: Those of at least these phones, in the order of time.
    /// - Parameter wallClockAtZero: Milliseconds since 1970 at the start of the run.
    /// - Parameter endedAt: The end of the run.
    package init(
        _ run: RunPlan, of candidates: [DeviceNumber], _ observations: [Observation],
        wallClockAtZero: Int64, endedAt: Instant
    ) {
        self.plan = WorldPlan(run)
        self.plan.wallClockAtZero = wallClockAtZero
        let byPhone = Dictionary(grouping: observations, by: \.device)
        var records: [LivePhoneRecord] = []
        var (faults, captures) = (0, 0)
        for phone in candidates.prefix(Self.phonesMax) {
            guard let group = run.groupIfAny(of: phone) else { continue }
            var record = LivePhoneRecord(
                phone, group: group.spec.name, byPhone[phone] ?? [], run.faultDesk)
            guard !record.captures.isEmpty else { continue }
            if records.isEmpty {
                self.faultsLeftOut = max(0, record.faults.count - Self.faultsMax)
                record.faults.removeFirst(self.faultsLeftOut)
                record.captures = Array(record.captures.prefix(Self.capturesMax))
            }
            guard faults + record.faults.count <= Self.faultsMax,
                captures + record.captures.count <= Self.capturesMax
            else { continue }
            faults += record.faults.count
            captures += record.captures.count
            records.append(record)
        }
        self.phones = records.map(\.device)
        self.setCaptures(of: records)
        self.setScenario(faults: records.flatMap(\.faults), endedAt: endedAt)
        self.plan.fitLoads()
    }

    private mutating func setCaptures(of records: [LivePhoneRecord]) {
        let groups = self.plan.run.groups
        var sizes = self.plan.photoSizes
        for (index, group) in groups.enumerated() {
            let known = records.filter { group.devices.contains($0.device.raw) }.flatMap(\.captures)
                .compactMap(\.bytes)
            let distinct = Set(known.map { min(max(1, $0), Self.photoBytesMax) }).sorted()
            if !distinct.isEmpty { sizes[index] = distinct }
        }
        self.plan.photoSizes = sizes
        var arrivals: [Arrival] = []
        for record in records {
            guard let group = groups.firstIndex(where: { $0.devices.contains(record.device.raw) }) else {
                continue
            }
            for (index, capture) in record.captures.enumerated() {
                let photo = capture.bytes.flatMap { sizes[group].firstIndex(of: $0) } ?? 0
                arrivals.append(
                    Arrival(
                        scheduled: capture.scheduled, device: record.device, ordinal: index + 1,
                        photo: photo, of: sizes[group].count))
            }
        }
        self.plan.captures = arrivals.sorted {
            ($0.scheduled, $0.device, $0.ordinal) < ($1.scheduled, $1.device, $1.ordinal)
        }
    }

    /// The scenario without what only the whole run could meet.
    private mutating func setScenario(faults: [FaultSpec], endedAt: Instant) {
        let last = self.plan.captures?.last?.scheduled ?? .zero
        let rest = Interval.milliseconds((endedAt - last).wholeMilliseconds + 1)
        self.plan.changeScenario { scenario in
            scenario.faults = Self.named(faults)
            scenario.slos = []
            scenario.coverageGoals = []
            scenario.duration = nil
            scenario.expectBroken.removeAll { if case .objectives = $0 { true } else { false } }
            scenario.drain = min(max(scenario.drain, rest), ScenarioLimit.timeMax)
            for index in scenario.groups.indices
            where scenario.groups[index].isClosed || scenario.groups[index].isStepped {
                scenario.groups[index].load = .open(SwarmPlans.noRate, .uniform)
            }
        }
    }

    /// Gives each fault an id of its own: `reset-1`, `reset-1.2`, `reset-1.3`.
    private static func named(_ faults: [FaultSpec]) -> [FaultSpec] {
        var taken: Set<String> = []
        return faults.map { fault in
            var fault = fault
            let stem = String(fault.id.prefix(ScenarioLimit.nameCharactersMax - 4))
            var number = 1
            while !taken.insert(fault.id).inserted {
                number += 1
                fault.id = "\(stem).\(number)"
            }
            return fault
        }
    }
}

/// What a live run did to one phone.
struct LivePhoneRecord: Sendable {
    struct Capture: Sendable {
        let scheduled: Instant
        /// The size of the photo as it was uploaded; nil if that is not known.
        var bytes: Int?
    }

    let device: DeviceNumber
    var captures: [Capture] = []
    /// The faults in the order in which they first took effect.
    var faults: [FaultSpec] = []
    /// The number that each scan has in a run that begins with an empty storage.
    private var scans: [ScanNumber: ScanNumber] = [:]

    /// - Parameter observations: Those of the phone, in the order of time.
    init(
        _ device: DeviceNumber, group: String, _ observations: [Observation], _ planner: FaultPlanner
    ) {
        self.device = device
        self.noteCaptures(observations)
        let windows = planner.phoneSchedule(device: device, group: group)
        var opened: [ExchangeKey: Instant] = [:]
        for observation in observations {
            guard case .fault(let payload) = observation.what else { continue }
            switch payload {
            case .decided(_, let operation, let attempt, _):
                let key = ExchangeKey(
                    device: device, scan: observation.scan, operation: operation, attempt: attempt)
                if opened[key] == nil { opened[key] = observation.at }
            case .fired(let fault, let operation, let attempt):
                guard planner.specs.indices.contains(fault) else { continue }
                let key = ExchangeKey(
                    device: device, scan: observation.scan, operation: operation, attempt: attempt)
                self.add(
                    planner.pinned(
                        fault, to: key, opened: opened[key] ?? observation.at,
                        scan: self.scans[observation.scan] ?? observation.scan))
            case .passed: continue
            case .began(let fault):
                guard let window = windows.first(where: { $0.fault == fault }) else { continue }
                self.add(planner.pinned(window, device: device))
            case .ended: break
            }
        }
    }

    /// A fault may take effect several times in one exchange.
    private mutating func add(_ fault: FaultSpec) {
        if !self.faults.contains(fault) { self.faults.append(fault) }
    }

    private mutating func noteCaptures(_ observations: [Observation]) {
        var captureOfScan: [ScanNumber: Int] = [:]
        var isFurtherRegion = false
        for observation in observations {
            if case .phone(.regionTaken(_, let number, _)) = observation.what {
                isFurtherRegion = number > 1
            } else if case .phone(.captured(let scheduled)) = observation.what {
                self.scans[observation.scan] = ScanNumber(UInt32(self.scans.count + 1))
                if !isFurtherRegion { self.captures.append(Capture(scheduled: scheduled)) }
                captureOfScan[observation.scan] = self.captures.count - 1
                isFurtherRegion = false
            } else if case .phone(.photoPrepared(_, let bytes)) = observation.what,
                let index = captureOfScan[observation.scan], self.captures.indices.contains(index)
            {
                self.captures[index].bytes = bytes
            }
        }
    }
}
