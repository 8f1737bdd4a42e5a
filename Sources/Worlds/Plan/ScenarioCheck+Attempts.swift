import Backend
import Faults
import Phone
import SimBase
import Talaria

// Firings that are counted against the attempts that a phone makes. A fault that may fire five times does not
// stop a phone that tries for ever, and ends the scan of a phone that tries three times.

extension ScenarioCheck {
    /// Faults that scans which they choose, each or together, can never get past before the run is over.
    static func neverFinished(_ scenario: Scenario) -> [ScenarioFinding] {
        let end = self.end(scenario)
        var findings = self.windowsWithoutEnd(scenario, until: end)
        for group in scenario.groups {
            let chosen = scenario.faults.indices.filter {
                self.mayMeet(scenario, group, fault: $0, until: end)
            }
            for obstacle in self.obstacles(scenario, group, chosen, until: end)
            where !findings.contains(where: { $0.subject == obstacle.subject }) {
                findings.append(obstacle)
            }
        }
        return findings
    }

    /// A fault with an end that no scan of the run sees.
    private static func windowsWithoutEnd(_ scenario: Scenario, until end: Instant) -> [ScenarioFinding] {
        scenario.faults.indices.compactMap { index in
            guard let length = scenario.faults[index].window.length, Instant.zero + length >= end,
                self.neverThrough(scenario, fault: index) != nil
            else { return nil }
            return ScenarioFinding(
                .fault(index, key: "for"),
                "the fault lasts longer than the run (about \(self.seconds(end)) s): the affected scans cannot finish",
                help: "shorten `for`, or increase `drain`")
        }
    }

    /// Whether a scan of the group may meet the fault to its last firing: it is awake until the run is over.
    private static func mayMeet(
        _ scenario: Scenario, _ group: FleetGroup, fault index: Int, until end: Instant
    ) -> Bool {
        let fault = scenario.faults[index]
        let isAwake = fault.window.length.map { Instant.zero + fault.window.at + $0 >= end } ?? true
        guard fault.chance > .never, isAwake, group.makes(fault.target), !fault.isTied else { return false }
        switch fault.scope {
        case .everyone: return true
        case .share(let share): return share > .never
        case .group(let name): return name == group.name
        case .phone: return false
        }
    }

    private static func obstacles(
        _ scenario: Scenario, _ group: FleetGroup, _ chosen: [Int], until end: Instant
    ) -> [ScenarioFinding] {
        func firings(_ isMeant: (FaultSpec) -> Bool) -> [Firings] {
            chosen.compactMap { index in
                let fault = scenario.faults[index]
                guard isMeant(fault), let count = fault.count.firingsMax else { return nil }
                return Firings(fault: index, id: fault.id, count: count)
            }
        }
        let jobTime = scenario.server.backend.jobTime.lowerBound
        let endings = firings { $0.endsJob && self.firesBefore(jobTime, $0.trigger) }
        let errors = firings { $0.isRetryableError && self.firesBefore(jobTime, $0.trigger) }
        let unreadable = firings { $0.kind == .truncateResults }
        let statuses = firings { $0.target == .status && !$0.endsJob && $0.pause(group.profile) != nil }
        let returns = self.returns(scenario, group)
        return [
            self.obstacle(
                endings, max: group.profile.token.uploadsMax,
                "a scan is uploaded again \(group.profile.token.uploadsMax) times, then it waits for the next launch"
            ),
            self.obstacle(
                errors, max: min(group.profile.events.errorRetriesMax ?? .max, .max - returns) + returns,
                "a scan is retried once, then it waits for the next launch or the next connection"
            ),
            self.obstacle(
                unreadable, max: AppLimits.resultsBadAnswersMax - 1 + returns,
                "a scan whose results are unreadable \(AppLimits.resultsBadAnswersMax) times waits for the next launch"
            ),
            self.obstacle(
                statuses, max: group.profile.status.failuresMax + returns,
                "a scan whose status cannot be had \(group.profile.status.failuresMax + 1) times in a row waits for the next launch"
            ),
            self.slowest(scenario, group, chosen, until: end),
        ].compactMap { $0 }
    }

    /// Returns the number of times that parked scans are released: each allows one more attempt.
    private static func returns(_ scenario: Scenario, _ group: FleetGroup) -> Int {
        group.network.tunnels.count
            + scenario.faults.count {
                if case .phone(let fault) = $0.kind { fault.has(.resumesScans) } else { false }
            }
    }

    private static func obstacle(_ firings: [Firings], max most: Int, _ rule: String) -> ScenarioFinding? {
        let sum = firings.reduce(0) { $0 + $1.count }
        guard sum > most, let worst = firings.max(by: { $0.count < $1.count }) else { return nil }
        let together = firings.count > 1 ? " with \(self.others(firings, than: worst))" : ""
        return ScenarioFinding(
            .fault(worst.fault, key: "count"),
            "a scan that fails\(together) \(sum) times cannot finish: \(rule)",
            help: "lower it to `count: \(most)` or less")
    }

    private static func others(_ firings: [Firings], than worst: Firings) -> String {
        firings.filter { $0.fault != worst.fault }.map { "`\($0.id)`" }.joined(separator: ", ")
    }

