import Observations
import SimBase
import Talaria

// Requests and their answers as both sides saw them.

extension HarnessPhone {
    /// A request of a phone, from its first byte until the phone has said what became of it.
    struct Exchange: Sendable {
        let operation: Talaria.Operation
        let scan: ScanNumber
        let attempt: UInt32
        let job: String?
        var isRequested = false
        /// The status sent by the backend; 0 before.
        var answered = 0
        /// The status received by the phone; 0 before.
        var replied = 0
        /// Faults that fired on it, a bit for each index in the list; the last bit is for all indexes from 63 on.
        var fired: UInt64 = 0
        var cutAt: Instant?
        /// The backend has ended the stream.
        var hasEnded = false
        var eventsAdded = 0
        var eventsIgnored = 0
        let sentAt: Instant
        /// How many new tokens of its job the phone had got.
        var tokens = 0
        /// New to the phone, of phones whose events are followed.
        var eventsNew = 0
        /// A cut lets no more of them through.
        var eventsMax: Int?
        var hasIDs = false
        /// Results that a fault has reordered were read.
        var isReordered = false
        /// A fault has made an event of its job unreadable, and none of an earlier stream.
        var isGarbled = false
        /// Whether a provider was asked for the look-up; nil if it is not known.
        var isBilled: Bool?
        /// To the stream and from it; nil if it is not known to which stream of the job a ping was written.
        var pingsWritten: Int? = 0
        var pingsSeen = 0
    }

    /// More are never open at a phone.
    static let exchangesMax = 24
    /// Requests for a status that may still be answered, of one phone.
    private static let pollsMax = 24
    static let lastFaultBit = 63
    /// Between two readings of one clock in a live run.
    static let clockSlack = Interval.milliseconds(5)

    func exchangeIndex(_ operation: Talaria.Operation, _ scan: ScanNumber, _ attempt: UInt32) -> Int? {
        self.exchanges.lastIndex { $0.attempt == attempt && $0.scan == scan && $0.operation == operation }
    }

    // MARK: The backend

    mutating func requested(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        if operation == .upload {
            fleet.uploadsOpen += 1
            if fleet.hasQuotas { self.uploadRequested(scan, attempt: attempt, &fleet) }
        }
        guard let index = self.exchangeIndex(operation, scan, attempt) else { return }
        self.exchanges[index].isRequested = true
        if fleet.hasFired(self.exchanges[index], { $0 == .refused }) {
            self.error("\(operation.name) arrived on a connection that was refused", scan, &fleet)
        }
    }

    mutating func answered(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ status: Int, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet
    ) {
        if operation == .upload {
            fleet.uploadsOpen = max(0, fleet.uploadsOpen - 1)
            if fleet.hasQuotas { self.uploadAnswered(scan, attempt: attempt, status, &fleet) }
        }
        let index = self.exchangeIndex(operation, scan, attempt)
        if let index {
            self.exchanges[index].answered = status
            if operation == .upload, let last = self.lookedUp, last.scan == scan,
                last.at == fleet.now
            {
                self.exchanges[index].isBilled = last.isBilled
            }
        }
        let job = index.flatMap { self.exchanges[$0].job }
        if status >= 400 {
            self.note(
                .answered(operation, status: status), scan, &fleet, attempt: attempt,
                needsFault: fleet.server.map {
                    !self.explains(
                        status, operation, job, index.map { self.exchanges[$0].tokens }, &fleet, $0)
                }
                    ?? false)
        } else if let server = fleet.server {
            if let job { self.served(job, operation, scan, &fleet, server) }
            guard operation == .status, let polled = job ?? self.polledJob(scan, attempt) else { return }
            self.statusServed(polled, scan, &fleet)
        }
    }

    /// The job of a request for a status that its phone has given up, with its app or its path: the backend counts it all the same.
    private func polledJob(_ scan: ScanNumber, _ attempt: UInt32) -> String? {
        self.polls.last { $0.scan == scan && $0.attempt == attempt }?.job
    }

