package import SimBase
import Talaria
package import Wire

// What a trial asks the target by itself, and what it makes of the answers.

extension TargetTrial {
    /// Whether it has requests of its own to make.
    package var isProbing: Bool { self.rules.isProbing }

    /// When the next probe is due; nil if none is.
    package var nextProbe: Instant? { self.probes.nextAt }

    /// Takes the probes that are due. Their answers come back as those of other exchanges do, by their ids.
    package mutating func takeProbes(at now: Instant) -> [ProbeOrder] {
        guard let next = self.probes.nextAt, next <= now else { return [] }
        let orders = self.probes.take(at: now)
        for id in self.probes.takeLooks() {
            self.noteOpen(id, at: now)
            let job = self.exchanges[id]?.request.job.flatMap { self.jobs[$0] }
            if job?.deleted != nil { self.probes.cancel(id) }
        }
        return orders.map { order, exchange in
            switch order {
            case .start(let request):
                if let exchange { self.exchanges[request.id] = TrialExchange(exchange, sent: now) }
            case .cancel(let id):
                self.judgeOpen(id, at: now)
                self.noteOpen(id, at: now)
                self.exchanges[id] = nil
            }
            return order
        }
    }

    // MARK: What is asked

    /// A phone opens the stream of a job. A job whose status is polled is not probed: a status is given every two seconds at
    /// most (Docs/contract.md section 1.4).
    mutating func probeStart(_ request: TrialRequest, at now: Instant) {
        guard self.rules.isProbing, request.probe == nil, request.journey.hasJobs,
            request.operation == .stream
        else { return }
        guard let job = self.probes.take(request, share: self.rules.witness) else { return }
        if self.rules.witness > 0, !job.journey.version.mayPassChangesOver {
            self.probes.ask(.witness, .stream, of: job, at: now)
        }
        guard self.rules.probes else { return }
        guard !job.isSocket else { return self.probeSocket(of: job, at: now) }
        guard job.journey.version.isJudgedInDetail else { return }
        if let most = self.rules.jobMax {
            // A job that never ends shows when it is asked for.
            self.probes.ask(.status, .status, of: job, at: now + most + self.rules.settle)
        }
        for probe in [TargetProbe.status, .withoutDevice, .withoutToken] {
            self.probes.ask(probe, .status, of: job, at: now)
        }
        guard let other = self.probes.other(than: job) else { return }
        self.probes.ask(.foreignToken, .status, of: job, other: other, at: now)
        self.probes.ask(.otherDevice, .status, of: job, other: other, at: now)
    }

    /// A job is to be followed by WebSocket.
    private mutating func probeSocket(of job: ProbedJob, at now: Instant) {
        self.probes.ask(.withoutUpgrade, .stream, of: job, at: now)
        if !job.journey.isPublic { self.probes.ask(.withoutToken, .stream, of: job, at: now) }
        guard let other = self.probes.other(than: job) else { return }
        self.probes.ask(.foreignToken, .stream, of: job, other: other, at: now)
    }

    /// A phone has opened the WebSocket of a job.
    mutating func probeUsedToken(of job: String, at now: Instant) {
        guard self.rules.probes, let job = self.probes[job] else { return }
        self.probes.ask(.usedToken, .stream, of: job, at: now)
    }

    /// A job has completed, and its phone may delete it at once.
    mutating func probeResults(of job: String, at now: Instant) {
        guard self.rules.probes, let job = self.probes[job] else { return }
        self.probes.ask(.results, .results, of: job, at: now)
        if job.isSocket { self.probes.ask(.reconnect, .stream, of: job, at: now) }
        if job.journey.version.hasResultsFormats {
            self.probes.ask(.fullResults, .results, of: job, at: now)
        }
        guard job.journey.version.isJudgedInDetail else { return }
        self.probes.ask(.unknownID, .stream, of: job, at: now)
        // The status knows of the end by then, if the job is there still.
        self.probes.ask(.status, .status, of: job, at: now + self.rules.settle)
        self.probes.ask(.withoutToken, .results, of: job, at: now)
        guard let other = self.probes.other(than: job) else { return }
        self.probes.ask(.foreignToken, .results, of: job, other: other, at: now)
    }

    /// Nobody reads the first job of a photo whose upload was repeated.
    mutating func probeTwin(of job: TrialJob, _ request: TrialRequest, at now: Instant) {
        guard self.rules.probes, let id = job.twin, let twin = self.jobs[id], twin.isThere,
            let probed = ProbedJob(id, twin, request.journey)
        else { return }
        self.probes.ask(.results, .results, of: probed, at: now + self.rules.settle)
    }

    /// The target has acknowledged a DELETE.
    mutating func probeDeleted(_ job: String, at now: Instant) {
        self.lookAtWitness(of: job, at: now)
        guard self.rules.probes, let probed = self.probes[job] else { return }
        self.probes.leave(job)
        let moment = now + self.rules.settle
        for operation in [Talaria.Operation.results, .stream] {
            self.probes.ask(.deleted, operation, of: probed, at: moment)
        }
        guard probed.journey.version.isJudgedInDetail else { return }
        self.probes.ask(.deleted, .status, of: probed, at: moment)
    }

    /// A job was removed or canceled: its second stream should end, and shows what comes if it does not.
    mutating func lookAtWitness(of job: String, at now: Instant) {
        guard let witness = self.jobs[job]?.witness else { return }
        self.probes.look(at: now + self.rules.settle, for: witness)
    }

    // MARK: What is answered

    mutating func probeReplied(_ exchange: TrialExchange, _ head: TrialHead, _ id: UInt64, at now: Instant) {
        guard let probe = exchange.request.probe else { return }
        self.observeProbe(probe, status: head.status, exchange.request, at: now)
        // Only that of a client that reconnects is read.
        if head.status == 101, probe != .reconnect { self.probes.cancel(id) }
        guard let lacking = probe.lacking else { return }
        guard probe != .withoutUpgrade else { return self.judgePlain(exchange, head, id, at: now) }
        self.attempt(.auth, exchange.request, at: now)
        if head.status == 403 {
            self.breaks(
                .errorForm, exchange.request, id, at: now,
                "a request \(lacking) was answered with 403")
        }
        guard head.isGranted else { return }
        self.breaks(
            .auth, exchange.request, id, at: now,
            "\(exchange.request.name) \(lacking) was answered with \(head.status)")
    }

    /// A stream begins with what is left of it (Docs/contract.md section 2.2), and ends with that if its job is over.
    mutating func judgeUnknownID(
        _ exchange: TrialExchange, _ head: TrialHead, _ id: UInt64, at now: Instant
    ) {
        self.probes.cancel(id, at: now + self.rules.settle)
        self.attempt(.resume, exchange.request, at: now)
        guard head.status >= 500 else { return }
        self.breaks(
            .resume, exchange.request, id, at: now,
            "GET stream with a Last-Event-ID that no event has was answered with \(head.status)")
    }

    /// The address of WebSockets takes handshakes alone; who asks for nothing else may be asked for a token first.
    private mutating func judgePlain(
        _ exchange: TrialExchange, _ head: TrialHead, _ id: UInt64, at now: Instant
    ) {
        self.attempt(.socket, exchange.request, at: now)
        guard ![426, 401].contains(head.status) else { return }
        self.breaks(
            .socket, exchange.request, id, at: now,
            "a request without an upgrade was answered with \(head.status), and not with 426")
    }
}