    // MARK: Time

    /// Failures that a phone waits out one after the other until the run is over.
    private static func slowest(
        _ scenario: Scenario, _ group: FleetGroup, _ chosen: [Int], until end: Instant
    ) -> ScenarioFinding? {
        let waits = chosen.compactMap { index -> (fault: Int, count: Int, wait: Interval)? in
            let fault = scenario.faults[index]
            guard let count = fault.count.firingsMax, let asked = fault.pause(group.profile) else {
                return nil
            }
            return (index, count, self.wait(count, asking: asked, group.profile.backoff))
        }
        let sum = waits.reduce(Interval.zero) { self.sum($0, $1.wait) }
        guard Instant.zero + sum > end, let worst = waits.max(by: { $0.wait < $1.wait }) else { return nil }
        let hours = sum.nanoseconds / 3_600_000_000_000
        let time = hours > 2 ? "\(hours) h" : "\(self.seconds(.zero + sum)) s"
        let others = waits.filter { $0.fault != worst.fault }.map { "`\(scenario.faults[$0.fault].id)`" }
        let together = others.isEmpty ? "" : " with \(others.joined(separator: ", "))"
        return ScenarioFinding(
            .fault(worst.fault, key: "count"),
            "\(worst.count) failures of a scan\(together) mean about \(time) of waiting, but the run ends after about \(self.seconds(end)) s",
            help: "lower `count`, or increase `drain`")
    }

    /// Returns the average wait of a phone over so many consecutive failures.
    private static func wait(_ count: Int, asking asked: Interval, _ policy: BackoffPolicy) -> Interval {
        var sum = Interval.zero
        var ceiling = min(policy.base, policy.cap)
        var left = count
        while left > 0, ceiling < policy.cap {
            sum = self.sum(sum, max(asked, ceiling / 2))
            ceiling = min(ceiling * 2, policy.cap)
            left -= 1
        }
        let (rest, overflow) = max(asked, ceiling / 2).nanoseconds.multipliedReportingOverflow(
            by: Int64(left))
        return self.sum(sum, .nanoseconds(overflow ? .max : rest))
    }

    /// Far below the end of time, so that it can be added to a time.
    private static func sum(_ left: Interval, _ right: Interval) -> Interval {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? .max / 4 : min(sum, .max / 4))
    }

    /// Whether it fires on every exchange before so long a job has ended.
    private static func firesBefore(_ time: Interval, _ trigger: FaultTrigger) -> Bool {
        if case .afterTime(let range) = trigger { return range.upperBound < time }
        return self.isAtOnce(trigger)
    }
}

/// The maximum number of firings of a fault for a scan.
private struct Firings {
    let fault: Int
    let id: String
    let count: Int
}

extension FaultSpec {
    fileprivate var isRetryableError: Bool {
        if case .retryableError = self.kind { true } else { false }
    }

    /// Whether the phone uploads again after it.
    fileprivate var endsJob: Bool {
        switch self.kind {
        case .expireToken, .jobGone: true
        case .httpError(let fault):
            self.target != .upload && self.target != .cleanup && (400...499).contains(fault.status)
                && fault.status != 408 && fault.status != 429
        case .rateLimit, .stripBooks, .truncateResults, .reorderResults, .retryableError, .finalError,
            .degraded, .slowStage, .unknownEvent, .badJSON, .eventShape, .latePing, .noPing, .twoTerminals,
            .endWithoutTerminal,
            .ignoreLastEventID, .forgetEvents, .socketClose, .socketFrames, .reset, .close, .endCleanly,
            .silence, .slice, .delay,
            .bandwidth, .loss, .refuse, .phone:
            false
        }
    }

    /// Returns the wait that a server requests after a failure that a phone retries by backoff; nil if there
    /// is none.
    fileprivate func pause(_ profile: ClientProfile) -> Interval? {
        guard self.target != .cleanup else { return nil }
        switch self.kind {
        case .httpError(let fault):
            switch fault.status {
            case 429:
                return fault.retryAfter ?? (self.target == .upload ? profile.waits.rateLimitDefault : .zero)
            case 408, 500...599: return fault.retryAfter ?? .zero
            case 401, 404, 410: return self.target == .upload ? fault.retryAfter ?? .zero : nil
            default: return nil
            }
        case .refuse, .reset(_, .request), .close(_, .request): return .zero
        case .reset(let cut, .reply), .close(let cut, .reply), .endCleanly(let cut):
            return self.target == .stream && ScenarioCheck.endsBeforeAnyEvent(self.trigger, cut) ? .zero : nil
        case .rateLimit, .stripBooks, .truncateResults, .reorderResults, .expireToken, .jobGone,
            .retryableError, .finalError, .degraded, .slowStage, .unknownEvent, .badJSON, .eventShape,
            .latePing, .noPing, .twoTerminals,
            .endWithoutTerminal, .ignoreLastEventID, .forgetEvents, .socketClose, .socketFrames, .silence,
            .slice, .delay, .bandwidth,
            .loss, .phone:
            return nil
        }
    }
}