    /// The status of a job was answered: at most once in 2 s (Docs/contract.md section 1.4).
    private mutating func statusServed(_ id: String, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        guard let index = self.jobs.lastIndex(where: { $0.id == id }) else { return }
        let last = self.jobs[index].polledAt
        self.jobs[index].polledAt = fleet.now
        guard let last, fleet.now < last + ContractLimit.statusPollMin else { return }
        let gap = (fleet.now - last).wholeMilliseconds
        self.error("the status of a job was answered again after \(gap) ms", scan, &fleet)
    }

    /// Whether the backend answers with this status by itself. `tokens`: how many new tokens the phone had got by the request.
    private func explains(
        _ status: Int, _ operation: Talaria.Operation, _ id: String?, _ tokens: Int?,
        _ fleet: inout HarnessFleet, _ server: SimulatedServer
    ) -> Bool {
        // A job that is not known here is one that the backend has not, or not any more.
        let job = id.flatMap { id in self.jobs.last { $0.id == id } }
        switch status {
        case 401:
            guard let job else { return true }
            let isSocketOver = operation == .stream && job.socket.isOver(at: fleet.now)
            return isSocketOver
                || job.mayTokenBeOver(at: fleet.now, count: tokens ?? job.token.count, server)
        case 404, 410:
            guard let job else { return true }
            return operation == .results && !job.hasResults(at: fleet.now, server)
        case 429 where operation == .status:
            if server.hasStatusLimits { return true }
            let polledAt = job.flatMap(\.polledAt)
            return job == nil || polledAt.map { fleet.now < $0 + ContractLimit.statusPollMin } ?? false
        case 429: return operation == .upload && fleet.hasQuotas  // Held against the quota.
        case 503:
            let isFull = fleet.jobsAlive + fleet.uploadsOpen >= server.jobsMax
            let isOpen = fleet.circuit?.isOpen(at: fleet.now) ?? false
            return operation == .upload && (isFull || server.documentsMayFill || isOpen)
        default: return status < 500
        }
    }

    private mutating func served(
        _ id: String, _ operation: Talaria.Operation, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet, _ server: SimulatedServer
    ) {
        guard operation != .upload, server.dialect.hasAuthorization,
            let job = self.jobs.last(where: { $0.id == id }),
            job.isTokenOver(at: fleet.now, server)
        else { return }
        self.error(
            "\(operation.name) was accepted with a token that \(job.isRevoked ? "was revoked" : "had expired")",
            scan, &fleet)
    }

    // MARK: The phone

    mutating func phone(_ payload: PhoneObservation, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        switch payload {
        case .requestSent(let operation, let attempt, let job, _):
            self.sent(operation, attempt, job, scan, &fleet)
        case .replied(let operation, let attempt, let status, let took):
            self.replied(operation, attempt, status, took: took, scan, &fleet)
        case .requestFailed(let operation, let attempt, let failure, _):
            self.failed(operation, attempt, failure, scan, &fleet)
        case .badAnswer(let operation, let attempt, .undecodable):
            self.undecodable(operation, attempt, scan, &fleet)
        case .streamLost(_, let attempt, let cause, _):
            self.streamLost(attempt, cause, scan, &fleet)
        case .eventIgnored(_, _, let name, _):
            if name != "id-only" { self.eventIgnored(name, scan, &fleet) }
        case .eventApplied(let job, let id, let kind, let latency, let isReplayed):
            if kind == .enrichmentDegraded { self.degradedApplied(job: job, scan, &fleet) }
            self.eventApplied(job: job, id: id, kind, latency: latency, isReplayed: isReplayed, scan, &fleet)
        case .ping:
            if let index = self.streamIndex(scan) { self.exchanges[index].pingsSeen += 1 }
        case .terminalApplied(let job, let kind, let inline):
            self.terminalApplied(job: job, kind, inline: inline, scan, &fleet)
        case .resultsDecoded(let job, let books, _):
            self.resultsDecoded(job: job, books: books, scan, &fleet)
        case .armTaken(let arm, let share):
            guard let isSticky = fleet.settings.rolloutIsSticky else { return }
            let wrong = self.choices.chose(arm, share, scan, isSticky: isSticky)
            if let wrong = wrong ?? fleet.rollout.objection(to: share, at: fleet.now) {
                self.error(wrong, scan, &fleet)
            }
        case .jobFollowed(let job, let transport):
            if let wrong = self.choices.objection(to: transport, scan) { self.error(wrong, scan, &fleet) }
            guard let index = self.jobs.lastIndex(where: { $0.id == job }) else { return }
            self.jobs[index].socket.isSocket = transport == .websocket
        case .tokenExchanged(let job, _):
            guard let index = self.jobs.lastIndex(where: { $0.id == job }) else { return }
            self.jobs[index].token.received(at: fleet.now)
        case .lookupAnswered(found: true, let isRepeated, _, _):
            self.lookupAnswered(isRepeated: isRepeated, scan, &fleet)
        default: self.scanOrLife(payload, scan, &fleet)
        }
    }

