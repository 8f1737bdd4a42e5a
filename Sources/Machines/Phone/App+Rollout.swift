import Observations
import SimBase
import Talaria

extension App {
    /// Looks at the flag of a rollout: the job of this upload is followed by the transport of its arm.
    mutating func takeArm(
        of scan: inout Scan, attempt: UInt32, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let flag = self.rollout else { return }
        let arm = flag.arm(of: self.number, scan.number, attempt: attempt, self.random)
        scan.arm = arm
        self.observe(.armTaken(arm, share: flag.share), of: scan.number, at: now, into: &effects)
    }

    /// By what the job of an upload is followed.
    func transport(of scan: ScanNumber) -> StreamTransport {
        guard self.profile.journey.canBeFollowedByWebSocket else { return .sse }
        return self.activeIndex(scan).flatMap { self.active[$0].scan.arm } ?? self.profile.stream.transport
    }
}
