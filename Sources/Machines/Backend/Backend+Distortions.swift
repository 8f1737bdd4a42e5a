internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

// The server's faults that change what is written to one stream. The job and its log stay what they are.

extension Backend {
    // MARK: Events

    /// The event in the form that the stream's faults give it. Data that are no JSON are what is left of any other form.
    mutating func distorted(
        _ entry: EventLog.Entry, _ exchange: ExchangeID, _ facts: Job.Facts,
        into effects: inout [OriginEffect]
    ) -> EventLog.Entry {
        if let bad = EventDistortion.badJSONPlace(of: entry.kind),
            self.takeFault(of: exchange, where: { $0.kind == .badJSON(bad) }, into: &effects) != nil
        {
            return entry.with(data: EventDistortion.badJSON(entry.kind, job: facts.id))
        }
        if entry.hasBooks, let form = self.strippedForm(exchange, into: &effects) {
            return entry.with(data: self.completedData(facts, stripped: form))
        }
        if entry.kind == .progress, let step = entry.step,
            self.meetFault(of: exchange, where: { $0.kind == .noMessage }, into: &effects) != nil
        {
            let data = self.progressData(facts, step: step, at: entry.emitted)
            return entry.with(data: EventDistortion.withoutMessage(data) ?? data)
        }
        return entry
    }

    private mutating func strippedForm(
        _ exchange: ExchangeID, into effects: inout [OriginEffect]
    ) -> StrippedForm? {
        let fault = self.takeFault(
            of: exchange,
            where: { fault in
                if case .stripBooks = fault.kind { true } else { false }
            }, into: &effects)
        guard case .stripBooks(let form) = fault?.kind else { return nil }
        return form
    }

    /// Events of no job, each with an id of its own: to resume behind one is to go on with the event at `position`.
    mutating func writeExtras(
        before position: Int, to exchange: ExchangeID, _ facts: Job.Facts,
        into effects: inout [OriginEffect]
    ) {
        while let fault = self.takeFault(
            of: exchange, where: { $0.kind == .unknownEvent || $0.kind == .badJSON(.extra) }, into: &effects)
        {
            let isUnknown = fault.kind == .unknownEvent
            let name = isUnknown ? EventDistortion.unknownName : EventKind.progress.rawValue
            let (wall, now) = (self.wall, self.now)
            let milliseconds = self.jobs.update(facts.key) {
                $0.log.alias(name, position: position - 1, wall: wall, at: now)
            }
            var bytes: [UInt8] = []
            SSEWriter.event(
                id: EventLog.id(milliseconds ?? wall, name), type: name,
                data: isUnknown
                    ? EventDistortion.unknownData(job: facts.id, timestamp: self.timestamp)
                    : EventDistortion.badJSON(.progress, job: facts.id),
                into: &bytes)
            self.send(bytes, .extra, to: exchange, into: &effects)
        }
    }

    /// The live backend's second end: a `completed` without books, behind the first
    /// (Docs/contract.md section 2.4). A job that failed fails again.
    mutating func writeSecondTerminal(
        after entry: EventLog.Entry, to exchange: ExchangeID, _ facts: Job.Facts,
        into effects: inout [OriginEffect]
    ) {
        guard self.takeFault(of: exchange, where: { $0.kind == .twoTerminals }, into: &effects) != nil else {
            return
        }
        let data = entry.kind == .completed ? self.completedData(facts, stripped: .absent) : nil
        let (wall, now) = (self.wall, self.now)
        let place = self.jobs.update(facts.key) { job in
            (
                job.log.count,
                job.log.alias(entry.kind.rawValue, position: job.log.count, wall: wall, at: now)
            )
        }
        guard let (position, milliseconds) = place else { return }
        let second = entry.follower(
            position: position, milliseconds: milliseconds, emitted: now, data: data)
        self.observe(second, facts, replayed: false, into: &effects)
        let mark = StreamMark.event(position: position, kind: entry.kind, replayed: false, emitted: now)
        self.send(second.bytes, mark, to: exchange, into: &effects)
    }

    // MARK: Pings

    /// By how much the ping that is due now is to be later, once for each ping.
    mutating func delay(
        ofPingOf exchange: ExchangeID, into effects: inout [OriginEffect]
    ) -> Interval? {
        guard self.armedStreams > 0 else { return nil }
        let isLate = self.streams.update(exchange) { stream in
            defer { stream.isPingLate = false }
            return stream.isPingLate
        }
        guard isLate == false else { return nil }
        let fault = self.meetFault(
            of: exchange,
            where: { fault in
                if case .latePing = fault.kind { true } else { false }
            }, into: &effects)
        guard case .latePing(let by) = fault?.kind else { return nil }
        self.streams.update(exchange) { $0.isPingLate = true }
        return min(max(.zero, by), BackendConfiguration.intervalMax)
    }

    // MARK: The faults of a stream

    /// The first that applies and whose trigger has been reached: it fires, and is used up.
    mutating func takeFault(
        of exchange: ExchangeID, where applies: (ArmedFault) -> Bool, into effects: inout [OriginEffect]
    ) -> ArmedFault? {
        // Most streams have none.
        guard self.armedStreams > 0, self.streams.with(exchange, { !$0.faults.isEmpty }) == true,
            let stream = self.streams[exchange]
        else { return nil }
        let now = self.now
        guard let fault = self.streams.update(exchange, { $0.faults.take(at: now, where: applies) }) ?? nil
        else {
            return nil
        }
        self.observeFired(fault.fault, stream, into: &effects)
        return fault
    }

    /// The same for one that lasts as long as the stream: it fires the first time.
    mutating func meetFault(
        of exchange: ExchangeID, where applies: (ArmedFault) -> Bool, into effects: inout [OriginEffect]
    ) -> ArmedFault? {
        // Most streams have none.
        guard self.armedStreams > 0, self.streams.with(exchange, { !$0.faults.isEmpty }) == true,
            let stream = self.streams[exchange]
        else { return nil }
        let now = self.now
        guard
            let (fault, isFirst) = self.streams.update(exchange, { $0.faults.meet(at: now, where: applies) })
                ?? nil
        else { return nil }
        if isFirst { self.observeFired(fault.fault, stream, into: &effects) }
        return fault
    }
}