    /// The phone's scans, and its own life.
    private mutating func scanOrLife(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        switch payload {
        case .filePrepared(let file): self.filePrepared(scan, file, &fleet)
        case .bookAdded(let ordinal, let book): self.filed(book, ordinal, scan, &fleet)
        case .bookPending(let ordinal, _, let book): self.filed(book, ordinal, scan, &fleet)
        case .bookRepeated(let ordinal, let book): self.filed(book, ordinal, scan, &fleet)
        case .completed, .refused, .cancelRequested, .canceled:
            self.exchanges.removeAll { $0.scan == scan && !$0.operation.isDelete }
        case .cleanupAnswered, .jobAbandoned:
            self.exchanges.removeAll { $0.scan == scan && $0.operation.isDelete }
        case .suspended:
            self.exchanges.removeAll { !$0.operation.isDelete }
            self.ofLife(payload, scan, &fleet)
        case .killed:
            self.exchanges.removeAll(keepingCapacity: true)
            for index in self.jobs.indices { self.jobs[index].token.killed() }
            self.ofLife(payload, scan, &fleet)
        case .reinstalled:
            self.exchanges.removeAll(keepingCapacity: true)
            self.quotas.forget()
            self.ofLife(payload, scan, &fleet)
        case .launched, .resumed, .pathLost, .pathReturned, .pathChanged, .storageFilled, .storageFreed,
            .clockSet:
            self.ofLife(payload, scan, &fleet)
        default: break
        }
    }

    private mutating func sent(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ job: String?, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet
    ) {
        // One request of a kind at a time; a new upload begins everything again, but for an old job's DELETE.
        self.exchanges.removeAll {
            $0.scan == scan && ($0.operation == operation || operation == .upload && !$0.operation.isDelete)
        }
        if self.exchanges.count >= Self.exchangesMax { self.exchanges.removeFirst() }
        var exchange = Exchange(
            operation: operation, scan: scan, attempt: attempt, job: job, sentAt: fleet.now)
        exchange.tokens = job.flatMap { id in self.jobs.last { $0.id == id } }?.token.count ?? 0
        let request = RequestKey(operation, scan, attempt)
        for refusal in fleet.refusals where refusal.phone == self.index && refusal.request == request {
            exchange.fired |= 1 << UInt64(min(refusal.fault, Self.lastFaultBit))
        }
        self.exchanges.append(exchange)
        self.quotas.sent(scan)
        guard operation == .status, let job else { return }
        self.polls.append((scan, attempt, job), max: Self.pollsMax)
    }

