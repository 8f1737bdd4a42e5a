import Phone
import Plan
import SimBase

// The order of events: by their times. Those of one time have the order in which they were caused (`EventHeap`), or one that is
// drawn, if the plan says so.

extension World {
    mutating func schedule(_ event: WorldEvent, at moment: Instant) {
        if moment < self.now {
            self.fail(.eventInThePast(by: self.now - moment))
            return
        }
        if self.plan.shufflesTies {
            self.queue.insert(event, at: moment, tie: self.tie(of: event, at: moment))
        } else {
            self.queue.insert(event, at: moment)
        }
    }

    /// Drawn by the subject of the event and the time: the events of one phone and its wires stay in the
    /// order in which they were caused.
    private mutating func tie(of event: WorldEvent, at moment: Instant) -> UInt64 {
        self.random.draw(.ties, self.entity(of: event), UInt64(bitPattern: moment.nanoseconds))
    }

    /// Mutating, because a query of so large a value copies it.
    private mutating func entity(of event: WorldEvent) -> UInt64 {
        switch event {
        case .arrivals, .phase: .max
        case .capture(let arrival): UInt64(arrival.device.raw)
        case .disturbance(let phone, _), .photo(let phone, _, _, _, _), .reading(let phone, _, _),
            .flush(let phone),
            .failed(let phone, _, _, _):
            self.number(of: Int(phone))
        case .connect(let wire), .bytes(let wire, _), .upload(let wire), .fin(let wire), .reset(let wire),
            .givenUp(let wire):
            if let phone = self.wires.ask(wire, { $0.phone }) { self.number(of: phone) } else { 0 }
        }
    }

    private mutating func number(of phone: Int) -> UInt64 { UInt64(self.phones[phone].machine.number.raw) }
}
