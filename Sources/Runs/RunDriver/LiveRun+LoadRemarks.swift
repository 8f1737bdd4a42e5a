import CurlLoop
import EventLoop
import Faults
import LivePhones
import Metrics
import Plan
import RunJudge
import RunMetrics
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

    var fleetRemarks: [Remark] {
        guard let outcome = self.outcome else {
            return [
                self.feed.judge.isInterrupted ? .end(.interruptedBeforeCaptures) : .end(.endedWithoutReport)
            ]
        }
        let remarks: [(Remark, Bool)] = [
            (.start(.photosRejected(Int(outcome.photosRejected))), outcome.photosRejected > 0),
            (.load(.resendsBlocked(Int(outcome.curl.resendsRefused))), outcome.curl.resendsRefused > 0),
        ]
        return remarks.filter(\.1).map(\.0) + [self.devicesUsedBefore].compactMap { $0 }
    }

    /// Says that phones were refused for what an earlier run did; nil where that is not so, or a fault may have been the reason.
    private var devicesUsedBefore: Remark? {
        guard !self.plan.scenario.faults.contains(where: \.kind.limitsRates) else { return nil }
        let known = self.preparation.state.phonesKnown
        let isKnown = { (device: DeviceNumber) in !self.request.hasNewDevices || known.contains(device) }
        let limited = self.firstUploads.limited.count(where: isKnown)
        guard limited > 0 else { return nil }
        return .load(
            .devicesUsedBefore(
                phones: limited, option: self.request.hasNewDevices ? "--state" : DeviceSalt.option))
    }
}

extension FaultKind {
    /// Whether the fault answers 429 itself.
    fileprivate var limitsRates: Bool {
        if case .httpError(let fault) = self { return fault.status == 429 }
        return self.id == .rateLimit
    }
}
