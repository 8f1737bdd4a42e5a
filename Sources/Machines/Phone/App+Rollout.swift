import Observations
import SimBase
import Talaria

extension App {
    /// Looks at the flag of a rollout: the job of this upload is followed by the transport of its arm.
    mutating func takeArm(
        of scan: ScanNumber, attempt: UInt32, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let flag = self.rollout else { return }
        let arm = flag.arm(of: self.number, scan, attempt: attempt, self.random)
        self.profile.stream.transport = arm
        self.observe(.armTaken(arm, share: flag.share), of: scan, at: now, into: &effects)
    }
}
