import EventLoop
import Faults
import Phone
import Plan
package import SimBase
package import Talaria

/// What the operator or the rollout of a run does to its fleet.
package enum FleetControl: Sendable {
    /// Captures are held back until `release`.
    case hold
    case release
    /// These phones capture nothing more until `wake`. What they have captured goes on.
    case rest([DeviceNumber])
    case wake([DeviceNumber])
    /// Starts the fault of the scenario with this index on the phones that it has in the scenario.
    case fault(Int)
    /// Takes the paths of all phones away for some time.
    case offline(for: Interval)
    /// All phones have this flag from now on.
    case rolledOut(RolloutFlag)
}

extension Fleet {
    func follow(_ control: FleetControl) {
        switch control {
        case .hold:
            self.passHeldTime()
            self.held.paused()
        case .release:
            self.passHeldTime()
            self.goOn(self.held.resumed())
        case .rest(let devices):
            self.passHeldTime()
            self.held.rested(devices)
        case .wake(let devices):
            self.passHeldTime()
            self.goOn(self.held.woke(devices))
        case .fault(let fault): self.start(fault)
        case .offline(let time): self.goOffline(for: time)
        case .rolledOut(let flag):
            for phone in self.phones.indices { self.send(.rolledOut(flag), to: phone) }
        }
    }

    func passHeldTime() {
        let left = self.scansLeft.lazy.filter { $0.scans > 0 }.map(\.device)
        self.held.passed(to: self.loop.now(), phones: left)
    }

    /// The scans that the phones of closed groups have not begun.
    private var scansLeft: some Sequence<(device: DeviceNumber, scans: Int)> {
        self.phones.indices.lazy.compactMap { index in
            self.plan.phones[index].think.map {
                (
                    device: self.phones[index].number,
                    scans: max(0, $0.scans - self.phones[index].machine.captures)
                )
            }
        }
    }

    /// Counts what phones that are held at the end have not begun: it was planned, and is not made.
    func countHeldScans() {
        self.passHeldTime()
        self.closedDue += self.held.ended(left: self.scansLeft)
    }

    private func goOn(_ devices: [DeviceNumber]) {
        let now = self.loop.now()
        for phone in devices.compactMap({ self.index(of: $0) }) { self.think(phone, settled: now) }
        self.followSchedule()
    }

    private func start(_ fault: Int) {
        guard !self.isEnding else { return }
        let now = self.loop.now()
        for phone in self.phones.indices {
            for window in self.plan.phones[phone].faults where window.fault == fault {
                self.send(.disturbed(.begins(window.opened(at: now))), to: phone)
            }
        }
    }

    private func goOffline(for time: Interval) {
        guard !self.isEnding else { return }
        let until = self.loop.now() + time
        for phone in self.phones.indices {
            self.send(.disturbed(.entersTunnel), to: phone)
            self.schedule(.leavesTunnel, of: phone, at: until)
        }
    }
}
