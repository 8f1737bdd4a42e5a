import Ledger
import Metrics
import Observations
import RunJudge
import RunMetrics
import SimBase

extension RunResult {
    /// Whose fault it is that the run did not pass: `At fault: the target (target.auth, 491 of 510 errors)`. Nil where nothing says it.
    var culprits: String? {
        var culprits: [(cause: Cause, reasons: [String])] = []
        for (cause, reason) in self.accusations {
            if let index = culprits.firstIndex(where: { $0.cause == cause }) {
                if !culprits[index].reasons.contains(reason) { culprits[index].reasons.append(reason) }
            } else {
                culprits.append((cause, [reason]))
            }
        }
        guard !culprits.isEmpty else { return nil }
        let words = culprits.indices.reduce(into: [String]()) { words, index in
            let (cause, reasons) = culprits[index]
            let reason = " (\(reasons.joined(separator: ", ")))"
            // The scenario is one culprit, whatever it injects.
            if index > 0, culprits[index - 1].cause.fault != nil, let fault = cause.fault {
                words[words.count - 1] += ", \(Printable.line(fault))\(reason)"
            } else {
                words.append(self.words(cause) + reason)
            }
        }
        let changes = self.changesAtFault
        let part =
            changes.isEmpty
            ? [] : ["Changed for this run, which may be the reason: " + changes.joined(separator: ", ")]
        return (part + ["At fault: " + words.joined(separator: "; ")] + self.deviationsOfBreakers)
            .joined(separator: ". ")
    }

    /// Whether nothing but the target is at fault, which no simulation has.
    var isTargetAlone: Bool {
        !self.accusations.isEmpty && self.accusations.allSatisfy { $0.0 == .target }
    }

    // MARK: What the command changes

    /// The values of `--set` and `--fault`.
    var changes: [String] {
        self.command.indices.filter { $0 > 0 && Self.changing.contains(self.command[$0 - 1]) }
            .map { self.command[$0] }
    }

    private static let changing = ["--set", "--fault"]
    /// What values of `--fault`, and of `--set` for all faults or one more, begin with.
    private static let faultLists = ["{", "faults=", "faults+="]

    /// The changes that are about what failed: a limit, a fault, a value of the phones. Where an objective failed, every value of the
    /// fleet and of the server is.
    var changesAtFault: [String] {
        let sections =
            (self.breaches.isEmpty ? [] : ["fleet.", "server."])
            + (self.breaches.contains(where: \.isAboutUnfinishedScans) ? ["drain="] : [])
        let limits = self.breaches.map { "slo.\($0.slo.selector)" }
        let faults = self.accusations.compactMap(\.0.fault).map { "faults.\($0)." }
        let phones = self.breakers.flatMap { group in
            group.deviations.compactMap { $0.split(separator: ":").first }.map {
                "fleet.\(group.name).\($0)="
            }
        }
        return self.changes.filter { change in
            (sections + limits + faults + phones).contains { change.hasPrefix($0) }
                || !faults.isEmpty && Self.faultLists.contains(where: change.hasPrefix)
        }
    }

    /// The command of the run without those; nil where there are none.
    var commandWithoutChanges: [String]? {
        let changes = self.changesAtFault
        guard !changes.isEmpty else { return nil }
        let left = self.command.indices.filter { index in
            let isValue = index > 0 && Self.changing.contains(self.command[index - 1])
            let isKey = Self.changing.contains(self.command[index]) && index + 1 < self.command.count
            return !(isValue && changes.contains(self.command[index]))
                && !(isKey && changes.contains(self.command[index + 1]))
        }
        return left.map { self.command[$0] }
    }

    // MARK: Who

    private func words(_ cause: Cause) -> String {
        switch cause {
        case .injected(let fault): "the scenario, which injects \(Printable.line(fault))"
        case .target: self.labels.target == nil ? "the simulated backend" : "the target"
        case .phone: self.profilesAtFault.map { "the simulated phones with \($0)" } ?? "the simulated phones"
        case .path: self.isNetworkOfScenario ? "the network of the scenario" : "the network"
        case .harness: self.isMachineBusy ? "this machine, which was too busy" : "this program"
        }
    }

