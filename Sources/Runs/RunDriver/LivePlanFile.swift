import Faults
import Ledger
import Observations
import Plan
import RunArchive
import RunJudge
import RunMetrics
import ScenarioFile
import Search
import SimBase

/// The plan of a live run that is over, made from its log: a run that needs no plan does nothing for it.
struct LivePlanFile {
    /// Phones that a plan has if no phone of the run had a problem.
    private static let phonesWithoutProblems: UInt32 = 8

    let plan: RunPlan
    let result: RunResult
    let timeline: RunTimeline
    /// The scans that the phones' storages had at the end.
    let waiting: [WaitingRecord]
    /// The folders of the run, or of its shards, with their logs.
    let folders: [String]
    /// Milliseconds since 1970 at the start of the run.
    let wallClockAtZero: Int64
    let endedAt: Instant

    /// Whether the plan is kept in the folder of the run: a run of the plan can show what failed. That an objective failed it
    /// cannot show, because it has other times, and only the phones with problems.
    var isKept: Bool {
        [.invariantBroken, .sloFailed].contains(self.result.exit) && !self.record.failures.isEmpty
    }

    private var record: LiveRecord { LiveRecord(self.result, waiting: self.waiting) }

    var text: String {
        var record = self.record
        let phones = self.phones(of: record)
        let live = LivePlan(
            self.plan, of: phones, self.observations(of: phones), wallClockAtZero: self.wallClockAtZero,
            endedAt: self.endedAt)
        record.phonesLeftOut = phones.count { !live.phones.contains($0) }
        record.faultsLeftOut = live.faultsLeftOut
        var note = "from a live run: \(live.phones.count) of \(self.plan.devices) phones"
        if record.phonesLeftOut > 0 { note += "; \(record.phonesLeftOut) more had problems" }
        if record.faultsLeftOut > 0 { note += "; \(record.faultsLeftOut) faults have no place" }
        return PlanWriter.text(PlanFiles.saved(live.plan, live: record, note: note))
    }

    /// The phones with failures, then those with the most problems.
    private func phones(of record: LiveRecord) -> [DeviceNumber] {
        var phones = record.phones
        for phone in self.timeline.worstPhones(LivePlan.phonesMax).map(\.device) where !phones.contains(phone)
        {
            phones.append(phone)
        }
        guard phones.isEmpty else { return phones }
        return (0..<min(Self.phonesWithoutProblems, UInt32(self.plan.devices))).map { DeviceNumber($0) }
    }

    /// Those of one phone are in one folder.
    private func observations(of phones: [DeviceNumber]) -> [Observation] {
        let faults = self.plan.scenario.faults.map(\.id)
        return self.folders.flatMap { PhoneLog.observations(of: phones, folder: $0, faults: faults) }
    }
}
