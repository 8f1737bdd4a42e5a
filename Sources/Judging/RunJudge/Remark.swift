import Observations
package import SimBase

/// What a reader must know of a run beside its figures. The words are in Reports (`RunResult+Remarks.swift`).
package enum Remark: Hashable, Codable, Sendable {
    /// Where a report has it. A run with a complaint is not trusted.
    package enum Kind: String, Hashable, Codable, Sendable { case complaint, warning, note }

    /// The processes whose timers are watched.
    package enum TimedProcess: String, Hashable, Codable, Sendable { case phones, backend, gateway }

    // MARK: The load was not the requested load

    case timersLate(TimedProcess, milliseconds: Int64)
    case descriptorsExhausted(connections: Int)
    case capturesLate(Int, planned: Int, limit: Int)
    case capturesHeldBack(Int, planned: Int, limit: Int, HoldReason)
    case phonesHeldBack(tenthsOfPercent: Int64, HoldReason)
    case shutdownsTimedOut(phones: Int)
    case capturesDeferred(Int)
    case capturesSkipped(Int)
    case controlled
    case resendsBlocked(Int)
    case devicesUsedBefore(phones: Int, option: String)

    // MARK: What a run began with

    case photoSkipped(String)
    case photosRejected(Int)
    case stateShortfall(String)
    case stateOfOtherSeed(UInt64, run: UInt64)
    case stateWithoutManifest
    case stateLinesSkipped(Int)
    case stateWritesTorn(Int)
    case recordsLost(LostRecords, areBooksKnown: Bool)

    // MARK: How it ended

    case interruptedBeforeCaptures
    case endedWithoutReport
    case worldFailed(at: Int64, events: [String])
    case notReproduced(by: String, savedBy: String, digest: String, events: UInt64)
    case linkNotUpdated(String, reason: String)
    case logFull(bytes: Int)
    case eventsOmitted(Int)

    // MARK: What was not judged, or not by itself

    case digest(String, events: UInt64)
    case judgedWhenMerged
    case phonesLeftOut(Int)
    case planOfLiveRun(broke: String, subject: String)
    case coverage(met: Int, of: Int, missed: [String])
    case regions(RegionSummary)

    // MARK: Merges

    case merged(parts: Int, of: Int)
    case mergedRuns(seeds: [UInt64])
    case backendsDiffer(Int, areShards: Bool)
    case windowsNotJudged(objectives: [String])
    case seriesNotWhole
    case seriesCut(FleetShard, file: String, bytes: Int, of: Int, isJudged: Bool)
    case shardIncomplete(FleetShard, ShardMerge.Defect, phones: Int, first: [UInt32])
    case shardExit(FleetShard, code: Int32)
    case shardCrashed(FleetShard, how: String)
    case shardWithoutHead(folder: String)
    case retriesLeftOut(judgedMilliseconds: Int64)
    case noEvidence(of: String)
    indirect case ofShard(FleetShard, Remark)

    /// A sentence of a file, whose value is not known.
    case quoted(Kind, String)

    package var kind: Kind {
        switch self {
        case .timersLate, .descriptorsExhausted, .capturesLate, .capturesHeldBack, .phonesHeldBack,
            .shardIncomplete, .shardExit, .shardWithoutHead, .retriesLeftOut, .noEvidence,
            .seriesCut(_, file: _, bytes: _, of: _, isJudged: true):
            .complaint
        case .digest, .judgedWhenMerged, .phonesLeftOut, .planOfLiveRun, .coverage, .regions, .merged,
            .mergedRuns, .backendsDiffer, .windowsNotJudged, .seriesNotWhole:
            .note
        case .ofShard(_, let remark): remark.kind
        case .quoted(let kind, _): kind
        default: .warning
        }
    }

    /// What becomes of the remark of a shard in the merge of all.
    enum Merging { case kept, keptOfAll, madeAnew }

    var merging: Merging {
        switch self {
        case .controlled, .capturesLate, .capturesHeldBack, .phonesHeldBack, .shutdownsTimedOut,
            .capturesDeferred, .capturesSkipped, .judgedWhenMerged, .coverage, .regions:
            .madeAnew
        default: self.kind == .note ? .keptOfAll : .kept
        }
    }
}

/// Why an operator held load back.
package enum HoldReason: String, Hashable, Codable, Sendable {
    case paused, resting, pausedAndResting, unknown

    package init(_ controls: [ControlRecord]) {
        let isPaused = controls.contains { $0.action == .paused }
        let isResting = controls.contains {
            if case .phones(_, let active, let phones) = $0.action { active < phones } else { false }
        }
        self =
            switch (isPaused, isResting) {
            case (true, true): .pausedAndResting
            case (true, false): .paused
            case (false, true): .resting
            case (false, false): .unknown
            }
    }
}
