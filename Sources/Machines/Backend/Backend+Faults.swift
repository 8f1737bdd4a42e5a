internal import Faults
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

// The jobs and streams of this backend under faults of the server. `ServerFaults` decides what a fault does.

extension Backend {
    // MARK: Jobs

    mutating func faultDue(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        if let alarm = self.faults.alarmPassed(of: exchange, at: self.now) {
            self.deadlines.add(.fault(exchange), at: alarm)
        }
        self.applyFaults(of: exchange, into: &effects)
    }

    /// Applies the changes of the job that faults of a stream cause now.
    mutating func applyFaults(of exchange: ExchangeID, into effects: inout [OriginEffect]) {
        while let (change, fired) = self.faults.nextChange(of: exchange, at: self.now),
            let key = self.streams.with(exchange, { $0.job })
        {
            guard self.isApplicable(change, to: key) else { continue }
            effects.append(fired)
            self.apply(change, to: key, into: &effects)
        }
    }

    private func isApplicable(_ change: JobChange, to key: JobKey) -> Bool {
        let found = self.jobs.with(key) { ($0.phase == .running, $0.step, $0.facts.script) }
        guard let (isRunning, step, script) = found else { return false }
        switch change {
        case .revokeToken, .remove, .loseEvents: return true
        case .fail: return isRunning
        case .slow(let stage, _): return isRunning && step <= script.first(of: stage)
        }
    }

    mutating func apply(_ change: JobChange, to key: JobKey, into effects: inout [OriginEffect]) {
        guard let facts = self.jobs.with(key, { $0.facts }) else { return }
        switch change {
        case .revokeToken: self.revoke(key, into: &effects)
        case .remove(let status): self.vanish(facts, status: status, into: &effects)
        case .fail(let code, let retryable):
            self.end(facts, .failed(code: code, retryable: retryable), into: &effects)
        case .slow(let stage, let by): self.slow(facts, stage, by: by)
        case .loseEvents: self.loseEvents(facts)
        }
    }

    /// Removes the job without an end. From then on requests get 410 if the job is remembered, otherwise 404.
    private mutating func vanish(_ facts: Job.Facts, status: Int, into effects: inout [OriginEffect]) {
        self.endRows(facts, hasResults: false, into: &effects)
        effects.append(.observe(self.payload(facts.owner, .vanished(job: facts.id))))
        self.endStreams(of: facts.key, into: &effects)
        self.forget(facts.key)
        if status != 404 { self.tombstones.add(facts.key) }
    }

    /// Delays everything from the first event of a stage on.
    private mutating func slow(_ facts: Job.Facts, _ stage: ScanPhase, by: Interval) {
        let due = self.jobs.update(facts.key) { job in
            let left = job.delays.reduce(OriginLimits.intervalMax) { $0 - $1.by }
            job.delays.append(Job.Delay(from: facts.script.first(of: stage), by: min(by, left)))
            return job.nextStepDue
        }
        if let due { self.schedule(facts.key, at: due) }
    }

    private mutating func loseEvents(_ facts: Job.Facts) {
        switch self.jobs.with(facts.key, { $0.phase }) {
        case .running, .ending: self.jobs.update(facts.key) { $0.log.loseBuffer() }
        case .finished(let status, at: _): self.keepTerminalOnly(facts, status)
        case .settled, nil: break
        }
    }

    /// Looks up a book. If a fault of one of the job's streams or an open circuit prevents it, an event is sent first.
    mutating func lookUp(_ facts: Job.Facts, ordinal: Int, into effects: inout [OriginEffect]) {
        guard facts.journey.version.hasDegradedEvent else { return }
        let degradation = self.degradation(facts, taking: ordinal, into: &effects)
        let isDegraded = degradation?.takes(ordinal) == true
        guard isDegraded || self.shelf.statuses.circuitOpen > .never else { return }
        let owner = facts.owner
        let book = self.shelf.book(device: owner.device, scan: owner.scan, ordinal: ordinal)
        guard isDegraded || book.enrichmentStatus == .circuitOpen else { return }
        if isDegraded { self.jobs.update(facts.key) { $0.degradedBooks.append(ordinal) } }
        let data = facts.dialect.degraded.data(job: facts.id, book, timestamp: self.timestamp)
        self.emit(.enrichmentDegraded, data, facts, into: &effects)
    }

    /// The degradation of the job. It begins with the first degraded book and outlives the stream that brought it.
    private mutating func degradation(
        _ facts: Job.Facts, taking ordinal: Int, into effects: inout [OriginEffect]
    ) -> Degradation? {
        guard let (present, streams) = self.jobs.update(facts.key, { ($0.degradation, $0.streams) }) else {
            return nil
        }
        if let present { return present }
        for exchange in streams {
            guard
                let degradation = self.faults.degradation(
                    on: exchange, at: self.now, into: &effects, where: { $0.takes(ordinal) })
            else { continue }
            self.jobs.update(facts.key) { $0.degradation = degradation }
            return degradation
        }
        return nil
    }

    // MARK: Streams

    /// Writes the events that faults insert before the event at `position`. A client that resumes after one
    /// of them gets that event. Where an id is the time alone, they have none: it would be the id of that
    /// event.
    mutating func writeExtras(
        before position: Int, to exchange: ExchangeID, _ facts: Job.Facts,
        into effects: inout [OriginEffect]
    ) {
        while let (name, data) = self.faults.nextExtra(
            on: exchange, job: facts.id, facts.journey, at: self.now, into: &effects)
        {
            // An unreadable progress event has the name that the dialect gives to progress.
            let name = name == facts.journey.version.progressName ? facts.dialect.events.progress : name
            let (wall, now) = (self.wall, self.now)
            var milliseconds: Int64?
            if facts.dialect.hasIncreasingIDs {
                milliseconds = self.jobs.update(facts.key) {
                    $0.log.alias(name, position: position - 1, wall: wall, at: now)
                }
            }
            var bytes: [UInt8] = []
            SSEWriter.event(
                id: milliseconds.map { EventForm.id($0, name) }, type: name, data: data, into: &bytes)
            let message = self.message(
                name, milliseconds: milliseconds, data: data, facts, to: exchange)
            self.send(message ?? bytes, .extra, to: exchange, into: &effects)
        }
    }

    mutating func writeSecondTerminal(
        after entry: EventLog.Entry, to exchange: ExchangeID, _ facts: Job.Facts,
        into effects: inout [OriginEffect]
    ) {
        guard
            let data = self.faults.secondTerminal(
                entry.kind, entry.data, on: exchange, at: self.now, into: &effects)
        else { return }
        let (wall, now) = (self.wall, self.now)
        let found = self.jobs.update(facts.key) { job in
            (
                job.log.count,
                job.log.alias(entry.form.idSuffix, position: job.log.count, wall: wall, at: now)
            )
        }
        guard let (position, milliseconds) = found else { return }
        let second = EventLog.Entry(
            position: position, entry.kind, entry.form, milliseconds, emitted: now, data: data)
        self.observe(second, facts, replayed: false, into: &effects)
        let mark = StreamPieceKind.event(position: position, kind: entry.kind, replayed: false, emitted: now)
        let bytes = self.bytes(of: second, facts, to: exchange, into: &effects)
        self.send(bytes, mark, to: exchange, into: &effects)
    }
}
