import Ledger
import Metrics
import RunArchive
package import RunJudge
import SimBase

extension RunResult {
    /// Why the measurement cannot be trusted, one sentence each; empty if it can.
    package var complaints: [String] { self.texts(.complaint) }

    /// The problems apart from the run: unreadable photos, a truncated log.
    package var warnings: [String] { self.texts(.warning) }

    /// What else a reader should know.
    package var notes: [String] { self.texts(.note) }

    private func texts(_ kind: Remark.Kind) -> [String] {
        self.remarks.filter { $0.kind == kind }.map { $0.text(of: self) }
    }

    /// The number of actions that the note lists.
    private static let controlsListed = 20

    /// What a reader must know of a run that was controlled while it ran.
    fileprivate var controlNote: String {
        var actions = self.controls.prefix(Self.controlsListed).map { "\(Self.clock($0.at)) \($0.text)" }
        let more = self.controls.count - actions.count
        if more > 0 { actions.append("\(more) more") }
        let held =
            self.heldBack > 0
            ? "; \(self.heldBack) planned captures were held back, and no latency includes them" : ""
        return
            "controlled from the dashboard, so the seed alone does not reproduce this run: "
            + actions.joined(separator: ", ") + held
    }

    /// Minutes and seconds.
    private static func clock(_ moment: Instant) -> String {
        let seconds = max(0, moment.nanoseconds / 1_000_000_000)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}

extension Remark {
    /// The sentence. `result`: that of the run that has the remark.
    func text(of result: RunResult) -> String {
        switch self {
        case .load(let remark): remark.text(of: result)
        case .start(let remark): remark.text
        case .end(let remark): remark.text
        case .merge(let remark): remark.text
        case .ofShard(let shard, let remark): "shard \(shard): \(remark.text(of: result))"
        case .quoted(_, let text): text
        }
    }
}

extension LoadRemark {
    fileprivate func text(of result: RunResult) -> String {
        switch self {
        case .controlled: result.controlNote
        case .timersLate(.phones, let late):
            "the phones' timers were \(late) ms late (p99): this machine was too busy for valid measurements"
        case .timersLate(let process, let late):
            "the timers of the \(process == .backend ? "simulated backend" : "gateway") were \(late) ms late (p99): its process was stopped, or this machine was too busy for valid measurements"
        case .photosLate(let late):
            "captures waited \(late) ms (p99) until a processor was free to prepare their photo: this machine was too busy for valid measurements"
        case .descriptorsExhausted(let count):
            "\(Figures.count(count, "connection", "connections")) could not be opened: too few file descriptors"
        case .capturesLate(let late, let planned, let limit):
            "\(Figures.count(late)) of \(Figures.count(planned, "capture", "captures")) started more than 1 s late (limit: \(Figures.count(limit))): the load was not the requested load"
        case .capturesHeldBack(let held, let planned, let limit, let reason):
            "\(reason.text): \(Figures.count(held)) of \(Figures.count(planned, "capture", "captures")) were held back (limit: \(Figures.count(limit)))"
        case .phonesHeldBack(let tenths, let reason):
            "\(reason.text): phones of closed groups were held back for \(tenths / 10).\(tenths % 10)% of their time (limit: 1%)"
        case .capacityIsOfMachine(let rate, let lag):
            "limit of this machine: \(lag.text) at \(rate)"
        case .stepTooShort(let rate, let length):
            "the step at \(rate) cannot be judged: \(length.wholeMilliseconds / 1_000) s are less than \(CapacitySearch.settledTimes) times p(95) of scan.time"
        case .shutdownsTimedOut(let phones):
            "\(Figures.count(phones, "phone", "phones")) had not finished shutting down at the time limit"
        case .capturesDeferred(let count):
            "\(Figures.count(count, "capture", "captures")) skipped: the app of the phone did not become active again"
        case .capturesSkipped(let count):
            "\(Figures.count(count, "capture", "captures")) skipped: the run was stopped"
        case .resendsBlocked(let count):
            "\(Figures.count(count, "automatic retry", "automatic retries")) on a closed connection blocked, so that every failure is counted (harmless)"
        case .devicesUsedBefore(let phones, let option):
            "the target answered 429 to the first upload of \(Figures.count(phones, "phone", "phones")), whose device ids are from \(option): it still counts what an earlier run uploaded with them"
        }
    }
}

extension StartRemark {
    fileprivate var text: String {
        switch self {
        case .photoSkipped(let text): "photo skipped: \(text)"
        case .photosRejected(let count):
            "\(Figures.count(count, "photo", "photos")) could not be preprocessed"
        case .stateShortfall(let text): "the state folder is not whole: \(text)"
        case .stateOfOtherSeed(let seed, let run):
            "the state folder is that of seed \(seed), and this run has seed \(run)"
        case .stateWithoutManifest:
            "the state folder is of an earlier version, so it is not known whether its journals are whole"
        case .stateLinesSkipped(let count):
            "skipped \(Figures.count(count, "damaged line", "damaged lines")) of the state folder"
        case .stateWritesTorn(let count):
            "removed \(Figures.count(count, "incomplete write", "incomplete writes")) of an earlier process from the state folder; they were never durable"
        case .recordsLost(let lost, let areBooksKnown):
            "records of unfinished scans are missing from the state folder: "
                + lost.named.joined(separator: ", ") + (lost.more > 0 ? " and \(lost.more) more" : "")
                + (areBooksKnown ? "" : "; their number of books is unknown and not counted")
        case .planOfLiveRun(let broke, let subject):
            "the plan is of a live run that broke \(broke)\(subject.isEmpty ? "" : " (\(subject))"); 'simulate' explains it"
        }
    }
}

extension EndRemark {
    fileprivate var text: String {
        switch self {
        case .interruptedBeforeCaptures: "interrupted before the first capture"
        case .endedWithoutReport: "the phones ended without a final report"
        case .worldFailed(let moment, let events):
            "an internal error at \(moment) ns; the last events:\n" + events.joined(separator: "\n")
        case .notReproduced(let tool, let savedBy, let digest, let events):
            "this build (\(tool)) does not reproduce the run of \(savedBy), which saved the plan with digest \(digest) of \(events) events"
        case .linkNotUpdated(let link, let reason): "\(link) could not be updated: \(reason)"
        case .logFull(let bytes):
            "events.ndjson is full at \(Figures.count(bytes, "byte", "bytes")): later observations are missing"
        case .eventsOmitted(let count):
            "events.ndjson omits \(Figures.count(count, "event", "events")) that phones ignored, beyond the first \(ObservationLog.ignoredMax) of each phone; the counts include them"
        // Comparisons hold this text against that of an earlier version.
        case .digest(let digest, let events):
            "digest \(digest) of \(events) events"
        case .phonesLeftOut(let count): "SLOs exclude phones that stay offline: \(Figures.count(count))"
        case .coverage(let met, let all, let missed):
            "fault coverage: reached \(met) of \(all) target situations, those that the faults of the scenario should lead to"
                + (missed.isEmpty ? "" : "; not reached: \(missed.joined(separator: ", "))")
        case .regions(let regions): regions.text
        case .exported(let export): export.text
        case .judgedWhenMerged:
            FleetEvidence.invariants.map(\.rawValue).joined(separator: " and ")
                + " are judged when the shards are merged"
        }
    }
}

extension MergeRemark {
    fileprivate var text: String {
        switch self {
        case .merged(let parts, let all): "merged from \(parts) of \(all) shards"
        case .mergedRuns(let seeds):
            "merged from \(seeds.count) runs, seeds " + seeds.map { String($0) }.joined(separator: ", ")
        case .backendsDiffer(let count, let areShards):
            "the \(areShards ? "shards" : "runs") used \(Figures.count(count)) different backends"
        case .windowsNotJudged(let objectives):
            "objectives for parts of the run cannot be judged, because the merged runs have no series of one time: "
                + objectives.joined(separator: ", ")
        case .seriesNotWhole:
            "objectives for parts of the run cannot be judged: not all shards have a whole series"
        case .seriesCut(let shard, let file, let bytes, let all, let isJudged):
            "shard \(shard): \(file) has \(Figures.count(bytes)) of its \(Figures.count(all, "byte", "bytes")): "
                + (isJudged
                    ? "objectives for parts of the run cannot be judged by it"
                    : "charts over time are incomplete")
        case .shardIncomplete(let shard, let defect, let phones, let first):
            "shard \(shard) \(defect.text): the verdict on its phones is n/a (\(Self.names(phones, first)))"
        case .shardExit(let shard, let code):
            "shard \(shard) ended with exit code \(code); its files do not say why"
        case .shardCrashed(let shard, let how):
            "shard \(shard) \(how): its phones are shown as they were before"
        case .shardWithoutHead(let folder): "\(folder)/run.json is missing or damaged: its shard is left out"
        case .retriesLeftOut(let milliseconds):
            "the shards have more retries than they hand over: \(Invariant.herdBounded.rawValue) is judged for the first \(DecimalText.text(milliseconds, decimals: 3, shown: 0...3)) s of the run"
        case .noEvidence(let part):
            "no evidence of \(Printable.line(part)): what these phones did is not known"
        }
    }

