import Dashboard
import EventLoop
import Faults
import LivePhones
import Observations
import Plan
import RunControl
import RunJudge
import SimBase

/// The control of the run by its dashboard. `RunControl` decides; what it decides is carried out here.
extension LiveRun {
    /// Carries out an order, if it is possible now.
    func follow(_ order: ControlOrder) -> ControlReply {
        if self.isEnding { self.control.ends() }
        let now = max(.zero, self.clock.now())
        do throws(ControlRefusal) {
            let decision = try self.control.handle(order, at: now)
            let text = self.log(decision, at: now)
            self.carryOut(decision.effect)
            self.page?.hurry()
            return .done(text)
        } catch {
            return .refused(error.text)
        }
    }

    /// Carries out what the process that started this one has decided on.
    func follow(_ effect: ControlEffect) {
        guard !self.isEnding else { return }
        self.log(self.control.decision(effect), at: max(.zero, self.clock.now()))
        self.carryOut(effect)
    }

    private var isEnding: Bool {
        self.outcome != nil || self.feed.judge.isInterrupted || self.feed.judge.endedBy != nil
            || self.feed.judge.hasLostBackend
    }

    @discardableResult
    private func log(_ decision: ControlDecision, at now: Instant) -> String {
        guard let action = decision.observation else { return "closed" }
        self.feed.receive(control: action, at: now)
        let record = ControlRecord(at: now, action: action, faults: self.plan.scenario.faults.map(\.id))
        if !self.preparation.request.options.isQuiet {
            self.console.error("\(ProgressLine.clock(now))  dashboard: \(record.text)")
        }
        return record.text
    }

    private func carryOut(_ effect: ControlEffect) {
        switch effect {
        case .stop:
            self.isStoppedByOperator = true
            self.noticeInterruption()
        case .holdArrivals: self.fleet?.control(.hold)
        case .releaseArrivals: self.fleet?.control(.release)
        case .rest(let group, let phones): self.fleet?.control(.rest(self.devices(phones, of: group)))
        case .wake(let group, let phones): self.fleet?.control(.wake(self.devices(phones, of: group)))
        case .fault(let index): self.fleet?.control(.fault(index))
        case .offline(let time): self.fleet?.control(.offline(for: time))
        case .close: self.page?.viewerClosed()
        }
    }

    /// The phones of this process among those that an order counts: of the whole fleet, where it is one of several processes.
    private func devices(_ phones: Range<Int>, of group: Int) -> [DeviceNumber] {
        let group = self.plan.groups[group]
        let counted = self.link == nil ? self.plan.phones(of: group) : Array(group.devices)
        return counted[phones].map { DeviceNumber($0) }.filter { self.plan.shard.has($0) }
    }
}

extension RunControl {
    /// Creates the control of a run of this plan. `ofWholeFleet`: of all phones of the fleet, whichever of them run here.
    init(_ plan: RunPlan, _ expected: ExpectedArrivals, ofWholeFleet: Bool) {
        self.init(
            groups: plan.groups.map {
                Group(
                    name: $0.spec.name,
                    phones: ofWholeFleet ? $0.devices.count : plan.phones(of: $0).count)
            },
            faults: plan.scenario.faults.map { Fault(id: $0.id, isOfPhone: $0.kind.layer == .phone) },
            lastArrival: plan.scenario.closedGroups.isEmpty ? expected.lastArrival : nil)
    }
}
