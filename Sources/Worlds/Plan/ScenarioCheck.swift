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
                            ? "the scans and the pauses between them last longer than \(ScenarioLimit.timeMaxText)"
                            : "at this rate the arrivals last longer than \(ScenarioLimit.timeMaxText)",
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
