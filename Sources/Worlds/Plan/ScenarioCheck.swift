import Backend
import Faults
import Phone
import SimBase
import Talaria
import Wire

/// A problem of a scenario that no single line shows.
package struct ScenarioFinding: Hashable, Sendable {
    /// The subject, so that a reader of files can point at it.
    package enum Subject: Hashable, Sendable {
        case scenario
        /// A group, by index in the fleet; `key` as in scenario files.
        case group(Int, key: String)
        case server(key: String)
        /// A fault, by index in the list; `key` as in scenario files.
        case fault(Int, key: String)
    }

    package var subject: Subject
    /// One sentence without a full stop.
    package var message: String
    package var help: String?

    package init(_ subject: Subject, _ message: String, help: String?) {
        self.subject = subject
        self.message = message
        self.help = help
    }
}

/// The checks that look at more than one value: above all whether a scan can get through at all.
package enum ScenarioCheck {
    /// The minimum size of an event of a stream, including its timestamp: data that is cut off earlier was
    /// not an event.
    package static let eventBytesMin = 64

    /// The purpose of a scenario.
    package enum Purpose: Hashable, Sendable {
        /// Its fleet runs: scans are to get through.
        case run
        /// Its server alone is used, by somebody else's phone: a backend that is down is a backend like any other.
        case serve
    }

    /// Everything that makes the scenario senseless; empty when it can run. Its cost does not depend on the size of
    /// the fleet.
    package static func findings(_ scenario: Scenario, for purpose: Purpose = .run) -> [ScenarioFinding] {
        self.sizes(scenario) + self.tunnels(scenario) + self.backend(scenario)
            + (purpose == .run
                ? self.photos(scenario) + self.batches(scenario) + self.clients(scenario)
                    + self.misplacedTokens(scenario, whereOpen: true) + self.steps(scenario)
                    + self.transports(scenario)
                : [])
            + self.faultFindings(scenario, for: purpose)
    }

    /// The part of `findings` that is about faults. The rest does not depend on them.
    package static func faultFindings(
        _ scenario: Scenario, for purpose: Purpose = .run
    ) -> [ScenarioFinding] {
        scenario.faults.indices.compactMap { self.fieldConflict(scenario.faults[$0], fault: $0) }
            + (purpose == .run ? self.neverThrough(scenario) : [])
            + scenario.faults.indices.compactMap { self.neverAwake(scenario, fault: $0) }
    }

    /// Returns warnings about faults that block scans and may be intended. For a run, these are counted
    /// firings and windows that end, if their sum is more than a scan can survive.
    package static func warnings(_ scenario: Scenario, for purpose: Purpose = .run) -> [ScenarioFinding] {
        switch purpose {
        case .run:
            self.neverFinished(scenario) + self.statuses(scenario) + self.exchanges(scenario)
                + self.cleanups(scenario)
                + self.journeys(scenario) + self.jobs(scenario) + self.cancels(scenario)
                + self.eventNames(scenario) + self.dialects(scenario)
        case .serve: self.neverThrough(scenario)
        }
    }

    private static func neverThrough(_ scenario: Scenario) -> [ScenarioFinding] {
        scenario.faults.indices.compactMap { index in
            guard scenario.faults[index].window.length == nil else { return nil }
            return self.neverThrough(scenario, fault: index)
        }
    }

    private static func sizes(_ scenario: Scenario) -> [ScenarioFinding] {
        var findings: [ScenarioFinding] = []
        if scenario.devices > ScenarioLimit.devicesMax {
            findings.append(
                ScenarioFinding(
                    .scenario, "the fleet has more than \(ScenarioLimit.devicesMax) phones", help: nil))
        }
        var scans = 0
        for (index, group) in scenario.groups.enumerated() {
            let estimate = self.estimate(group, of: scenario)
            scans += estimate.scans
            if estimate.last > Instant.zero + ScenarioLimit.timeMax {
                findings.append(
                    ScenarioFinding(
                        .group(index, key: estimate.key),
                        estimate.key == "think"
                            ? "the scans and the pauses between them last longer than a week"
                            : "at this rate the arrivals last longer than a week",
                        help: estimate.key == "think"
                            ? "shorten `think`, or limit the run with `duration`"
                            : "raise `arrivals`, or limit the run with `duration`"))
            }
        }
        if scans > ScenarioLimit.scansMax {
            findings.append(
                ScenarioFinding(
                    .scenario, "the run has more than \(ScenarioLimit.scansMax) scans",
                    help: "lower `scans`, or limit the run with `duration`"))
        }
        return findings
    }

    /// A group whose way ends in a tunnel without an end.
    private static func tunnels(_ scenario: Scenario) -> [ScenarioFinding] {
        scenario.groups.enumerated().compactMap { index, group in
            guard group.network.tunnels.last?.to == .distantFuture else { return nil }
            return ScenarioFinding(
                .group(index, key: "network"), "a phone that stays offline cannot finish its scans",
                help: "add `for: 4s`, or another link after it")
        }
    }

    /// Scans of more photos than the backend takes at once.
    private static func photos(_ scenario: Scenario) -> [ScenarioFinding] {
        let most = scenario.server.backend.photosMax
        return scenario.groups.enumerated().compactMap { index, group in
            guard group.profile.journey.hasPhotos, group.profile.upload.photos.upperBound > most else {
                return nil
            }
            return ScenarioFinding(
                .group(index, key: "photos-per-scan"),
                "the backend refuses an upload of more than \(most) photos",
                help: "lower it, or raise `photos-max` of the server")
        }
    }

    /// Batches of more or fewer books than the backend takes at once.
    private static func batches(_ scenario: Scenario) -> [ScenarioFinding] {
        let (books, most) = (scenario.server.books, BatchRequest.booksMax)
        guard let group = scenario.groups.first(where: { $0.profile.journey == .batchEnrichment }),
            books.lowerBound < 1 || books.upperBound > most
        else { return [] }
        let isCaptured = if case .captured = scenario.server.backend.dialect.books { true } else { false }
        return [
            ScenarioFinding(
                .server(key: isCaptured ? "dialect" : "books"),
                "the backend refuses a batch without books or with more than \(most), and those of `\(group.name)` may have \(books.lowerBound) to \(books.upperBound)",
                help: isCaptured
                    ? "use a captured stream of 1 to \(most) books, or leave out the groups of batches"
                    : "use `books` within 1..\(most)")
        ]
    }

    private static func backend(_ scenario: Scenario) -> [ScenarioFinding] {
        var findings: [ScenarioFinding] = []
        if let objection = scenario.server.backend.objection {
            findings.append(ScenarioFinding(.scenario, "invalid backend: \(objection)", help: nil))
        }
        if scenario.server.backend.rateLimit?.requests == 0 {
            findings.append(
                ScenarioFinding(
                    .server(key: "rate-limit"), "a rate limit of 0 rejects every scan",
                    help: "write `rate-limit: off` for no limit"))
        }
        if scenario.server.backend.limitRefusesAll {
            findings.append(
                ScenarioFinding(
                    .server(key: "limits"), "a limit of 0 rejects every request that it counts",
                    help: "leave it out"))
        }
        return findings + self.books(scenario.server)
    }

    /// What is drawn for the books of photos.
    private static func books(_ server: ServerSettings) -> [ScenarioFinding] {
        var findings: [ScenarioFinding] = []
        let sum = server.statuses.perMillion
        if sum > 1_000_000 {
            findings.append(
                ScenarioFinding(
                    .server(key: "statuses"), "the shares of `statuses` are more than 100% together",
                    help: "lower them: the rest, up to 100%, is as without `statuses`"))
        }
        guard server.backend.dialect.capture != nil else { return findings }
        let drawn = [
            ("statuses", sum > 0), ("confidence", server.confidence != nil),
            ("inline", server.backend.inlineBooks == .full),
        ]
        return findings
            + drawn.filter(\.1).map {
                ScenarioFinding(
                    .server(key: $0.0), "the books are those of the captured stream",
                    help: "leave out `\($0.0)`")
            }
    }

    /// Requests for the status that no phone makes, or that a phone makes too often or too rarely.
    private static func statuses(_ scenario: Scenario) -> [ScenarioFinding] {
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
    private static func exchanges(_ scenario: Scenario) -> [ScenarioFinding] {
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
    private static func cancels(_ scenario: Scenario) -> [ScenarioFinding] {
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

    /// Faults on the DELETE of phones that send none for a job whose books are in the library.
    private static func cleanups(_ scenario: Scenario) -> [ScenarioFinding] {
        scenario.faults.enumerated().compactMap { index, fault in
            let groups = scenario.groups.filter { $0.isIn(fault.scope) }
            guard fault.target == .cleanup, scenario.hasJobs(within: fault.scope),
                !groups.contains(where: { $0.makes(.cleanup) || $0.profile.cancel.isMade })
            else { return nil }
            guard groups.contains(where: \.profile.cleanup.isMade) else {
                return ScenarioFinding(
                    .fault(index, key: "on"), "no phone that this fault may affect deletes its jobs",
                    help: "leave it out, or set `cleanup: on` for a group")
            }
            return ScenarioFinding(
                .fault(index, key: "on"),
                "the phones that this fault may affect delete only jobs that they give up: the results of v2 are kept until they expire",
                help: "leave it out, or add a group with `journey: scan` and `cleanup: on`")
        }
    }

    /// Faults on requests for a job, of phones whose uploads become none.
    private static func jobs(_ scenario: Scenario) -> [ScenarioFinding] {
        scenario.faults.enumerated().compactMap { index, fault in
            let groups = scenario.groups.filter { $0.isIn(fault.scope) }
            guard let group = groups.first, !scenario.hasJobs(within: fault.scope) else { return nil }
            switch fault.target {
            case .upload, .link, .app: return nil
            case .stream, .results, .cleanup, .status, .refresh, .token:
                return ScenarioFinding(
                    .fault(index, key: "on"),
                    "no phone that this fault may affect has a job: `\(group.profile.journey.rawValue)` is answered at once",
                    help: "use `on: upload`, or add a group with another journey")
            }
        }
    }

    /// Faults of what the versions of the phones do not have, and photos that no phone takes.
    private static func journeys(_ scenario: Scenario) -> [ScenarioFinding] {
        var findings: [ScenarioFinding] = []
        for (index, fault) in scenario.faults.enumerated() {
            let groups = scenario.groups.filter { $0.isIn(fault.scope) }
            if fault.kind.needsSocket, !scenario.hasSockets(in: groups) {
                findings.append(
                    ScenarioFinding(
                        .fault(index, key: "do"),
                        "no phone that this fault may affect follows a job by WebSocket",
                        help: "leave it out, or give a group of v2 `transport: websocket`"))
            }
            guard scenario.hasJobs(within: fault.scope), let lack = self.lack(fault.kind.id, groups)
            else { continue }
            findings.append(
                ScenarioFinding(
                    .fault(index, key: "do"),
                    "no phone that this fault may affect uses v3, and v2 has no \(lack)",
                    help: "leave it out, or give a group `journey: scan`"))
        }
        return findings + self.photosOfNobody(scenario)
    }

    /// What a scenario says of the photos of groups that take none.
    private static func photosOfNobody(_ scenario: Scenario) -> [ScenarioFinding] {
        scenario.groups.enumerated().flatMap { index, group -> [ScenarioFinding] in
            guard !group.profile.journey.takesPhotos else { return [] }
            let keys = [
                ("photos", group.photos != .standard), ("preprocess", group.preprocess != .standard),
                ("photos-per-scan", group.profile.upload.photos != 1...1),
                ("regions", group.profile.upload.regions != 1...1),
            ].filter(\.1).map(\.0)
            return keys.map { key in
                ScenarioFinding(
                    .group(index, key: key),
                    "no effect: the journey `\(group.profile.journey.rawValue)` has no photos",
                    help: "leave it out")
            }
        }
    }

    /// What a fault needs and the version of no group has; nil if it can act.
    fileprivate static func lack(_ kind: FaultKindID, _ groups: [FleetGroup]) -> String? {
        let facts: [(FaultKindID, KeyPath<APIVersion, Bool>, String)] = [
            (.stripBooks, \.completedHasBooks, "books in a `completed` event"),
            (.degraded, \.hasDegradedEvent, "`enrichment_degraded` events"),
            (.noMessage, \.progressHasMessage, "messages in its events"),
        ]
        guard let (_, fact, text) = facts.first(where: { $0.0 == kind }) else { return nil }
        return groups.contains { $0.profile.journey.version[keyPath: fact] } ? nil : text
    }

    /// Words that mean something on a stream only, or nothing on it.
    private static func fieldConflict(_ fault: FaultSpec, fault index: Int) -> ScenarioFinding? {
        func finding(_ key: String, _ message: String, _ help: String) -> ScenarioFinding {
            ScenarioFinding(.fault(index, key: key), message, help: help)
        }
        let isStream = fault.target == .stream
        if case .socketClose(let code) = fault.kind,
            !WebSocketCloseCode(rawValue: UInt16(clamping: code)).isAllowedInFrame
        {
            return finding(
                "code", "no close frame has the code \(code) (RFC 6455 section 7.4)",
                "use 1000 to 1003, 1007 to 1014, or 3000 to 4999")
        }
        if fault.kind == .expireToken, !isStream, fault.trigger != .atOnce {
            return finding(
                "after", "a request for the status is answered at once",
                "leave out `after`, or use `on: stream`")
        }
        if !isStream, case .afterEvents = fault.trigger {
            return finding("after", "only a stream has events", "use a time or a number of bytes")
        }
        // Of the faults that cut, `end-cleanly` acts on streams alone.
        guard let (_, cut, side) = fault.kind.cutting, !fault.kind.endsCleanly else { return nil }
        if isStream, side == .request {
            return finding(
                "side", "the request of a stream has ended when its first byte arrives",
                "leave out `side`, or use `on: upload`")
        }
        switch cut {
        case .betweenEvents, .afterBytes: return nil
        case .insideEvent, .insideUTF8, .insideLineEnd:
            guard !isStream else { return nil }
            return finding("cut", "only a stream has events", "use `cut: after-bytes(N)`, or leave out `cut`")
        }
    }

    /// A fault that no scan, or no scan that it chooses, can ever get past.
    static func neverThrough(_ scenario: Scenario, fault index: Int) -> ScenarioFinding? {
        let fault = scenario.faults[index]
        guard fault.chance > .never, fault.scope != .share(.never) else { return nil }
        if fault.isTied { return nil }
        func finding(_ key: String, _ message: String, _ help: String) -> ScenarioFinding {
            ScenarioFinding(.fault(index, key: key), message, help: help)
        }
        if FaultTable.entry(fault.kind.name)?.mustEnd == true {
            return finding(
                "do", "`\(fault.kind.name)` without an end: an affected phone cannot finish its scans",
                "add a duration, for example `for: 4s`")
        }
        // Chance is drawn once per scan: a scan that is chosen meets it at every attempt.
        let isEndless = fault.count == .eachAttempt
        switch fault.kind {
        case .rateLimit(let quota, _):
            guard quota.requests == 0, fault.count == .eachAttempt else { return nil }
            return finding("quota", "a quota of 0 rejects every scan", "allow at least `1 per 1s`")
        case .reset(let cut, .reply), .close(let cut, .reply), .silence(let cut, .reply),
            .endCleanly(let cut):
            guard fault.count == .eachAttempt, self.endsBeforeAnyEvent(fault.trigger, cut) else { return nil }
            return finding(
                "count",
                "every attempt is cut off before an event can arrive, so no stream can make progress",
                "leave out `count` (default: once per scan), or let some events pass with `after: 1..4 events`"
            )
        case .expireToken, .retryableError, .jobGone:
            guard fault.count == .eachAttempt, self.isAtOnce(fault.trigger) else { return nil }
            return finding(
                "count", "every attempt ends at once, so no scan can make progress",
                "leave out `count` (default: once per scan), or give the stream time with `after: 1s`")
        case .httpError, .refuse, .truncateResults, .endWithoutTerminal,
            .reset(_, .request), .close(_, .request), .silence(_, .request):
            guard isEndless, fault.target != .cleanup else { return nil }
            return finding(
                "count", "every attempt fails, so the affected scans cannot complete",
                "leave out `count` (default: once per scan), or use a number: `count: 3`")
        case .stripBooks, .reorderResults, .finalError, .degraded, .slowStage, .unknownEvent, .badJSON,
            .eventShape, .latePing, .noPing, .twoTerminals, .ignoreLastEventID, .forgetEvents, .socketClose,
            .socketFrames, .slice, .delay,
            .bandwidth, .loss,
            .phone:
            return nil  // What it does, a scan can get past.
        }
    }

    static func endsBeforeAnyEvent(_ trigger: FaultTrigger, _ cut: Cut) -> Bool {
        let ahead: Int
        switch cut {
        case .betweenEvents, .insideEvent: ahead = 0
        case .afterBytes(let bytes): ahead = bytes
        case .insideUTF8, .insideLineEnd: return false  // Waits for a byte that not every event has.
        }
        switch trigger {
        case .atOnce: return ahead < Self.eventBytesMin
        case .afterTime(let range): return range.upperBound == .zero && ahead < Self.eventBytesMin
        case .afterEvents(let range): return range.upperBound == 0 && ahead < Self.eventBytesMin
        case .afterBytes(let range):
            let (sum, overflow) = range.upperBound.addingReportingOverflow(ahead)
            return !overflow && sum < Self.eventBytesMin
        case .afterRecords, .afterStep: return false
        }
    }

    static func isAtOnce(_ trigger: FaultTrigger) -> Bool {
        switch trigger {
        case .atOnce: true
        case .afterTime(let range): range.upperBound == .zero
        case .afterEvents(let range): range.upperBound == 0
        case .afterBytes(let range): range.upperBound == 0
        case .afterRecords, .afterStep: false
        }
    }

    /// A fault whose window opens when the run is over.
    private static func neverAwake(_ scenario: Scenario, fault index: Int) -> ScenarioFinding? {
        let end = self.end(scenario)
        let opens = Instant.zero + scenario.faults[index].window.at
        guard opens >= end else { return nil }
        return ScenarioFinding(
            .fault(index, key: "at"),
            "the fault starts at \(self.seconds(opens)) s, after the run has ended (at about \(self.seconds(end)) s)",
            help: nil)
    }

    /// Returns the end of the run, even if scans are unfinished.
    static func end(_ scenario: Scenario) -> Instant {
        let last = scenario.groups.map { self.estimate($0, of: scenario).last }.max() ?? .zero
        return last + scenario.drain
    }

    /// Returns the maximum number of scans of a group and the time of the last one, within a few per cent for
    /// random arrivals and at the earliest for a closed group; and the key that defines it.
    private static func estimate(_ group: FleetGroup, of scenario: Scenario) -> (
        scans: Int, last: Instant, key: String
    ) {
        let (wanted, overflow) = group.devices.multipliedReportingOverflow(by: group.scansPerDevice)
        let bounded = min(overflow ? .max : wanted, .max / (2 * ScenarioLimit.groupsMax))
        let end = scenario.duration.map { Instant.zero + $0 }
        // Everything beyond is too long already, and sums must not overflow.
        let horizon = end ?? Instant.zero + ScenarioLimit.timeMax * 2
        switch group.load {
        case .open(let curve, _):
            let due = end.map { curve.count(before: $0) } ?? curve.total ?? .max
            let scans = min(bounded, due)
            let last = scans == 0 ? .zero : curve.moment(of: scans - 1) ?? .zero
            return (scans, min(last, horizon), "arrivals")
        case .closed(let time):
            let gap = (time.think.lowerBound + time.think.upperBound) / 2
            let (rest, isLong) = gap.nanoseconds.multipliedReportingOverflow(
                by: Int64(group.scansPerDevice - 1))
            let (last, isLonger) = time.start.upperBound.nanoseconds.addingReportingOverflow(
                isLong ? .max : rest)
            guard isLonger || last > horizon.nanoseconds else {
                return (bounded, Instant(nanoseconds: last), "think")
            }
            let perPhone = gap > .zero ? Int(horizon.nanoseconds / gap.nanoseconds) + 1 : 1
            let (scans, isMore) = group.devices.multipliedReportingOverflow(by: perPhone)
            return (isMore ? bounded : min(bounded, scans), horizon, "think")
        }
    }

    static func seconds(_ moment: Instant) -> Int64 { moment.nanoseconds / 1_000_000_000 }
}

extension Scenario {
    /// Whether uploads of the phones that a fault may affect become jobs.
    fileprivate func hasJobs(within scope: FaultScope) -> Bool {
        self.groups.contains { $0.isIn(scope) && $0.hasJobs }
    }

    /// What a fault of this name needs and no phone of the scenario meets; nil if it can fire.
    package func lacks(forFault name: String) -> String? {
        guard let id = FaultTable.entry(name)?.id else { return nil }
        if FaultTable.sockets.contains(where: { $0.id == id }), !self.hasSockets { return "a WebSocket" }
        let needsEvents: Set<FaultKindID> = [.splitData, .ignoreLastEventID]
        if needsEvents.contains(id), self.rollout == nil, self.groups.allSatisfy(\.hasSockets) {
            return "an event stream"
        }
        return ScenarioCheck.lack(id, self.groups)
    }
}
