import Observations
import SimBase

// herd.bounded: what phones send when a limit ends, a path returns or an app is opened.

extension SimulationInvariants {
    /// The latest counts: a limit that ends later is the one that holds.
    mutating func released(at moment: Instant, _ phoneIndex: Int) {
        self.states[phoneIndex].releasedAt =
            self.states[phoneIndex].releasedAt.map { max($0, moment) } ?? moment
    }

    mutating func comesBack(_ seen: Observation, _ phoneIndex: Int) {
        self.released(at: seen.at, phoneIndex)
        self.states[phoneIndex].isComingBack = true
        self.states[phoneIndex].cameBackAt = seen.at
        self.report(self.herds.pathReturned(at: seen.at), at: seen.at)
    }

    /// A request that is none for the server's sake alone. Those that are answered make room for others; a phone that lets
    /// go all that waited has more open than it has slots.
    mutating func judgeRelease(_ seen: Observation, _ phoneIndex: Int) {
        if self.states[phoneIndex].isComingBack {
            self.states[phoneIndex].isComingBack = false
            if seen.at - self.states[phoneIndex].cameBackAt <= self.settings.herdTime {
                self.report(self.herds.asked(at: seen.at, by: seen.device), at: seen.at)
                self.lastBack = seen.device
            }
        }
        guard let releasedAt = self.states[phoneIndex].releasedAt, releasedAt <= seen.at else { return }
        guard seen.at - releasedAt <= Self.releaseTime else {
            self.states[phoneIndex].releasedAt = nil
            return
        }
        let open = self.states[phoneIndex].requests.inSlots
        guard open == self.slotsMax + 1 else { return }
        self.violate(
            .herdBounded, seen,
            "\(open) requests at once, \((seen.at - releasedAt).wholeMilliseconds) ms after its wait ended; it has \(self.slotsMax) slots"
        )
    }

    /// A herd is reported when its window is over, of the last phone in it.
    mutating func report(_ herd: ThunderingHerdDetector.Herd?, at moment: Instant) {
        guard let herd else { return }
        self.findings.violate(
            .herdBounded, device: self.lastBack, scan: .none, at: moment, herd.text(self.settings))
    }
}
