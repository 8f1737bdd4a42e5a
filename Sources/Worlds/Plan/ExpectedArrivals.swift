import Backend
import Faults
import Phone
package import SimBase
import Talaria

/// The number of captures of a run, and when the last is due. For a closed group this is the highest possible number and
/// the earliest possible end: as if no scan took any time.
package struct ExpectedArrivals: Hashable, Sendable {
    /// The scans in the order of the groups.
    package var scansByGroup: [Int]
    package var lastArrival: Instant

    package init(scansByGroup: [Int], lastArrival: Instant) {
        self.scansByGroup = scansByGroup
        self.lastArrival = lastArrival
    }

    package var scans: Int { self.scansByGroup.reduce(0, +) }
}

extension RunPlan {
    /// The assumed size of a preprocessed photo that was not measured.
    package static let photoBytesTypical = 250_000

    /// About how long a scan of a group takes from capture to settled, when nothing goes wrong: the upload, the
    /// middle of the job time, and a round trip for each of connect, upload, stream and cleanup.
    package func scanTime(of group: PlannedGroup) -> Interval {
        let link = group.spec.network.profile(at: .zero)
        let job = self.scenario.server.backend.jobTime
        return link.up.time(toSend: Self.photoBytesTypical) + link.roundTrip * 4
            + (job.lowerBound + job.upperBound) / 2
    }

    /// The captures of a closed group, phone by phone, if every scan took so long.
    private func forEachClosedArrival(
        of group: PlannedGroup, scanTime: Interval, _ body: (Arrival) -> Void
    ) {
        guard let times = self.thinkTimes(of: group) else { return }
        for number in self.shard.phones(of: group.devices) {
            var (ordinal, settled) = (1, Instant.zero)
            while let arrival = times.arrival(ordinal, of: DeviceNumber(number), settled: settled) {
                body(arrival)
                ordinal += 1
                settled = arrival.scheduled + scanTime
            }
        }
    }

    /// Calls `body` with the scheduled captures in order, then with the likely captures of the closed groups,
    /// in order for each phone.
    private func forEachExpectedArrival(_ body: (Arrival) -> Void) {
        for arrival in self.likelyArrivals { body(arrival) }
        for group in self.groups {
            self.forEachClosedArrival(of: group, scanTime: self.scanTime(of: group), body)
        }
    }

    /// Counts the whole schedule: time in proportion to the scans. Of a shard, the scans are those of its phones, and the last
    /// arrival of the open groups is that of the whole fleet: no shard is over before.
    package var expectedArrivals: ExpectedArrivals {
        var expectedArrivals = ExpectedArrivals(scansByGroup: [], lastArrival: .zero)
        let ofShard = self.shard.isWhole ? [] : self.scheduledByGroup
        for (index, group) in self.groups.enumerated() {
            var count = 0
            if let stairs = group.stairs {
                // At most, if every step holds. What is decided while the run goes on is not worth counting one by one.
                count = min(stairs.total, group.spec.devices.multipliedSaturating(group.spec.scansPerDevice))
                expectedArrivals.lastArrival = max(expectedArrivals.lastArrival, stairs.end)
            } else if var times = group.times(random: self.random) {
                let wanted = group.spec.devices * group.spec.scansPerDevice
                while count < wanted, let at = times.next(), at < self.arrivalsEnd {
                    count += 1
                    expectedArrivals.lastArrival = max(expectedArrivals.lastArrival, at)
                }
                if !self.shard.isWhole { count = ofShard[index] }
            } else {
                self.forEachClosedArrival(of: group, scanTime: .zero) { arrival in
                    count += 1
                    expectedArrivals.lastArrival = max(expectedArrivals.lastArrival, arrival.scheduled)
                }
            }
            expectedArrivals.scansByGroup.append(count)
        }
        return expectedArrivals
    }

    /// The scheduled captures of the shard's phones.
    private var scheduledByGroup: [Int] {
        var counts = Array(repeating: 0, count: self.groups.count)
        for arrival in self.likelyArrivals {
            if let group = self.groups.lastIndex(where: { $0.first <= arrival.device }) { counts[group] += 1 }
        }
        return counts
    }

    /// The expected number of firings of each fault, in the order of the faults. Decisions are keyed, so this
    /// is counted, not estimated: a stream, results or cleanup fault by the scans that the draws choose, a
    /// rate limit by the captures of a phone that come sooner than its quota allows, a phone fault by the
    /// phones it hits. A fault still misses a scan whose exchange ends before its trigger, and windows are
    /// compared with the time of the capture.
    package var expectedFirings: [Int] {
        let planner = self.faultDesk
        var firings = Array(repeating: 0, count: self.scenario.faults.count)
        for group in self.groups {
            for device in self.shard.phones(of: group.devices) {
                for window in planner.phoneSchedule(device: DeviceNumber(device), group: group.spec.name) {
                    firings[window.fault] += 1
                }
            }
        }
        var admitted: [[QuotaWindow]] = Array(
            repeating: Array(repeating: QuotaWindow(), count: self.devices), count: self.rateLimits.count)
        self.forEachExpectedArrival { arrival in
            let spec = self.group(of: arrival.device).spec
            let group = spec.name
            for (index, fault) in self.scenario.faults.enumerated() {
                // What is on the link meets the upload first.
                let operation = fault.target.operation ?? .upload
                guard fault.kind.layer != .phone, spec.makes(fault.target),
                    fault.acts(on: operation, by: spec.profile.stream.transport)
                else { continue }
                let key = ExchangeKey(
                    device: arrival.device, scan: ScanNumber(UInt32(arrival.ordinal)), operation: operation,
                    attempt: 1)
                guard fault.window.isAwake(from: arrival.scheduled), planner.decides(index, key, group: group)
                else { continue }
                guard case .rateLimit(let quota, _) = fault.kind else {
                    firings[index] += 1
                    continue
                }
                guard let quotaIndex = self.rateLimits.firstIndex(of: index) else { continue }
                if !admitted[quotaIndex][Int(arrival.device.raw)].admit(quota, at: arrival.scheduled) {
                    firings[index] += 1
                }
            }
        }
        return firings
    }

    private var rateLimits: [Int] {
        self.scenario.faults.indices.filter {
            if case .rateLimit = self.scenario.faults[$0].kind { true } else { false }
        }
    }
}

extension Int {
    fileprivate func multipliedSaturating(_ other: Int) -> Int {
        let (product, overflow) = self.multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}

/// The captures of one phone that a quota has admitted.
private struct QuotaWindow: Sendable {
    private var admitted: [Instant] = []

    /// Returns whether the quota admits another capture, and counts it.
    mutating func admit(_ quota: Quota, at now: Instant) -> Bool {
        self.admitted.removeAll { $0 + quota.window <= now }
        guard self.admitted.count < quota.requests else { return false }
        self.admitted.append(now)
        return true
    }
}

extension FaultWindow {
    /// Whether an exchange that begins at `time` can still meet the fault.
    fileprivate func isAwake(from moment: Instant) -> Bool {
        self.length.map { moment < Instant.zero + self.at + $0 } ?? true
    }
}
