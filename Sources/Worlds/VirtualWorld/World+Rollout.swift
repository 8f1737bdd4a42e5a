import Observations
import Phone
import RunControl
import SimBase

extension World {
    /// The time at which the rollout has something to do; never when the run ends.
    var nextOfRollout: Instant { self.isEnding ? .distantFuture : self.rollout?.nextWake ?? .distantFuture }

    /// Passes an event to the rollout, and its effects to all phones.
    mutating func stepRollout(_ event: RolloutEvent) {
        self.rollout?.handle(event, at: self.now, into: &self.rolloutEffects)
        let effects = self.rolloutEffects
        self.rolloutEffects.removeAll()
        for effect in effects {
            switch effect {
            case .set(let flag):
                for phone in self.phones.indices { self.send(.rolledOut(flag), to: phone) }
            case .observe(let control):
                self.observe(
                    Observation(at: self.now, device: DeviceNumber(0), scan: .none, what: .control(control)))
            }
        }
    }
}
