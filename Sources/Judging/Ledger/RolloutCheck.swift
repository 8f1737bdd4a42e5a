import Observations
import SimBase
import Talaria

/// The share that a rollout has given the new arm, as its stages and its rollback say: what phones choose by must be that share.
struct RolloutCheck: Sendable {
    /// Phones of other threads hear of a stage a little later.
    private static let graceTime = Interval.seconds(1)

    /// Nil before the first stage.
    private var share: Odds?
    private var since = Instant.zero
    /// The share before it.
    private var former: Odds?

    mutating func record(_ action: ControlObservation, at moment: Instant) {
        switch action {
        case .rolloutStage(_, let share): self.begin(share, at: moment)
        case .rolledBack: self.begin(.never, at: moment)
        case .stopped, .paused, .resumed, .phones, .fault, .offline: break
        }
    }

    private mutating func begin(_ share: Odds, at moment: Instant) {
        (self.former, self.share, self.since) = (self.share, share, moment)
    }

    /// Returns what is wrong with a choice by a flag with this share; nil if nothing is.
    func objection(to chosen: Odds, at moment: Instant) -> String? {
        guard let share, chosen != share, chosen != self.former || self.since + Self.graceTime < moment else {
            return nil
        }
        return
            "a phone chose its transport by a share of \(chosen.perMillion) ppm, but the rollout has \(share.perMillion)"
    }
}

/// What one phone has chosen.
struct RolloutChoices: Sendable {
    private static let scansMax = 32

    private var last: (arm: StreamTransport, share: Odds)?
    private var arms: [(scan: ScanNumber, arm: StreamTransport)] = []

    /// - Parameter isSticky: Whether a phone stays in its cohort.
    /// - Returns: What is wrong with a choice; nil if nothing is.
    mutating func chose(
        _ arm: StreamTransport, _ share: Odds, _ scan: ScanNumber, isSticky: Bool
    ) -> String? {
        defer { self.last = (arm, share) }
        self.arms.removeAll { $0.scan == scan }
        self.arms.append((scan, arm), max: Self.scansMax)
        guard isSticky, let last, last.share == share, last.arm != arm else { return nil }
        return "a phone left its cohort of the rollout: \(arm.name) after \(last.arm.name)"
    }

    /// Returns what is wrong with the transport by which a job of the scan is followed; nil if nothing is.
    func objection(to transport: StreamTransport, _ scan: ScanNumber) -> String? {
        guard let chosen = self.arms.last(where: { $0.scan == scan })?.arm, chosen != transport else {
            return nil
        }
        return "a job is followed by \(transport.name), but the rollout chose \(chosen.name)"
    }
}
