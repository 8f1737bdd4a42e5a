import Faults
import Phone
import Plan
import SimBase
import VirtualWorld

extension Shrinker {
    private static let records = 1...6
    private static let events = 1...6

    /// Makes faults certain, single, for everybody, and without windows or ranges, where that still fails.
    mutating func simplifyFaults() {
        for fault in self.plan.run.scenario.faults {
            self.change(fault.id, "for everybody") { $0.scope = .everyone }
            self.change(fault.id, "on each scan") { $0.scan = nil }
            self.change(fault.id, "on each attempt") { $0.attempt = nil }
            self.change(fault.id, "on each transport") { $0.transport = nil }
            self.change(fault.id, "certain") { $0.chance = .always }
            self.change(fault.id, "once per scan") { $0.count = .oncePerScan }
            self.change(fault.id, "at one time for all phones") { $0.spread = .zero }
            self.change(fault.id, "from the start") { $0.window.at = .zero }
            if FaultTable.entry(fault.kind.name)?.mustEnd == false {
                self.change(fault.id, "without an end") { $0.window.length = nil }
            }
            self.change(fault.id, "for one second") { fault in
                if fault.window.length != nil { fault.window.length = .seconds(1) }
            }
            // One that waits for an event would be tied to it again in every round.
            self.change(fault.id, "at once") { if !$0.isAnchored { $0.trigger = .atOnce } }
            self.change(fault.id, "at a full second") { $0.window.at = $0.window.at.inFullSeconds }
            self.change(fault.id, "for full seconds") { fault in
                fault.window.length = fault.window.length.map { max(.seconds(1), $0.inFullSeconds) }
            }
            self.change(fault.id, "after a whole number of seconds") { $0.trigger = $0.trigger.rounded }
        }
    }

    /// Rounds the times of captures, and ends the run early.
    mutating func simplifyTimes() {
        self.attempt("all captures at the start") { plan in
            plan.changeCaptures { $0.scheduled = .zero }
        }
        self.attempt("captures at full seconds") { plan in
            plan.changeCaptures { $0.scheduled = .zero + ($0.scheduled - .zero).inFullSeconds }
        }
        for seconds: Int64 in [1, 10] {
            self.attempt("\(seconds) s to drain") { plan in
                plan.changeScenario { $0.drain = min($0.drain, .seconds(seconds)) }
            }
        }
    }

    /// Ties faults to events of a scan instead of times: such plans survive a change of the code, and read as a story.
    mutating func anchorFaults() {
        for fault in self.plan.run.scenario.faults {
            guard let entry = FaultTable.entry(fault.kind.name), !fault.isAnchored else { continue }
            for trigger in Self.anchors(of: entry) {
                let isAnchored = self.change(fault.id, "tied to an event") { fault in
                    fault.trigger = trigger
                    fault.window.at = .zero
                    fault.spread = .zero
                }
                if isAnchored { break }
            }
        }
    }

    private static func anchors(of entry: FaultKindEntry) -> [FaultTrigger] {
        entry.triggers.flatMap { form -> [FaultTrigger] in
            switch form {
            case .step: ScanStep.allCases.map { .afterStep($0) }
            case .records: self.records.map { .afterRecords($0...$0) }
            case .events: self.events.map { .afterEvents($0...$0) }
            case .time, .bytes: []
            }
        }
    }

    @discardableResult
    private mutating func change(
        _ id: String, _ step: String, _ change: (inout FaultSpec) -> Void
    ) -> Bool {
        self.attempt("\(id): \(step)") { plan in
            plan.changeScenario { scenario in
                guard let index = scenario.faults.firstIndex(where: { $0.id == id }) else { return }
                change(&scenario.faults[index])
            }
        }
    }
}

extension FaultSpec {
    /// Whether it waits for an event of a scan or a record of the storage, and not for a time.
    fileprivate var isAnchored: Bool {
        switch self.trigger {
        case .afterStep, .afterRecords, .afterEvents: true
        case .atOnce, .afterTime, .afterBytes: false
        }
    }
}

extension FaultTrigger {
    fileprivate var rounded: FaultTrigger {
        guard case .afterTime(let times) = self else { return self }
        let rounded = times.lowerBound.inFullSeconds
        return .afterTime(rounded...rounded)
    }
}

extension Interval {
    fileprivate var inFullSeconds: Interval { .seconds(self.wholeMilliseconds / 1_000) }
}

extension WorldPlan {
    fileprivate mutating func changeCaptures(_ change: (inout Arrival) -> Void) {
        guard var captures = self.captures else { return }
        for index in captures.indices { change(&captures[index]) }
        self.captures = captures.sorted {
            ($0.scheduled, $0.device, $0.ordinal) < ($1.scheduled, $1.device, $1.ordinal)
        }
    }
}
