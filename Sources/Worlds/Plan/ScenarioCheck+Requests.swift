import Backend
import Faults
import Phone
import SimBase
import Talaria

// Requests that no phone makes, or makes too early, too often or too late.

extension ScenarioCheck {
    /// Requests for the status that no phone makes, or that a phone makes too often or too rarely.
    static func statuses(_ scenario: Scenario) -> [ScenarioFinding] {
        var findings: [ScenarioFinding] = []
        let pollsSomewhere = scenario.groups.contains { $0.makes(.status) }
        for (index, fault) in scenario.faults.enumerated()
        where fault.target == .status && !pollsSomewhere && scenario.hasJobs(within: fault.scope) {
            findings.append(
                ScenarioFinding(
                    .fault(index, key: "on"), "no phone requests the status of a job",
                    help: "set `status-polling: always` or `status-polling: after-loss` for a group"))
        }
        for (index, group) in scenario.groups.enumerated() where group.makes(.status) {
            let policy = group.profile.status
            if policy.interval < ContractLimit.statusPollMin {
                findings.append(
                    ScenarioFinding(
                        .group(index, key: "status-interval"),
                        "the status of a job may be requested once in 2 s; a request before that is answered with 429",
                        help: "use `status-interval: 2s` or more"))
            }
            let jobTime = scenario.server.backend.jobTime.upperBound
            guard policy.interval * Int64(policy.requestsMax) < jobTime else { continue }
            findings.append(
                ScenarioFinding(
                    .group(index, key: "status-requests-max"),
                    "a job may take longer than \(policy.requestsMax) requests for its status: its scan then waits for the next launch",
                    help: "raise `status-requests-max` or `status-interval`"))
        }
        return findings
    }

    /// Exchanges of tokens that no phone makes, or that the server refuses.
    static func exchanges(_ scenario: Scenario) -> [ScenarioFinding] {
        let isMade = scenario.groups.contains { $0.makes(.refresh) }
        let unmet = scenario.faults.enumerated().filter { _, fault in
            fault.target == .refresh && !isMade && scenario.hasJobs(within: fault.scope)
        }
        let earliest = scenario.server.backend.tokenLifetime - TokenRefresh.window
        return unmet.map { index, _ in
            ScenarioFinding(
                .fault(index, key: "on"), "no phone exchanges the token of a job",
                help: "set `transport: websocket` and `token-refresh` for a group")
        }
            + scenario.groups.enumerated().compactMap { index, group in
                guard group.makes(.refresh), let after = group.profile.token.refreshAfter, after < earliest
                else {
                    return nil
                }
                return ScenarioFinding(
                    .group(index, key: "token-refresh"),
                    "a token may be exchanged in the last 30 minutes of its life; before that, the server refuses it",
                    help: "use `server: {token-lifetime: 30m}` or less, or a later `token-refresh`")
            }
    }

    /// Users who cancel what is over by then, or everything.
    static func cancels(_ scenario: Scenario) -> [ScenarioFinding] {
        let jobTime = scenario.server.backend.jobTime
        return scenario.groups.enumerated().compactMap { index, group in
            let policy = group.profile.cancel
            guard !policy.isMade || group.hasJobs else {
                return ScenarioFinding(
                    .group(index, key: "cancel"),
                    "no effect: a look-up is over with its answer, and has no job to cancel",
                    help: "leave it out")
            }
            // The time of an import follows from its rows.
            guard policy.isMade, group.profile.journey != .csvImport else { return nil }
            if policy.after.lowerBound > jobTime.upperBound {
                return ScenarioFinding(
                    .group(index, key: "cancel"),
                    "the longest job is over before the first cancel: only scans that meet a failure are canceled",
                    help: "shorten `after`, or raise `job-time` of the server")
            }
            guard policy.chance >= .always, policy.after.upperBound < jobTime.lowerBound else { return nil }
            return ScenarioFinding(
                .group(index, key: "cancel"), "every scan is canceled before its job is over",
                help: "lower `chance`: a run in which no scan is completed fails")
        }
    }
}
