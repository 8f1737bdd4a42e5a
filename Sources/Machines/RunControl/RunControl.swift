import Observations
package import SimBase

/// The control of a live run by its operator: which orders are possible when, and what they do.
package struct RunControl: Sendable {
    /// A group of phones.
    package struct Group: Hashable, Sendable {
        package var name: String
        /// The phones that the run was started with.
        package var phones: Int
        /// The phones that capture.
        package fileprivate(set) var active: Int

        package init(name: String, phones: Int) {
            self.name = name
            self.phones = phones
            self.active = phones
        }
    }

    /// A fault of the scenario.
    package struct Fault: Hashable, Sendable {
        package var id: String
        /// Whether it acts on a phone. The phone is then ordered to start it.
        package var isOfPhone: Bool

        package init(id: String, isOfPhone: Bool) {
            self.id = id
            self.isOfPhone = isOfPhone
        }
    }

    private enum Stage {
        /// Leaves to `running`, or to `ending` when it is interrupted.
        case preparing
        /// Leaves to `ending`.
        case running(isPaused: Bool)
        /// The phones finish, and the reports are written. Leaves to `over`.
        case ending
        /// The reports are there. `isServed`: its page is still served.
        case over(isServed: Bool)
    }

    /// The limits of the time that phones are taken offline for.
    package static let offlineSeconds: ClosedRange<Int64> = 1...3_600

    private var stage = Stage.preparing
    package private(set) var groups: [Group]
    package let faults: [Fault]
    /// The last scheduled capture; nil if the captures depend on the backend.
    private let lastArrival: Instant?

    package init(groups: [Group], faults: [Fault], lastArrival: Instant?) {
        self.groups = groups
        self.faults = faults
        self.lastArrival = lastArrival
    }

    // MARK: Queries

    package var isPaused: Bool {
        guard case .running(true) = self.stage else { return false }
        return true
    }

    package var isRunning: Bool {
        guard case .running = self.stage else { return false }
        return true
    }

    // MARK: Events of the run

    /// The phones have started.
    package mutating func began() {
        guard case .preparing = self.stage else { return }
        self.stage = .running(isPaused: false)
    }

    /// The run ends: it was stopped, or all of its work is done.
    package mutating func ends() {
        switch self.stage {
        case .preparing, .running: self.stage = .ending
        case .ending, .over: break
        }
    }

    /// The reports are written. `isServed`: the page stays until it is closed.
    package mutating func ended(isServed: Bool) { self.stage = .over(isServed: isServed) }

    // MARK: Orders

    package mutating func handle(
        _ order: ControlOrder, at now: Instant
    ) throws(ControlRefusal) -> ControlDecision {
        self.decision(try self.effect(of: order, at: now))
    }

    /// The decision for an effect that somebody else has decided on, of the same groups.
    package func decision(_ effect: ControlEffect) -> ControlDecision {
        ControlDecision(effect: effect, observation: self.observation(of: effect))
    }

    /// What the log of the run says; nil for what is not done to the run.
    private func observation(of effect: ControlEffect) -> ControlObservation? {
        func phones(_ group: Int, active: Int) -> ControlObservation? {
            guard self.groups.indices.contains(group) else { return nil }
            return .phones(group: self.groups[group].name, active: active, phones: self.groups[group].phones)
        }
        return switch effect {
        case .stop: .stopped
        case .holdArrivals: .paused
        case .releaseArrivals: .resumed
        case .rest(let group, let numbers): phones(group, active: numbers.lowerBound)
        case .wake(let group, let numbers): phones(group, active: numbers.upperBound)
        case .fault(let index): .fault(index)
        case .offline(let time): .offline(for: time)
        case .close: nil
        }
    }

    private mutating func effect(
        of order: ControlOrder, at now: Instant
    ) throws(ControlRefusal) -> ControlEffect {
        if case .close = order { return try self.close() }
        switch self.stage {
        case .preparing:
            guard case .stop = order else { throw ControlRefusal("the run has not begun") }
            return self.stop()
        case .running(let isPaused): return try self.effect(of: order, at: now, isPaused: isPaused)
        case .ending: throw ControlRefusal("the run is already ending")
        case .over: throw ControlRefusal("the run is over")
        }
    }

    private mutating func effect(
        of order: ControlOrder, at now: Instant, isPaused: Bool
    ) throws(ControlRefusal) -> ControlEffect {
        switch order {
        case .stop: return self.stop()
        case .close: return try self.close()
        case .pause:
            guard !isPaused else { throw ControlRefusal("arrivals are already paused") }
            if let last = self.lastArrival, now > last {
                throw ControlRefusal("no arrivals are left to pause: all captures have been made")
            }
            self.stage = .running(isPaused: true)
            return .holdArrivals
        case .resume:
            guard isPaused else { throw ControlRefusal("arrivals are not paused") }
            self.stage = .running(isPaused: false)
            return .releaseArrivals
        case .phones(let by, let name):
            return try self.change(by: by, of: try self.group(name))
        case .fault(let id):
            guard let index = self.faults.firstIndex(where: { $0.id == id }) else {
                throw ControlRefusal("the scenario has no fault '\(id)'" + self.startable)
            }
            guard self.faults[index].isOfPhone else {
                throw ControlRefusal(
                    "fault '\(id)' acts in the server or on the link, and cannot be started now"
                        + self.startable)
            }
            return .fault(index)
        case .offline(let time):
            return .offline(for: time)
        }
    }

    private mutating func stop() -> ControlEffect {
        self.stage = .ending
        return .stop
    }

    private func close() throws(ControlRefusal) -> ControlEffect {
        switch self.stage {
        case .over(isServed: true): return .close
        case .preparing, .running, .ending, .over(isServed: false):
            throw ControlRefusal("the page can be closed when the run is over")
        }
    }

    private var startable: String {
        let ids = self.faults.filter(\.isOfPhone).map { "'\($0.id)'" }
        return ids.isEmpty
            ? "; the scenario has no fault of the phones, but all phones can be taken offline"
            : "; these can be started: \(ids.joined(separator: ", "))"
    }

    // MARK: Phones

    private func group(_ name: String?) throws(ControlRefusal) -> Int {
        let names = self.groups.map { "'\($0.name)'" }.joined(separator: ", ")
        guard let name else {
            guard self.groups.count == 1 else { throw ControlRefusal("name one of the groups \(names)") }
            return 0
        }
        guard let index = self.groups.firstIndex(where: { $0.name == name }) else {
            throw ControlRefusal("there is no group '\(name)', only \(names)")
        }
        return index
    }

    private mutating func change(by count: Int, of index: Int) throws(ControlRefusal) -> ControlEffect {
        let group = self.groups[index]
        guard count != 0 else { throw ControlRefusal("the number of phones must not be 0") }
        // In this order nothing overflows.
        guard count <= group.phones - group.active else {
            throw ControlRefusal(
                "\(group.active) of \(group.phones) phones of \(group.name) are active: "
                    + "a run cannot have more phones than it was started with (--phones)")
        }
        guard count >= -group.active else {
            throw ControlRefusal("only \(group.active) phones of \(group.name) are active")
        }
        let active = group.active + count
        self.groups[index].active = active
        return count < 0
            ? .rest(group: index, phones: active..<group.active)
            : .wake(group: index, phones: group.active..<active)
    }
}
