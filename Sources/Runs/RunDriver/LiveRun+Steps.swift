import EventLoop
import LivePhones
import Metrics
import RunJudge
import RunSetup
import SimBase

/// The load in steps of a live run: the judge decides, and the phones follow.
extension LiveRun {
    /// Decides on the next stage once what happened before has been reported.
    func followSteps() {
        let now = self.clock.now()
        guard self.stepped != nil, self.outcome == nil, !self.feed.judge.isInterrupted,
            !self.feed.judge.hasLostBackend,
            let order = self.feed.judge.capacityOrder(at: now, self.generatorCounts, into: self.directory)
        else { return }
        self.stepped?.follow(order, judge: &self.feed.judge) { stage in
            self.due.extend(stage)
            self.fleet?.extend(stage)
        }
        if let text = order.text, !self.request.options.isQuiet {
            self.console.error("\(ProgressLine.clock(now))  \(text)")
        }
    }

    private var generatorCounts: GeneratorCounts {
        var counts = GeneratorCounts()
        counts.captured = self.gauges.captured
        counts.late = self.gauges.arrivalsLate
        counts.heldBack = self.gauges.heldBack
        counts.timers = self.gauges.timers
        counts.timersLate = self.gauges.timersLate
        return counts
    }
}
