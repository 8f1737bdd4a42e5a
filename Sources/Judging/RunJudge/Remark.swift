package import Metrics
import Observations
package import SimBase

/// What a reader must know of a run in addition to its figures. The words are in Reports
/// (`RunResult+Remarks.swift`).
package enum Remark: Hashable, Sendable {
    case load(LoadRemark)
    case start(StartRemark)
    case end(EndRemark)
    case merge(MergeRemark)
    indirect case ofShard(FleetShard, Remark)
    /// A sentence of a file that has no values.
    case quoted(Kind, String)

    /// Where a report has it. A run with a complaint is not trusted.
    package enum Kind: String, Hashable, Sendable { case complaint, warning, note }

    package var kind: Kind {
        switch self {
        case .load(let remark): remark.kind
        case .start(let remark): remark.kind
        case .end(let remark): remark.kind
        case .merge(let remark): remark.kind
        case .ofShard(_, let remark): remark.kind
        case .quoted(let kind, _): kind
        }
    }

    /// Whether the load was late because this machine had no time for it.
    package var isOfBusyMachine: Bool {
        switch self {
        case .load(let remark): remark.isOfBusyMachine
        case .ofShard(_, let remark): remark.isOfBusyMachine
        case .start, .end, .merge, .quoted: false
        }
    }

    /// Whether timers were late, so that every time of the run may be too long.
    package var isOfLateTimers: Bool {
        switch self {
        case .load(.timersLate): true
        case .ofShard(_, let remark): remark.isOfLateTimers
        case .load, .start, .end, .merge, .quoted: false
        }
    }

    /// What happens to the remark of a shard in the merge of all.
    enum Merging { case kept, keptOfAll, madeAnew }

    var merging: Merging {
        switch self {
        case .load(let remark) where remark.isSum: .madeAnew
        case .end(.judgedWhenMerged), .end(.coverage), .end(.regions), .end(.exported): .madeAnew
        case .load, .start, .end, .merge, .ofShard, .quoted: self.kind == .note ? .keptOfAll : .kept
        }
    }
}

/// How the load of a run differs from the requested load.
package enum LoadRemark: Hashable, Sendable {
    /// The processes whose timers are watched.
    package enum TimedProcess: String, Hashable, Sendable { case phones, backend, gateway }

    /// At p99.
    case timersLate(TimedProcess, milliseconds: Int64)
    /// What captures waited for the preparation of their photo to begin, at p99.
    case photosLate(milliseconds: Int64)
    case descriptorsExhausted(connections: Int)
    case capturesLate(Int, planned: Int, limit: Int)
    case capturesHeldBack(Int, planned: Int, limit: Int, HoldReason)
    case phonesHeldBack(tenthsOfPercent: Int64, HoldReason)
    case shutdownsTimedOut(phones: Int)
    case capturesDeferred(Int)
    case capturesSkipped(Int)
    case controlled
    /// The steps of the load say nothing of the backend from this rate on.
    case capacityIsOfMachine(StepRate, GeneratorLag)
    case stepTooShort(StepRate, Interval)
    case resendsBlocked(Int)
    case devicesUsedBefore(phones: Int, option: String)

    var kind: Remark.Kind {
        switch self {
        case .timersLate, .photosLate, .descriptorsExhausted, .capturesLate, .capturesHeldBack,
            .phonesHeldBack, .capacityIsOfMachine, .stepTooShort:
            .complaint
        case .shutdownsTimedOut, .capturesDeferred, .capturesSkipped, .controlled, .resendsBlocked,
            .devicesUsedBefore:
            .warning
        }
    }

    var isOfBusyMachine: Bool {
        switch self {
        case .timersLate, .photosLate, .capturesLate, .capacityIsOfMachine: true
        case .descriptorsExhausted, .capturesHeldBack, .phonesHeldBack, .stepTooShort, .shutdownsTimedOut,
            .capturesDeferred, .capturesSkipped, .controlled, .resendsBlocked, .devicesUsedBefore:
            false
        }
    }

    /// Whether that of a whole comes from the sums of its shards.
    var isSum: Bool {
        switch self {
        case .capturesLate, .capturesHeldBack, .phonesHeldBack, .shutdownsTimedOut, .capturesDeferred,
            .capturesSkipped, .controlled:
            true
        case .timersLate, .photosLate, .descriptorsExhausted, .resendsBlocked, .devicesUsedBefore,
            .capacityIsOfMachine,
            .stepTooShort:
            false
        }
    }
}