    private var isMachineBusy: Bool { self.remarks.contains(where: \.isOfBusyMachine) }
    private var areTimersLate: Bool { self.remarks.contains(where: \.isOfLateTimers) }

    /// Only the scenario takes the link of a phone away, and between phones and the simulated backend there is no other network.
    private var isNetworkOfScenario: Bool {
        self.labels.target == nil || !self.itineraries.isEmpty
            || self.slow.map { $0.time(.offline) > .zero } ?? false
    }

    /// Who is to blame for what failed, and why: invariants, then what made scans slow, then errors. Whoever has no evidence
    /// against it is not named.
    private var accusations: [(Cause, String)] {
        let invariants = self.brokenInvariants.compactMap { verdict in
            verdict.breaker.map { ($0, verdict.invariant.rawValue) }
        }
        guard !self.breaches.isEmpty else { return invariants }
        var slow: [(Cause, String)] = []
        if let part = self.slowPart, let cause = self.cause(of: part.activity) {
            slow.append((cause, "slow scans: \(part.activity.name)"))
        }
        var accusations = invariants + self.knownFailures + self.deviations + slow
        let isAboutErrors = self.breaches.contains { breach in
            !breach.slo.selector.isLatency && (slow.isEmpty || !breach.isAboutUnfinishedScans)
                && !self.isOfKnownFailures(breach) && !breach.isAboutFindings
        }
        if isAboutErrors {
            // Injected errors are no excuse for a broken rule.
            let causes = self.causesOfErrors(ErrorFamily.allCases).filter {
                invariants.isEmpty || $0.cause.fault == nil
            }
            accusations += causes.map { entry in
                (
                    entry.cause,
                    "\(Figures.count(entry.count)) of \(Figures.count(entry.of, "error", "errors"))"
                )
            }
        }
        return accusations
    }

    /// What the phones of a group broke as their profile is known to: no failure of the run by itself, but of the app where an
    /// objective is about what users lose by it.
    private var knownFailures: [(Cause, String)] {
        guard self.breaches.contains(where: self.isOfKnownFailures) else { return [] }
        let known = self.verdicts.filter(\.isKnownOfPhones)
        guard let first = known.first else { return [] }
        let others = known.count - 1
        return [
            (
                .phone,
                first.invariant.rawValue
                    + (others > 0
                        ? " and \(Figures.count(others, "other invariant", "other invariants"))" : "")
            )
        ]
    }

    /// Whose messages deviate from the contract, where an objective is about these.
    private var deviations: [(Cause, String)] {
        guard self.breaches.contains(where: \.isAboutFindings) else { return [] }
        let areAllJudged = self.breaches.contains { $0.slo.selector.metric == .count(.contractFindings) }
        let entries = self.findings.causes.entries.filter { areAllJudged || $0.cause.fault == nil }
        return entries.sorted { Self.rank($0) < Self.rank($1) }.map {
            ($0.cause, Figures.count($0.count, "deviation from the contract", "deviations from the contract"))
        }
    }

    private func isOfKnownFailures(_ breach: SLOResult) -> Bool {
        let groups = self.groups.filter { $0.verdicts.contains(where: \.isKnownOfPhones) }
        let isOfThem =
            switch breach.slo.selector.scope {
            case .fleet: !groups.isEmpty
            case .group(let name): groups.contains { $0.name == name }
            }
        return isOfThem && UserImpact.allCases.contains { breach.slo.selector.metric == .count($0.metric) }
    }

    /// Whether something was broken, by whoever it was, that must hold whatever is injected.
    var hasBrokenRules: Bool {
        !self.knownFailures.isEmpty || self.brokenInvariants.contains { $0.breaker != nil }
    }

