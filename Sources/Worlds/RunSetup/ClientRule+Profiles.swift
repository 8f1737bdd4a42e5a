package import ClientTrial
package import Phone
import SimBase
import Talaria
import Wire

// Which client may break which rule of a trial of clients, by the values of its profile (Docs/apps.md sections 4 to 6).

extension ClientRule {
    /// Whether a client with these values is known to break the rule.
    package func isKnown(of profile: ClientProfile) -> Bool {
        switch self {
        case .endpoint, .accept, .uploadSize: false
        case .deviceID: profile.identity.sources.contains(.absent)
        case .deviceKept:
            profile.identity.sources.contains(.perScan) || profile.identity.sources.contains(.perService)
        case .token, .tokenURL: profile.token.stream == .query
        case .tokenStale: profile.stream.statuses != .byStatus || profile.token.expiry == .unknown
        case .uploadForm: profile.journey == .scan && profile.uploadPart != "photos[]"
        case .wait:
            !profile.waits.usesHeader || profile.waits.isSetAnew || profile.upload.problems == .ignored
                || profile.stream.statuses != .byStatus
        case .backoff: profile.stream.doublingsMax != nil || profile.stream.statuses == .unchecked
        case .uploadOnce: profile.stream.afterLoss != .reconnects || profile.losesScans
        case .refusalFinal: profile.stream.statuses != .byStatus || profile.losesScans
        case .retryOnce: profile.events.errorRetriesMax.map { $0 > 1 } ?? true
        case .lastEventID: !profile.stream.resumes
        case .streamResumed:
            profile.stream.afterLoss != .reconnects || profile.stream.afterEnd == .finishes
                || profile.stream.attemptsMax != nil || profile.losesScans
        case .streamClosed: profile.missesTerminals || profile.background == .leavesStreams
        case .streamsBounded:
            profile.stream.slots > ContractLimit.streamsMax || profile.background == .leavesStreams
        case .statusPolling: profile.status.interval < ContractLimit.statusPollMin
        case .resultsNeeded: !profile.results.usesInlineBooks || profile.misreadsBooks
        case .resultsFetched:
            !profile.results.isFallback || profile.results.needsAddress || profile.missesTerminals
                || profile.losesScans
        case .resultsOnce: profile.results.envelope != .data || profile.misreadsBooks
        case .resultsLean: profile.results.format != "lite"
        case .jobDeleted:
            // Without a device id the results are refused, and a job whose results it gives up is kept.
            !profile.cleanup.isMade || !profile.cleanup.isMadeAfterFailure || profile.missesTerminals
                || profile.losesScans || profile.stream.afterEnd == .finishes
                || profile.identity.sources.contains(.absent)
        case .jobNotDeletedEarly:
            profile.events.canFail || profile.stream.afterLoss != .reconnects || !profile.results.isRepeated
                || profile.results.needsAddress || profile.losesScans || profile.misreadsBooks
        case .jobDeletedOnce, .jobSilent: profile.events.failure == .continues || profile.losesScans
        case .deleteRepeated: profile.cleanup.requestsMax == 1 || profile.losesScans
        }
    }
}

extension ClientExpectations {
    /// Adds what a profile is known to break.
    package mutating func add(_ profile: ClientProfile) {
        for rule in ClientRule.allCases where rule.isKnown(of: profile) && !self.known.contains(rule) {
            self.known.append(rule)
        }
    }
}

extension IdentityPolicy {
    fileprivate var sources: [DeviceIDSource] { [self.upload, self.stream, self.results, self.cleanup] }
}

extension ClientProfile {
    /// Whether it may leave scans that are under way, with what it owes the server for them.
    fileprivate var losesScans: Bool {
        self.background == .leavesStreams || self.queue.storage != .all || self.failedScans == .removed
    }

    /// Whether it may take a terminal event for something else.
    fileprivate var missesTerminals: Bool {
        self.events.names == .dotted || self.events.data == .enveloped || self.stream.reader != .standard
    }

    /// Whether it cannot read books that the contract's client reads.
    fileprivate var misreadsBooks: Bool {
        self.results.rejectsUnknownStatus || self.results.envelope != .data
            || self.events.statuses == .jobStatus
    }
}