    private static func names(_ phones: Int, _ first: [UInt32]) -> String {
        guard phones > 0 else { return "no phones" }
        let numbers = first.map { String($0) }.joined(separator: ", ")
        return
            "\(Figures.count(phones, "phone", "phones")), \(phones == 1 ? "number" : "numbers") \(numbers)\(phones > first.count ? ", ..." : "")"
    }
}

extension ExportSummary {
    fileprivate var text: String {
        let spans = Figures.count(self.exported, "span", "spans")
        let metrics = self.hasMetrics ? "the metrics" : "no metrics"
        let whole =
            "OTLP: \(spans) and \(metrics) exported to \(Printable.line(self.url)), \(self.dropped) dropped"
        return whole + (self.isWhole ? "" : self.trouble.map { " (\(Printable.line($0)))" } ?? "")
    }
}

extension HoldReason {
    var text: String {
        let what =
            switch self {
            case .paused: "paused"
            case .resting: "phones put to rest"
            case .pausedAndResting: "paused, phones put to rest"
            case .unknown: "held back"
            }
        return what + " from the dashboard"
    }
}

extension RegionSummary {
    fileprivate var text: String {
        let head =
            "segmentation: \(Figures.count(self.complete)) of \(Figures.count(self.captures, "capture", "captures")) complete, \(Figures.count(self.regions, "region", "regions"))"
        guard !self.named.isEmpty else { return head }
        let more = self.more > 0 ? " and \(Figures.count(self.more)) more" : ""
        return "\(head); incomplete: \(self.named.map(\.text).joined(separator: "; "))\(more)"
    }
}