    /// `the profile swiftwing-head`; nil if the phones at fault follow the contract but for single values.
    private var profilesAtFault: String? {
        let names = self.breakers.flatMap(\.deviations).filter { $0.hasPrefix(Self.profileKey) }
            .map { Printable.line(String($0.dropFirst(Self.profileKey.count))) }
        guard let first = names.first else { return nil }
        return names.allSatisfy { $0 == first } ? "the profile \(first)" : "profiles of their own"
    }

    private static let profileKey = "profile: "

    /// What took most of the time of the slow scans, if an objective is about it: scans that had not ended are the slowest.
    private var slowPart: SlowTime.Part? {
        let isMissed = self.scanTimeMissed != nil || self.breaches.contains(where: \.isAboutUnfinishedScans)
        return isMissed ? self.slow?.parts.first : nil
    }

    /// Nil where only errors could say it, and none of them is known.
    private func cause(of activity: ScanActivity) -> Cause? {
        switch activity {
        case .limited: self.mostlyBy([.rateLimited])
        case .backoff: self.mostlyBy(ErrorFamily.allCases.filter { $0 != .rateLimited })
        case .server, .results: self.areTimersLate ? .harness : .target
        case .upload, .connecting: self.areTimersLate ? .harness : .path
        case .offline: .path
        // Where a processor was missing, scans waited for it and not for their phones.
        case .queue, .preparing: self.isMachineBusy ? .harness : .phone
        case .closed: .phone
        }
    }

    private func mostlyBy(_ families: [ErrorFamily]) -> Cause? {
        self.causesOfErrors(families).max { $0.count < $1.count }?.cause
    }

    /// What was injected comes behind the rest, which an objective may be about however few they are.
    private static func rank(_ entry: CauseCounts.Entry) -> (Int, Int) {
        (entry.cause.fault == nil ? 0 : 1, -entry.count)
    }

    /// Who is to blame for errors of these families.
    private func causesOfErrors(_ families: [ErrorFamily]) -> [(cause: Cause, count: Int, of: Int)] {
        let rows = self.errors.filter { families.contains($0.trouble.family) }
        let causes = rows.reduce(into: CauseCounts()) { $0.add($1.causes) }
        let all = rows.reduce(0) { $0 + $1.count }
        return causes.entries.sorted { Self.rank($0) < Self.rank($1) }.prefix(Self.causesMax).map {
            ($0.cause, $0.count, all)
        }
    }

    private static let causesMax = 3

    /// The groups whose phones broke an invariant.
    private var breakers: [GroupResult] {
        self.groups.filter { group in
            group.verdicts.contains { verdict in
                verdict.standing == .broken && verdict.breaker == .phone
                    || verdict.isKnownOfPhones && self.breaches.contains(where: self.isOfKnownFailures)
            }
        }
    }

    /// What those do otherwise than the contract.
    private var deviationsOfBreakers: [String] {
        self.breakers.compactMap { group in
            let all = group.deviations.filter { !$0.hasPrefix(Self.profileKey) }
            guard !all.isEmpty else { return nil }
            let named = all.prefix(Self.deviationsMax)
            let others = all.count - named.count
            return "Phones of \(Printable.line(group.name)) differ from the contract: "
                + named.joined(separator: ", ") + (others > 0 ? ", and \(others) more" : "")
        }
    }

    private static let deviationsMax = 4
}

extension SLOResult {
    fileprivate var isAboutUnfinishedScans: Bool { self.slo.selector.metric == .count(.scansWaiting) }
    fileprivate var isAboutFindings: Bool {
        [.count(.contractFindings), .count(.contractBreaking)].contains(self.slo.selector.metric)
    }
}

extension Verdict {
    fileprivate var isKnownOfPhones: Bool {
        self.standing == .brokenAsExpected && self.invariant.targetRule == nil
    }

    /// Who broke it first; nil without an example that says it.
    var breaker: Cause? {
        self.examples.first { !$0.isExpected }?.cause ?? (self.invariant.targetRule == nil ? nil : .target)
    }
}
