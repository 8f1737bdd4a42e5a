import CurlLoop
import LivePhones
import Metrics
import RunJudge
import RunSetup
import SimBase

extension LiveRun {
    /// Why the load generator did not keep up.
    var lagRemarks: [Remark] {
        let timers: [(LoadRemark.TimedProcess, HDRHistogram?)] = [
            (.phones, self.outcome?.lateness),
            (self.preparation.isEmbedded ? .backend : .gateway, self.feed.lateness.histogram),
        ]
        let late = timers.compactMap { process, lateness -> Remark? in
            guard let late = lateness?.value(at: .p99), late > FleetLimits.timerLatenessMax.nanoseconds else {
                return nil
            }
            return .load(.timersLate(process, milliseconds: late / 1_000_000))
        }
        let exhausted = self.outcome?.curl.descriptorsExhausted ?? 0
        return late + self.latePhotos
            + (exhausted > 0 ? [.load(.descriptorsExhausted(connections: Int(exhausted)))] : [])
    }

    private var latePhotos: [Remark] {
        guard let waited = self.outcome?.photoWaits.value(at: .p99),
            waited > FleetLimits.photoWaitMax.nanoseconds
        else { return [] }
        return [.load(.photosLate(milliseconds: waited / 1_000_000))]
    }
}
