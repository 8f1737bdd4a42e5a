import Backend
import Phone
import Plan
import SimBase
import VirtualWorld

extension WorldPlan {
    /// The time after the last capture in which a fault may begin.
    private static let tail = Interval.minutes(2)

    /// Changes the scenario and leaves everything else as it is. Groups may be left out.
    mutating func changeScenario(_ change: (inout Scenario) -> Void) {
        var scenario = self.run.scenario
        change(&scenario)
        self.run = RunPlan(scenario, target: .embedded)
    }

    /// Returns the plan of the phones that capture something, numbered from 0, and which phones these were.
    func withoutIdlePhones() -> (plan: WorldPlan, phones: [DeviceNumber]) {
        let active = Set((self.captures ?? []).map(\.device)).sorted()
        guard !active.isEmpty, active.count < self.run.devices else {
            return (self, (0..<UInt32(self.run.devices)).map { DeviceNumber($0) })
        }
        var plan = self
        plan.keepPhones(active)
        plan.fitLoads()
        return (plan, active)
    }

    /// The time to settle that a plan of this size needs at most, and no more than it has: a scan may time out a few times, and a
    /// phone that may meet the rate limit waits for its window twice. Nil without a settled end.
    var settleInProportion: Interval? {
        guard let settle, let captures = self.captures else { return self.settle }
        let items = captures.count + self.run.scenario.faults.count
        var time = Self.settleBase + Self.settlePerItem * Int64(items)
        if let limit = self.run.scenario.server.backend.uploadLimit {
            var counts = Array(repeating: 0, count: self.run.devices)
            for capture in captures { counts[Int(capture.device.raw)] += 1 }
            if counts.reduce(0, max) * Self.uploadsPerScan > limit.requests { time = time + limit.window * 2 }
        }
        return min(settle, time)
    }

    private static let settleBase = Interval.minutes(2)
    private static let settlePerItem = Interval.minutes(1)
    /// Uploads of one scan: the first, those after its token has expired, and one after a retryable error.
    private static let uploadsPerScan = 5

    /// Gives open groups rates that last as long as the captures that are listed one by one, so that the plan passes the checks of
    /// a scenario.
    mutating func fitLoads() {
        guard let captures = self.captures else { return }
        let last = captures.map { $0.scheduled - Instant.zero }.max() ?? Interval.zero
        self.changeScenario { scenario in
            for index in scenario.groups.indices {
                guard case .open = scenario.groups[index].load else { continue }
                let scans = Int64(scenario.groups[index].devices * scenario.groups[index].scansPerDevice)
                let gap = Interval.seconds(((last + Self.tail) / max(1, scans)).wholeMilliseconds / 1_000 + 1)
                scenario.groups[index].load = .open(.constant(ArrivalRate(arrivals: 1, per: gap)), .uniform)
            }
        }
    }
}
