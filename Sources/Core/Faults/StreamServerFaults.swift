package import SimBase

/// The faults of the server that may still do something to one open event stream, in the order of the scenario's list,
/// and what their triggers count. The faults that cut the stream on its link are in `StreamCutter`.
package struct StreamServerFaults: Hashable, Sendable {
    private struct Fault: Hashable, Sendable {
        let armed: ArmedFault
        /// Whether the first effect was observed, for a fault that lasts as long as the stream.
        var hasFired = false
    }

    private var faults: [Fault]
    package let opened: Instant
    /// Events written that were not replayed.
    package private(set) var newEvents = 0
    /// Bytes written, without what a driver adds.
    package private(set) var bytes = 0

    package init(_ faults: [ArmedFault], opened: Instant) {
        self.faults = faults.filter(\.concernsOpenStream).map { Fault(armed: $0) }
        self.opened = opened
    }

    package var isEmpty: Bool { self.faults.isEmpty }

    package mutating func wrote(bytes: Int, isNewEvent: Bool) {
        self.bytes += bytes
        if isNewEvent { self.newEvents += 1 }
    }

    /// Uses up the first fault whose trigger has been reached and to which this applies.
    package mutating func take(at now: Instant, where applies: (ArmedFault) -> Bool) -> ArmedFault? {
        guard let index = self.index(at: now, where: applies) else { return nil }
        return self.faults.remove(at: index).armed
    }

    /// The first such fault, which stays; and whether this is the first time.
    package mutating func fire(
        at now: Instant, where applies: (ArmedFault) -> Bool
    ) -> (ArmedFault, isFirst: Bool)? {
        guard let index = self.index(at: now, where: applies) else { return nil }
        defer { self.faults[index].hasFired = true }
        return (self.faults[index].armed, !self.faults[index].hasFired)
    }

    private func index(at now: Instant, where applies: (ArmedFault) -> Bool) -> Int? {
        self.faults.firstIndex { applies($0.armed) && self.hasReached($0.armed.trigger, at: now) }
    }

    private func hasReached(_ trigger: ArmedTrigger, at now: Instant) -> Bool {
        switch trigger {
        case .atOnce: true
        case .afterTime(let time): now - self.opened >= time
        case .afterEvents(let count): self.newEvents >= count
        case .afterBytes(let count): self.bytes >= count
        }
    }

    /// Returns the time at which the first fault with a time trigger acts.
    package func nextAlarm(after now: Instant) -> Instant? {
        self.faults.compactMap { fault -> Instant? in
            guard fault.armed.kind.has(.changesJob), case .afterTime(let time) = fault.armed.trigger else {
                return nil
            }
            let at = self.opened + max(.zero, time)
            return at > now ? at : nil
        }.min()
    }
}

extension ArmedFault {
    /// Whether it may do anything to a stream that is open. The others have acted before, or are for other operations,
    /// the link's or the phone's.
    fileprivate var concernsOpenStream: Bool {
        // A job that is gone at once has refused the request itself.
        self.kind.has(.changesStream) || self.kind.id == .jobGone && self.trigger != .atOnce
    }
}
