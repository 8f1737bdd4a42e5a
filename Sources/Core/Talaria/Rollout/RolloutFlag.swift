package import SimBase

/// The feature flag by which an app chooses between two transports (S3, Phase 4).
package struct RolloutFlag: Hashable, Sendable {
    package var arms: RolloutArms
    /// The share of the new arm.
    package var share: Odds
    /// Whether a phone stays in its cohort. Otherwise it is drawn at every look, as in the code of S3, which takes a new
    /// UUID each time.
    package var isSticky: Bool

    package init(arms: RolloutArms, share: Odds, isSticky: Bool) {
        self.arms = arms
        self.share = share
        self.isSticky = isSticky
    }

    /// The arm of a scan of this phone. Of a sticky flag it depends on the phone alone, and the cohort of a share is a part of
    /// the cohort of a larger one.
    package func arm(
        of device: DeviceNumber, _ scan: ScanNumber, attempt: UInt32, _ random: KeyedRandom
    ) -> StreamTransport {
        let look = self.isSticky ? 0 : UInt64(scan.raw) << 32 | UInt64(attempt)
        return self.share.happens(random.draw(.rollout, UInt64(device.raw), look))
            ? self.arms.new : self.arms.old
    }
}

/// The transports of a rollout: from which one, and to which one.
package struct RolloutArms: Hashable, Sendable {
    package var old: StreamTransport
    package var new: StreamTransport

    package init(from old: StreamTransport, to new: StreamTransport) {
        self.old = old
        self.new = new
    }

    package var both: [StreamTransport] { [self.old, self.new] }
}
