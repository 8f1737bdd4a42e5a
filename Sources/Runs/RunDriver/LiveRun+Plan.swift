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
import VirtualWorld

extension LiveRun {
    /// Phones that a plan has if no phone of the run had a problem.
    private static let phonesWithoutProblems: UInt32 = 8

    /// Writes the plan of a run that failed into its folder, and of any run to the file of `--save-plan`. Returns the failures,
    /// which must not cost the results.
    ///
    /// The faults of a plan are read from the log of the run, so that a run that needs no plan does nothing for it.
    func savePlan(
        _ result: RunResult, waiting: [WaitingRecord], endedAt: Instant
    ) -> [OutputError.Failure] {
        let record = LiveRecord(result, waiting: waiting)
        // A simulation cannot show that an objective failed: it has other times, and only the phones with problems.
        let isKept =
            [RunExit.invariantBroken, .sloFailed].contains(result.exit) && !record.failures.isEmpty
        let path = self.request.savesPlanTo
        // The phones of a worker were not all there from the start, and did not all stay.
        guard isKept || path != nil, self.request.worker == nil else { return [] }
        self.directory.flush()
        let text = PlanWriter.text(self.livePlan(record, endedAt: endedAt))
        if isKept { self.directory.write(plan: text) }
        guard let path else { return [] }
        do throws(OutputError) {
            try OutputError.write([(path: path, text: text)])
            return []
        } catch {
            return error.failures
        }
    }

    private func livePlan(_ record: LiveRecord, endedAt: Instant) -> SavedPlan {
        var record = record
        let phones = self.phones(of: record)
        let live = LivePlan(
            self.plan, of: phones, self.observations(of: phones), wallClockAtZero: self.startedWall,
            endedAt: endedAt)
        record.phonesLeftOut = phones.count { !live.phones.contains($0) }
        record.faultsLeftOut = live.faultsLeftOut
        var note = "from a live run: \(live.phones.count) of \(self.plan.devices) phones"
        if record.phonesLeftOut > 0 { note += "; \(record.phonesLeftOut) more had problems" }
        if record.faultsLeftOut > 0 { note += "; \(record.faultsLeftOut) faults have no place" }
        return PlanFiles.saved(live.plan, live: record, note: note)
    }

    /// The phones with failures, then those with the most problems.
    private func phones(of record: LiveRecord) -> [DeviceNumber] {
        var phones = record.phones
        for phone in self.feed.judge.timeline.worstPhones(LivePlan.phonesMax).map(\.device)
        where !phones.contains(phone) {
            phones.append(phone)
        }
        guard phones.isEmpty else { return phones }
        return (0..<min(Self.phonesWithoutProblems, UInt32(self.plan.devices))).map { DeviceNumber($0) }
    }

    private func observations(of phones: [DeviceNumber]) -> [Observation] {
        PhoneLog.observations(
            of: phones, folder: self.directory.path, faults: self.plan.scenario.faults.map(\.id))
    }
}
