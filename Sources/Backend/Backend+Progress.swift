internal import Faults
internal import SimBase
internal import Talaria

extension Backend {
    // MARK: Deadlines

    mutating func doWhatIsDue(into effects: inout [BackendEffect]) {
        while let (at, deadline) = self.agenda.popDue(at: self.now) {
            guard self.isLive(deadline, at) else { continue }
            switch deadline {
            case .job(let key): self.advance(key, into: &effects)
            case .ping(let exchange): self.pingDue(exchange, into: &effects)
            case .revocation(let exchange): self.revocationDue(exchange, into: &effects)
            }
        }
    }

    private func isLive(_ deadline: Agenda.Deadline, _ at: Instant) -> Bool {
        switch deadline {
        case .job(let key): self.jobs[key]?.due == at
        case .ping(let exchange): self.streams[exchange]?.nextPing == at
        case .revocation(let exchange): self.streams[exchange]?.revocation == at
        }
    }

    mutating func dropStaleDeadlines() {
        var agenda = Agenda()
        swap(&agenda, &self.agenda)  // So that what is asked below does not touch what changes.
        agenda.drop(live: self.jobs.count + self.streams.count + self.revocations) { self.isLive($0, $1) }
        swap(&agenda, &self.agenda)
    }

    private mutating func schedule(_ key: JobKey, at due: Instant) {
        self.jobs.update(key) { $0.due = due }
        self.agenda.add(.job(key), at: due)
    }

    // MARK: The life of a job

    /// Does what the job is to do by now, and sets its next deadline.
    mutating func advance(_ key: JobKey, into effects: inout [BackendEffect]) {
        while let (facts, phase, count) = self.jobs.update(key, { ($0.facts, $0.phase, $0.log.count) }) {
            switch phase {
            case .running:
                let due = facts.accepted + facts.script.offset(at: count)
                guard due <= self.now else {
                    self.schedule(key, at: due)
                    return
                }
                if facts.script.step(at: count) == .completed {
                    self.end(facts, canceled: false, into: &effects)
                    return
                }
                self.emitProgress(facts, position: count, into: &effects)
            case .finished(let status, let at):
                self.settle(facts, status, at: at)
                return
            case .settled:
                effects.append(.observe(self.sighting(facts.owner, .expired(job: facts.id))))
                self.remove(key, into: &effects)
                return
            }
        }
    }

    private mutating func emitProgress(
        _ facts: Job.Facts, position: Int, into effects: inout [BackendEffect]
    ) {
        let script = facts.script
        let counts = script.counts(at: position)
        var currentItem: String?
        if case .enriched(let book) = script.step(at: position) {
            let owner = facts.owner
            currentItem =
                self.shelf.book(device: owner.device, scan: owner.scan, ordinal: book - 1).title
        }
        let data = ProgressData(
            jobId: facts.id, status: script.status(at: position),
            thousandths: script.thousandths(at: position), processedCount: counts.processed,
            totalCount: counts.total, message: script.message(at: position), currentItem: currentItem,
            timestamp: self.timestamp)
        self.emit(.progress, JSON.encode(data), hasBooks: false, facts, into: &effects)
    }

    /// The job reaches its terminal event, and its streams their end.
    mutating func end(_ facts: Job.Facts, canceled: Bool, into effects: inout [BackendEffect]) {
        let kind: EventKind
        if canceled {
            kind = .error
            let data = ErrorData(
                jobId: facts.id, code: "CANCELED", message: "The job was canceled.", retryable: false)
            self.emit(kind, JSON.encode(data), hasBooks: false, facts, into: &effects)
        } else {
            kind = .completed
            let whole = self.completedData(facts, stripped: nil)
            let fits = whole.count <= self.configuration.completedBytesMax
            self.emit(
                kind, fits ? whole : self.completedData(facts, stripped: .absent), hasBooks: fits, facts,
                into: &effects)
        }
        let phase = Job.Phase.finished(canceled ? .canceled : .completed, at: self.now)
        self.jobs.update(facts.key) { $0.phase = phase }
        effects.append(
            .observe(
                self.sighting(
                    facts.owner,
                    .finished(job: facts.id, kind: kind, books: canceled ? 0 : facts.script.books))))
        self.endStreams(of: facts.key, into: &effects)
        self.schedule(facts.key, at: self.now + self.configuration.eventBuffer)
    }

    /// The buffer is over: of the log only the terminal event is left, without its books. The job itself lives on until
    /// neither its token nor its results are of use.
    private mutating func settle(_ facts: Job.Facts, _ status: JobStatus, at finished: Instant) {
        let data = status == .completed ? self.completedData(facts, stripped: .absent) : nil
        self.jobs.update(facts.key) { job in
            job.log.settle(lastData: data)
            job.phase = .settled(status, at: finished)
        }
        let configuration = self.configuration
        let end = max(
            facts.accepted + configuration.tokenLifetime, finished + configuration.resultsLifetime, self.now)
        self.schedule(facts.key, at: end)
    }

    func completedData(_ facts: Job.Facts, stripped: StrippedForm?) -> [UInt8] {
        CompletedPayload.data(
            job: facts.id, resultsURL: self.link(.results(jobId: facts.id)),
            books: self.shelf.books(device: facts.owner.device, scan: facts.owner.scan), stripped: stripped)
    }

    private mutating func emit(
        _ kind: EventKind, _ data: [UInt8], hasBooks: Bool, _ facts: Job.Facts,
        into effects: inout [BackendEffect]
    ) {
        let wall = self.wall
        let now = self.now
        let emitted = self.jobs.update(facts.key) { job in
            (job.log.append(kind, data: data, hasBooks: hasBooks, wall: wall, at: now), job.streams)
        }
        guard let (entry, streams) = emitted else { return }
        for exchange in streams {
            self.write(entry, to: exchange, facts, replayed: false, into: &effects)
        }
    }
}
