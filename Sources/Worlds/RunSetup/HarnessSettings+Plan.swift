import Backend
import Faults
package import Ledger
import Metrics
import OriginServer
import Phone
package import Plan
import RunControl
import SimBase
import Talaria

extension HarnessSettings {
    /// Creates the settings of the harness checks of a run; nil if only the phones report observations.
    package init?(_ plan: RunPlan, hasBackendView: Bool, hasGateway: Bool) {
        guard hasBackendView || hasGateway else { return nil }
        let backend = plan.scenario.server.backend
        var simulated = SimulatedServer(
            quota: backend.rateLimit, tokenLifetime: backend.tokenLifetime,
            resultsLifetime: backend.resultsLifetime, jobsMax: backend.jobsMax)
        simulated.documentsMayFill = plan.documentBytesMax > backend.documentBytesMax
        simulated.addLimits(of: plan)
        simulated.v2ResultsLifetime = backend.resultsLifetime(of: .v2)
        simulated.replayTime = backend.dialect.replayedEventsMax == nil ? backend.eventBuffer : nil
        simulated.libraryBooksMax = backend.imports.booksMax
        simulated.v2IsPolled = backend.v2.progress == .poll
        simulated.breaker = backend.v2.breaker.map {
            SimulatedServer.Breaker(failures: $0.failures, successes: $0.successes, cooldown: $0.cooldown)
        }
        simulated.dialect.otherEvents = backend.dialect.otherEvents.union(backend.v2.otherEvents)
        if backend.progressive, plan.groups.contains(where: { $0.profile.events.result == .unknown }) {
            simulated.dialect.otherEvents.insert(EventKind.result.rawValue)
        }
        simulated.dialect.hasIncreasingIDs = backend.dialect.hasIncreasingIDs
        simulated.dialect.cleanupLeavesStreams = backend.dialect.cleanupLeavesStreams
        simulated.dialect.completesOnce = backend.dialect.completesOnce
        simulated.dialect.answersAsContract =
            backend.dialect.answersAsContract && backend.enrichmentForm == .nested
        simulated.dialect.hasAuthorization = backend.dialect.hasAuthorization
        let faults = plan.scenario.faults
        let fleet = PhoneGroups(plan)
        self.init(
            server: hasBackendView ? .simulated(simulated) : .gateway,
            faults: faults.indices.map { FaultEffect(faults[$0], behind: faults[..<$0]) },
            rules: faults.map { FaultRule($0, fleet) }, fleet: fleet,
            hasTunnels: plan.groups.contains { !$0.spec.network.tunnels.isEmpty },
            deviations: plan.groups.map { $0.spec.deviates })
        self.phones = plan.phones
        self.rolloutIsSticky = plan.scenario.rollout?.isSticky
        self.libraries = plan.groups.map {
            $0.profile.journey == .csvImport ? ($0.spec.library ?? LibraryFiles()).spec : nil
        }
    }
}

extension SimulatedServer {
    fileprivate mutating func addLimits(of plan: RunPlan) {
        let backend = plan.scenario.server.backend
        self.hasStatusLimits = backend.limits.contains { $0.requests == .status }
        self.hasOtherUploadLimits = backend.limits.contains { $0.requests != .status }
        self.sharedQuotas = backend.limits.compactMap { rule in
            guard rule.requests != .status, rule.scope != .device else { return nil }
            return SharedQuota(
                quota: rule.quota, phones: rule.scope == .address ? backend.phonesPerAddress : nil,
                groups: plan.groups.map { rule.counts(.upload, of: $0.profile.journey) })
        }
    }
}

extension FaultEffect {
    /// `earlier`: the faults that come before it in the scenario's list.
    init(_ spec: FaultSpec, behind earlier: ArraySlice<FaultSpec>) {
        switch spec.kind {
        case .rateLimit(let quota, let retryAfter):
            // What ends an upload before it is requested leaves no trace that says whether it was counted.
            let isCertain = !earlier.contains { $0.kind.cutting != nil && $0.target.covers(.upload) }
            self = .limit(
                quota, retryAfter: retryAfter,
                isRecounted: spec.count == .eachAttempt && isCertain, from: .zero + spec.window.at,
                to: spec.window.end ?? .distantFuture)
        case .httpError(let error): self = .status(error.status)
        case .stripBooks: self = .booksStripped
        case .truncateResults: self = .resultsTruncated
        case .reorderResults: self = .resultsReordered
        case .expireToken: self = .tokenRevoked
        case .jobGone(let status): self = .jobGone(status: status)
        case .retryableError, .finalError: self = .jobFailed
        case .degraded: self = .degraded
        case .slowStage(_, let by): self = .slowed(by: by.lowerBound)
        case .unknownEvent, .badJSON(.extra): self = .eventAdded
        case .badJSON(.progress), .badJSON(.completed): self = .eventGarbled
        case .latePing(let by): self = .latePings(by: by)
        case .noPing: self = .noPings
        case .twoTerminals: self = .secondTerminal
        case .endWithoutTerminal: self = .noTerminal
        case .ignoreLastEventID: self = .replayFromStart
        case .forgetEvents: self = .eventsForgotten
        case .reset: self = .cut(.reset)
        case .close, .endCleanly: self = .cut(.close)
        case .silence: self = .cut(.silence)
        case .delay(let by):
            // Of a delay that begins or ends it is not known which bytes it met.
            let isAlways = spec.window.at == .zero && spec.window.length == nil
            self = isAlways ? .delayed(by: by.lowerBound) : .unobserved
        case .refuse: self = .refused
        case .phone(.offline): self = .ofPhone(.offline)
        case .phone(.handover): self = .ofPhone(.handover)
        case .phone(.background): self = .ofPhone(.background)
        case .phone(.kill): self = .ofPhone(.kill)
        case .phone(.reinstall): self = .ofPhone(.reinstall)
        case .phone(.clockSkew): self = .ofPhone(.clockSkew)
        case .phone(.storageFull): self = .ofPhone(.storageFull)
        case .socketClose: self = .socketClosed
        case .eventShape, .socketFrames, .slice, .bandwidth, .loss: self = .unobserved
        }
    }
}

extension FaultRule {
    init(_ spec: FaultSpec, _ fleet: PhoneGroups) {
        self.init(from: .zero + spec.window.at)
        switch spec.scope {
        case .everyone: break
        case .group(let name): self.group = fleet.groups.firstIndex(of: name)
        case .phone(let number): self.phone = number
        case .share(let odds): self.share = Int(odds.perMillion)
        }
        self.firingsMax = spec.count.firingsMax
        guard case .afterEvents(let range) = spec.trigger, let cutting = spec.kind.cutting else { return }
        switch cutting.cut {
        case .betweenEvents, .insideEvent: self.eventsMax = range.upperBound
        // In the line end of an event it may be whole, and a later event is waited for.
        case .insideUTF8, .insideLineEnd, .afterBytes: break
        }
    }
}