    private mutating func replied(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ status: Int, took: Interval,
        _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        guard let index = self.exchangeIndex(operation, scan, attempt) else { return }
        self.exchanges[index].replied = status
        let exchange = self.exchanges[index]
        if fleet.hasFired(exchange, { $0 == .refused }) {
            self.error(
                "\(operation.name) was answered with \(status) though its connection was refused", scan,
                &fleet)
        }
        if status == 101 || (200...299).contains(status), let job = exchange.job,
            self.revoked.contains(where: { $0.job == job && $0.at + Self.clockSlack < exchange.sentAt })
        {
            self.error("\(operation.name) was accepted with a token that a fault had revoked", scan, &fleet)
        }
        let isEarly = fleet.hasFired(exchange) {
            if case .delayed(let by) = $0 { took + Self.clockSlack < by } else { false }
        }
        if isEarly {
            self.error(
                "\(operation.name) was delayed by a fault, but took only \(took.nanoseconds) ns", scan,
                &fleet)
        }
        if let due = fleet.statusDue(exchange), due != status {
            self.error(
                "a fault answered \(operation.name) with \(due), but the phone got \(status)", scan,
                &fleet)
            return
        }
        guard fleet.server != nil, exchange.answered != status else { return }
        if exchange.answered != 0 {
            self.error(
                "\(operation.name) was answered with \(exchange.answered), but the phone got \(status)", scan,
                &fleet)
        } else if !Self.isOfTheConnection(status) {
            self.doubt(
                operation, attempt, scan, &fleet,
                "the phone got \(status) for \(operation.name), which the backend never answered")
        }
    }

    /// Returns whether the connection itself answers with this status: to a request that is malformed, too
    /// large or too slow.
    private static func isOfTheConnection(_ status: Int) -> Bool {
        [400, 408, 413, 431, 503, 504].contains(status)
    }

    private mutating func failed(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ failure: TransportFailure,
        _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        guard let index = self.exchangeIndex(operation, scan, attempt) else { return }
        let exchange = self.exchanges.remove(at: index)
        let isRefused = fleet.hasFired(exchange) { $0 == .refused }
        switch failure {
        case .connectRefused:
            guard !isRefused, fleet.server != nil else { return }
            self.doubt(operation, attempt, scan, &fleet, "a connection for \(operation.name) was refused")
        case .reset, .closedBeforeReply, .closedEarly:
            if isRefused {
                self.error(
                    "a connection for \(operation.name) should have been refused, but was cut instead", scan,
                    &fleet)
                return
            }
            // One that never came may have met the end of an idle connection; a refusal may not wait for the body.
            guard fleet.server != nil, exchange.isRequested, exchange.answered < 400, !fleet.isCut(exchange)
            else { return }
            self.doubt(operation, attempt, scan, &fleet, "a connection for \(operation.name) was cut")
        case .nameNotResolved, .connectFailed, .connectTimedOut, .tls, .timedOut, .descriptorsExhausted,
            .malformed, .noPath, .foreignURL, .other:
            break
        }
    }

    private mutating func undecodable(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        guard let server = fleet.server, server.dialect.answersAsContract, !self.deviates,
            let index = self.exchangeIndex(operation, scan, attempt)
        else { return }
        let exchange = self.exchanges[index]
        let isSpoilt = fleet.hasFired(exchange) { $0 == .resultsTruncated || $0 == .eventGarbled }
        guard exchange.answered != 0, !isSpoilt, !fleet.isCut(exchange) else { return }
        self.error("a response to \(operation.name) cannot be parsed, but no fault changed it", scan, &fleet)
    }

    private mutating func resultsDecoded(
        job id: String, books: Int, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        guard fleet.server != nil else { return }
        if let job = self.jobs.last(where: { $0.id == id }), job.books != books {
            self.error("\(books) books arrived from a job with \(job.books)", scan, &fleet)
        }
        let exchanges = self.exchanges
        guard let index = exchanges.lastIndex(where: { $0.scan == scan && $0.operation == .results }) else {
            return
        }
        self.exchanges[index].isReordered = fleet.hasFired(exchanges[index]) { $0 == .resultsReordered }
        guard fleet.hasFired(exchanges[index], { $0 == .resultsTruncated }) else { return }
        self.error("results that a fault had truncated arrived complete", scan, &fleet)
    }

    mutating func doubt(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ fleet: inout HarnessFleet,
        _ text: String
    ) {
        fleet.doubts.append(
            HarnessFleet.Doubt(
                phone: self.index, request: RequestKey(operation, scan, attempt), at: fleet.now, text: text))
    }
}
