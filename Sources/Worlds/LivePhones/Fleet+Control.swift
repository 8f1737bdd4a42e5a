import EventLoop
import Faults
import Phone
package import SimBase

/// What the operator of a run does to its fleet.
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
}

/// The captures that the operator holds back.
struct HeldCaptures {
    var isHolding = false
    var resting: Set<DeviceNumber> = []
    /// Captures of open groups that were due and are not made. The schedule does not wait for the operator.
    var count = 0
    /// The indexes of phones of closed groups whose next capture was due. They think again when captures go on.
    var thinkers: [Int] = []

    func holds(_ device: DeviceNumber) -> Bool { self.isHolding || self.resting.contains(device) }

    /// Whether captures are left that only the operator keeps from being made. A phone at rest does not keep a run going.
    var keepRunning: Bool { self.isHolding && !self.thinkers.isEmpty }
}

extension Fleet {
    func follow(_ control: FleetControl) {
        switch control {
        case .hold: self.held.isHolding = true
        case .release:
            self.held.isHolding = false
            self.goOn()
        case .rest(let devices): self.held.resting.formUnion(devices)
        case .wake(let devices):
            self.held.resting.subtract(devices)
            self.goOn()
        case .fault(let fault): self.start(fault)
        case .offline(let time): self.goOffline(for: time)
        }
    }

    /// Holds back a due capture of an open group. False if nothing holds it back.
    func holdsBack(_ arrival: Arrival) -> Bool {
        guard self.held.holds(arrival.device) else { return false }
        self.held.count += 1
        return true
    }

    /// Puts off a due capture of a closed group. False if nothing holds it back.
    func putsOff(_ arrival: Arrival) -> Bool {
        guard self.held.holds(arrival.device), let phone = self.index(of: arrival.device) else {
            return false
        }
        self.held.thinkers.append(phone)
        return true
    }

    private func goOn() {
        let now = self.loop.now()
        let thinkers = self.held.thinkers
        self.held.thinkers = thinkers.filter { self.held.holds(self.phones[$0].number) }
        for phone in thinkers where !self.held.holds(self.phones[phone].number) {
            self.think(phone, settled: now)
        }
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
