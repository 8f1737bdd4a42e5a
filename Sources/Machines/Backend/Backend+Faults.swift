internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria

// The server's faults that act by themselves, and what each of them does. Those that change what is written to a stream
// are in Backend+Distortions.

extension Backend {
    // MARK: In place of an answer

    /// The first fault, in the order of the list, that answers a request for a job that is there.
    mutating func refusal(
        byFaultsOf context: RequestContext, _ key: JobKey, into effects: inout [OriginEffect]
    ) -> Refusal? {
        for fault in context.faults where fault.trigger == .atOnce {
            switch fault.kind {
            case .expireToken:
                self.observeFired(fault.fault, context, into: &effects)
                self.revoke(key, into: &effects)
                return .tokenExpired
            case .jobGone(let status):
                self.observeFired(fault.fault, context, into: &effects)
                self.vanish(key, status: status, into: &effects)
                return status == 404 ? .unknownJob : .gone
            case .httpError(let error):
                self.observeFired(fault.fault, context, into: &effects)
                return Refusal(error)
            default:
                continue
            }
        }
        return nil
    }

    /// The job is gone without its end being told: 410 from now on where it is remembered, otherwise 404.
    private mutating func vanish(_ key: JobKey, status: Int, into effects: inout [OriginEffect]) {
        guard let facts = self.jobs[key]?.facts else { return }
        effects.append(.observe(self.sighting(facts.owner, .vanished(job: facts.id))))
        self.endStreams(of: key, into: &effects)
        self.jobs[key] = nil
        if status != 404 { self.graves.bury(key) }
    }

    // MARK: On an open stream

    mutating func faultDue(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        let now = self.now
        let next = self.streams.update(exchange) { stream in
            stream.alarm = stream.faults.nextAlarm(after: now)
            return stream.alarm
        }
        if let alarm = next ?? nil {
            self.agenda.add(.fault(exchange), at: alarm)
        } else {
            self.alarms -= 1
        }
        self.act(exchange, into: &effects)
    }

    /// Does what the faults of a stream do by themselves, as far as their triggers have been reached.
    mutating func act(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        guard self.armedStreams > 0 else { return }
        let now = self.now
        while let (fault, stream) = self.streams.update(
            exchange,
            { stream in stream.faults.take(at: now, where: \.kind.actsByItself).map { ($0, stream) } })
            ?? nil
        {
            self.carryOut(fault, stream, into: &effects)
        }
    }

    /// A fault that finds nothing to do has not fired.
    private mutating func carryOut(
        _ fault: ArmedFault, _ stream: Stream, into effects: inout [OriginEffect]
    ) {
        guard let (facts, phase, step) = self.jobs.update(stream.job, { ($0.facts, $0.phase, $0.step) })
        else { return }
        switch fault.kind {
        case .expireToken:
            self.observeFired(fault.fault, stream, into: &effects)
            self.revoke(stream.job, into: &effects)
        case .jobGone(let status):
            self.observeFired(fault.fault, stream, into: &effects)
            self.vanish(stream.job, status: status, into: &effects)
        case .retryableError(let code) where phase == .running:
            self.observeFired(fault.fault, stream, into: &effects)
            self.end(facts, .failed(code: code, retryable: true), into: &effects)
        case .finalError(let code) where phase == .running:
            self.observeFired(fault.fault, stream, into: &effects)
            self.end(facts, .failed(code: code, retryable: false), into: &effects)
        case .slowStage(let stage, let by) where phase == .running && step <= facts.script.first(of: stage):
            self.observeFired(fault.fault, stream, into: &effects)
            self.slow(facts, stage, by: by, draw: fault.draw)
        case .forgetEvents:
            self.observeFired(fault.fault, stream, into: &effects)
            self.forgetEvents(facts, phase)
        default:
            break
        }
    }

    /// Everything from the first event of a stage on comes later.
    private mutating func slow(
        _ facts: Job.Facts, _ stage: ScanPhase, by range: ClosedRange<Interval>, draw: UInt64
    ) {
        let least = min(max(.zero, range.lowerBound), BackendConfiguration.intervalMax)
        let most = min(max(least, range.upperBound), BackendConfiguration.intervalMax)
        let width = UInt64((most - least).nanoseconds) + 1
        let by = least + Interval(nanoseconds: Int64(draw.multipliedFullWidth(by: width).high))
        let due = self.jobs.update(facts.key) { job in
            let left = job.delays.reduce(BackendConfiguration.intervalMax) { $0 - $1.by }
            job.delays.append(Job.Delay(from: facts.script.first(of: stage), by: min(by, left)))
            return job.nextStepDue
        }
        if let due { self.schedule(facts.key, at: due) }
    }

    private mutating func forgetEvents(_ facts: Job.Facts, _ phase: Job.Phase) {
        switch phase {
        case .running: self.jobs.update(facts.key) { $0.log.loseBuffer() }
        case .finished(let status, at: _): self.keepTerminalOnly(facts, status)
        case .settled: break
        }
    }

    // MARK: In a job's work

    /// A book is looked up, unless a fault of one of the job's streams prevents it; then the streams are told so first.
    mutating func lookUp(_ facts: Job.Facts, ordinal: Int, into effects: inout [OriginEffect]) {
        let degradation = self.degradation(facts, taking: ordinal, into: &effects)
        guard degradation?.takes(ordinal) == true else { return }
        self.jobs.update(facts.key) { $0.degradedBooks.append(ordinal) }
        let owner = facts.owner
        let book = self.shelf.book(device: owner.device, scan: owner.scan, ordinal: ordinal)
        let data = EventDistortion.degradedData(
            job: facts.id, isbn: book.isbn, title: book.title, timestamp: self.timestamp)
        self.emit(.enrichmentDegraded, data, facts, into: &effects)
    }

    /// The one that the job has from its first degraded book on, whatever becomes of the stream that brought it.
    private mutating func degradation(
        _ facts: Job.Facts, taking ordinal: Int, into effects: inout [OriginEffect]
    ) -> Degradation? {
        guard let (present, streams) = self.jobs.update(facts.key, { ($0.degradation, $0.streams) }) else {
            return nil
        }
        if let present { return present }
        for exchange in streams {
            let fault = self.takeFault(
                of: exchange, where: { Degradation($0)?.takes(ordinal) == true }, into: &effects)
            guard let degradation = fault.flatMap(Degradation.init) else { continue }
            self.jobs.update(facts.key) { $0.degradation = degradation }
            return degradation
        }
        return nil
    }

    // MARK: Observations

    func observeFired(_ fault: Int, _ context: RequestContext, into effects: inout [OriginEffect]) {
        self.observeFired(fault, context.operation, context.caller, into: &effects)
    }

    func observeFired(_ fault: Int, _ stream: Stream, into effects: inout [OriginEffect]) {
        self.observeFired(fault, .stream, stream.caller, into: &effects)
    }

    private func observeFired(
        _ fault: Int, _ operation: Operation, _ caller: Caller, into effects: inout [OriginEffect]
    ) {
        effects.append(
            .observe(
                Observation(
                    at: self.now, device: caller.device, scan: caller.scan,
                    what: .fault(.fired(fault: fault, operation, attempt: caller.attempt)))))
    }
}