/// What a run began with.
package enum StartRemark: Hashable, Sendable {
    case photoSkipped(String)
    case photosRejected(Int)
    case stateShortfall(String)
    case stateOfOtherSeed(UInt64, run: UInt64)
    case stateWithoutManifest
    case stateLinesSkipped(Int)
    case stateWritesTorn(Int)
    case recordsLost(LostRecords, areBooksKnown: Bool)
    case planOfLiveRun(broke: String, subject: String)

    var kind: Remark.Kind {
        switch self {
        case .photoSkipped, .photosRejected, .stateShortfall, .stateOfOtherSeed, .stateWithoutManifest,
            .stateLinesSkipped, .stateWritesTorn, .recordsLost:
            .warning
        case .planOfLiveRun: .note
        }
    }
}

/// How a run ended, and what it did not judge.
package enum EndRemark: Hashable, Sendable {
    case interruptedBeforeCaptures
    case endedWithoutReport
    case worldFailed(at: Int64, events: [String])
    case notReproduced(by: String, savedBy: String, digest: String, events: Int)
    case linkNotUpdated(String, reason: String)
    case logFull(bytes: Int)
    case eventsOmitted(Int)
    case digest(String, events: Int)
    case judgedWhenMerged
    case phonesLeftOut(Int)
    case coverage(met: Int, of: Int, missed: [String])
    case regions(RegionSummary)
    /// With a collector, what came of the spans and the metrics.
    case exported(ExportSummary)

    var kind: Remark.Kind {
        switch self {
        case .interruptedBeforeCaptures, .endedWithoutReport, .worldFailed, .notReproduced, .linkNotUpdated,
            .logFull, .eventsOmitted:
            .warning
        case .exported(let summary): summary.isWhole ? .note : .warning
        case .digest, .judgedWhenMerged, .phonesLeftOut, .coverage, .regions: .note
        }
    }
}

/// What a merge lacks, and what it is made of.
package enum MergeRemark: Hashable, Sendable {
    case merged(parts: Int, of: Int)
    case mergedRuns(seeds: [UInt64])
    case backendsDiffer(Int, areShards: Bool)
    case windowsNotJudged(objectives: [String])
    case seriesNotWhole
    /// `isJudged`: whether objectives for parts of the run need it.
    case seriesCut(FleetShard, file: String, bytes: Int, of: Int, isJudged: Bool)
    case shardIncomplete(FleetShard, ShardMerge.Defect, phones: Int, first: [UInt32])
    case shardExit(FleetShard, code: Int32)
    case shardCrashed(FleetShard, how: String)
    case shardWithoutHead(folder: String)
    case retriesLeftOut(judgedMilliseconds: Int64)
    case noEvidence(of: String)

    var kind: Remark.Kind {
        switch self {
        case .merged, .mergedRuns, .backendsDiffer, .windowsNotJudged, .seriesNotWhole: .note
        case .seriesCut(_, file: _, bytes: _, of: _, let isJudged): isJudged ? .complaint : .warning
        case .shardCrashed: .warning
        case .shardIncomplete, .shardExit, .shardWithoutHead, .retriesLeftOut, .noEvidence: .complaint
        }
    }
}

/// Why an operator held load back.
package enum HoldReason: String, Hashable, Sendable {
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
