import Backend
import Faults
import Metrics
import Phone
import SimBase
import Talaria

/// Objectives that no run of a scenario against the simulated backend can meet, whatever is drawn.
///
/// Only what is certain counts: the least time that jobs and links take, and the number of scans in the schedule.
package enum ObjectiveCheck {
    /// Returns a warning for each of them. `arrivals`: of the scenario; nil if they were not counted.
    package static func warnings(_ scenario: Scenario, _ arrivals: ExpectedArrivals?) -> [String] {
        scenario.slos.compactMap { slo in
            guard !scenario.expectBroken.contains(where: { $0.covers(slo.selector, groups: nil) }),
                let reason = self.tooFast(slo, scenario) ?? self.tooMany(slo, scenario, arrivals)
            else { return nil }
            return "slo.\(slo.selector): `\(slo.condition)` cannot hold\(reason)"
        }
    }

    private static func isIn(_ scope: MetricScope, _ group: FleetGroup) -> Bool {
        switch scope {
        case .fleet: true
        case .group(let name): name == group.name
        }
    }

    // MARK: Times

    /// The least time of an operation.
    private struct Floor {
        var job = Interval.zero
        var roundTrip: Interval

        var total: Interval { self.job + self.roundTrip }
    }

    /// An upper limit below what the operation takes at the least.
    private static func tooFast(_ slo: SLO, _ scenario: Scenario) -> String? {
        guard case .latency(let metric) = slo.selector.metric,
            case .time(let limit) = slo.condition.threshold,
            // Longer times are counted as the highest.
            limit < HDRLayout.highestTrackable,
            // It may hold without a single operation.
            slo.passesWithoutData != true
        else { return nil }
        switch slo.condition.comparison {
        case .less, .lessOrEqual, .equal: break
        case .greater, .greaterOrEqual, .notEqual: return nil
        }
        let floors = scenario.groups.filter { self.isIn(slo.selector.scope, $0) }
            .map { self.floor(metric, of: $0, scenario) }
        guard let floor = floors.min(by: { $0.total < $1.total }), floor.total.nanoseconds > limit else {
            return nil
        }
        return " with the simulated backend: " + self.text(floor)
    }

    /// Zero for what may take no time.
    private static func floor(_ metric: LatencyMetric, of group: FleetGroup, _ scenario: Scenario) -> Floor {
        switch metric {
        case .uploadTime, .uploadServiceTime, .sseConnectTime, .resultsTime, .cleanupTime, .statusTime,
            .enrichTime:
            return Floor(roundTrip: self.roundTrip(group))
        case .scanTime:
            return Floor(job: self.job(of: group, scenario), roundTrip: self.roundTrip(group))
        // They contain no whole request with its answer, or none that is always made.
        case .preprocessTime, .sseFirstEventTime, .sseEventLatency, .sseEventDelay, .ssePingGap,
            .sseDetectTime, .sseReconnectTime, .generatorLateness, .netDNSTime, .netConnectTime,
            .netTLSTime, .netFirstByteTime, .cancelTime, .jobFirstEventTime, .jobTime, .feedbackTime,
            .enrichedTime, .firstBookTime, .reconcileTime:
            return Floor(roundTrip: .zero)
        }
    }

    /// The time of an import follows from its rows, a look-up has no job, and another client than the contract's may not wait
    /// for the end of its job.
    private static func job(of group: FleetGroup, _ scenario: Scenario) -> Interval {
        guard !group.deviates else { return .zero }
        switch group.profile.journey {
        case .scan, .bookshelfScan, .batchEnrichment: return scenario.server.backend.jobTime.lowerBound
        case .csvImport, .bookEnrichment, .textEnrichment: return .zero
        }
    }

    /// The shortest way of a request and of its answer, over all links of the phones.
    private static func roundTrip(_ group: FleetGroup) -> Interval {
        let links = group.network.steps.compactMap { $0.link?.profile }
        let up = links.map(\.up.delay).min() ?? .zero
        let down = links.map(\.down.delay).min() ?? .zero
        return up + down
    }

    private static func text(_ floor: Floor) -> String {
        func time(_ interval: Interval) -> Threshold { .time(nanoseconds: interval.nanoseconds) }
        guard floor.job > .zero else {
            return
                "a round trip takes at least \(time(floor.roundTrip)) (raise the limit, or use a faster link)"
        }
        let least =
            floor.roundTrip == .zero
            ? "a job takes at least \(time(floor.job))"
            : "a scan takes at least \(time(floor.total)), \(time(floor.job)) for its job and \(time(floor.roundTrip)) for a round trip"
        return least + " (raise the limit, or lower `job-time` of the server)"
    }

    // MARK: Counts

    /// A lower limit above the number of scans that the schedule has.
    private static func tooMany(_ slo: SLO, _ scenario: Scenario, _ arrivals: ExpectedArrivals?) -> String? {
        guard let arrivals, case .number(let limit) = slo.condition.threshold,
            [.count(.scansCaptured), .count(.scansCompleted), .latency(.scanTime)].contains(
                slo.selector.metric)
        else { return nil }
        let scans = zip(scenario.groups, arrivals.scansByGroup).reduce(Int64(0)) { sum, next in
            let (group, captures) = next
            guard self.isIn(slo.selector.scope, group) else { return sum }
            return sum + Int64(captures) * Int64(group.profile.upload.regions.upperBound)
        }
        let isReachable =
            switch slo.condition.comparison {
            case .greater: limit < scans
            case .greaterOrEqual, .equal: limit <= scans
            case .less, .lessOrEqual, .notEqual: true
            }
        guard !isReachable else { return nil }
        return ": the schedule has \(scans) at the most (lower the number, or add captures)"
    }
}
