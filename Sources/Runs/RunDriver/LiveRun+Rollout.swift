import EventLoop
import LivePhones
import RunControl
import RunJudge
import SimBase

/// The rollout of a live run: the main thread decides by what the phones have reported, and the phones follow.
extension LiveRun {
    func followRollout(_ event: RolloutEvent) {
        guard self.outcome == nil, !self.feed.judge.isInterrupted, !self.feed.judge.hasLostBackend else {
            return
        }
        let now = max(.zero, self.clock.now())
        var effects: [RolloutEffect] = []
        self.feed.rollout?.handle(event, at: now, into: &effects)
        for effect in effects {
            switch effect {
            case .set(let flag): self.fleet?.control(.rolledOut(flag))
            case .observe(let control):
                self.feed.receive(control: control, at: now)
                guard !self.request.options.isQuiet else { continue }
                let record = ControlRecord(at: now, action: control)
                self.console.error("\(ProgressLine.clock(now))  \(record.text)")
            }
        }
    }
}
