import Backend
import Faults
import Phone
import SimBase
import Talaria
import Wire

// Faults that cannot act, or that no scan gets past.

extension ScenarioCheck {
    /// What a fault needs and the version of no group has; nil if it can act.
    static func lack(_ kind: FaultKindID, _ groups: [FleetGroup]) -> String? {
        let facts: [(FaultKindID, KeyPath<APIVersion, Bool>, String)] = [
            (.stripBooks, \.completedHasBooks, "books in a `completed` event"),
            (.degraded, \.hasDegradedEvent, "`enrichment_degraded` events"),
            (.noMessage, \.progressHasMessage, "messages in its events"),
        ]
        guard let (_, fact, text) = facts.first(where: { $0.0 == kind }) else { return nil }
        return groups.contains { $0.profile.journey.version[keyPath: fact] } ? nil : text
    }

    /// Words that mean something on a stream only, or nothing on it.
    static func fieldConflict(_ fault: FaultSpec, fault index: Int) -> ScenarioFinding? {
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
    static func neverAwake(_ scenario: Scenario, fault index: Int) -> ScenarioFinding? {
        let end = self.end(scenario)
        let opens = Instant.zero + scenario.faults[index].window.at
        guard opens >= end else { return nil }
        return ScenarioFinding(
            .fault(index, key: "at"),
            "the fault starts at \(self.seconds(opens)) s, after the run has ended (at about \(self.seconds(end)) s)",
            help: nil)
    }

    /// Faults on the DELETE of phones that send none for a job whose books are in the library.
    static func cleanups(_ scenario: Scenario) -> [ScenarioFinding] {
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
    static func jobs(_ scenario: Scenario) -> [ScenarioFinding] {
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
}

extension Scenario {
    /// Whether uploads of the phones that a fault may affect become jobs.
    func hasJobs(within scope: FaultScope) -> Bool {
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
