import CurlLoop
import Faults
import LivePhones
import Plan
import RunJudge
import RunMetrics
import SimBase

extension LiveRun {
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
