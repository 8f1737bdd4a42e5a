internal import OriginServer
internal import SimBase
internal import Talaria

// Streams that look for changes of their jobs, as the loop of B3 does (Docs/contract.md section 2.5).

extension Backend {
    /// A stream looks, and looks again later.
    mutating func pollDue(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        let now = self.now
        let next = self.streams.update(exchange) { stream -> Instant? in
            stream.polling?.looked(at: now)
            return stream.polling?.next
        }
        guard let next = next ?? nil else { return }
        self.deadlines.add(.poll(exchange), at: next)
        self.tellChange(exchange, into: &effects)
    }

    /// A job is about to go: its streams see the last change first.
    mutating func tellLastChange(of facts: Job.Facts, into effects: inout [OriginEffect]) {
        guard facts.dialect.isPolled, let streams = self.jobs.with(facts.key, { $0.streams }) else { return }
        for exchange in streams { self.tellChange(exchange, into: &effects) }
    }

    /// Writes the latest event if the stream has not had it: those between are passed over. The stream ends behind the end of
    /// the job.
    mutating func tellChange(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        guard let (facts, known) = self.streams.update(exchange, { ($0.facts, $0.eventsKnown) }),
            let (latest, isOver) = self.jobs.update(facts.key, { ($0.log.latest, $0.phase != .running) })
        else { return }
        if let latest, latest.position >= known {
            self.streams.update(exchange) { $0.eventsKnown = latest.position + 1 }
            self.writeExtras(before: latest.position, to: exchange, facts, into: &effects)
            self.write(latest, to: exchange, facts, replayed: false, into: &effects)
            self.applyFaults(of: exchange, into: &effects)
        }
        guard isOver else { return }
        self.endStream(exchange, facts, lingering: true, into: &effects)
    }
}
