import Observations
import SimBase
import Talaria

// Requests and their answers as both sides saw them.

extension HarnessChecks {
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

    func exchangeIndex(
        _ operation: Talaria.Operation, _ scan: ScanNumber, _ attempt: UInt32, _ phoneIndex: Int
    ) -> Int? {
        self.phones[phoneIndex].exchanges.lastIndex {
            $0.attempt == attempt && $0.scan == scan && $0.operation == operation
        }
    }

    // MARK: The backend

    mutating func requested(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        if operation == .upload {
            self.uploadsOpen += 1
            if self.hasQuotas { self.uploadRequested(scan, attempt: attempt, phoneIndex) }
        }
        guard let index = self.exchangeIndex(operation, scan, attempt, phoneIndex) else { return }
        self.phones[phoneIndex].exchanges[index].isRequested = true
        if self.hasFired(self.phones[phoneIndex].exchanges[index], { $0 == .refused }) {
            self.error("\(operation.name) arrived on a connection that was refused", scan, phoneIndex)
        }
    }

    mutating func answered(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ status: Int, _ scan: ScanNumber,
        _ phoneIndex: Int
    ) {
        if operation == .upload {
            self.uploadsOpen = max(0, self.uploadsOpen - 1)
            if self.hasQuotas { self.uploadAnswered(scan, attempt: attempt, status, phoneIndex) }
        }
        let index = self.exchangeIndex(operation, scan, attempt, phoneIndex)
        if let index {
            self.phones[phoneIndex].exchanges[index].answered = status
            if operation == .upload, let last = self.phones[phoneIndex].lookedUp, last.scan == scan,
                last.at == self.now
            {
                self.phones[phoneIndex].exchanges[index].isBilled = last.isBilled
            }
        }
        let job = index.flatMap { self.phones[phoneIndex].exchanges[$0].job }
        if status >= 400 {
            self.note(
                .answered(operation, status: status), scan, phoneIndex, attempt: attempt,
                needsFault: self.server.map { !self.explains(status, operation, job, phoneIndex, $0) }
                    ?? false)
        } else if let server = self.server {
            if let job { self.served(job, operation, scan, phoneIndex, server) }
            guard operation == .status, let polled = job ?? self.polledJob(scan, attempt, phoneIndex) else {
                return
            }
            self.statusServed(polled, scan, phoneIndex)
        }
    }

    /// The job of a request for a status that its phone has given up, with its app or its path: the backend counts it all the same.
    private func polledJob(_ scan: ScanNumber, _ attempt: UInt32, _ phoneIndex: Int) -> String? {
        self.phones[phoneIndex].polls.last { $0.scan == scan && $0.attempt == attempt }?.job
    }

    /// The status of a job was answered: at most once in 2 s (Docs/contract.md section 1.4).
    private mutating func statusServed(_ id: String, _ scan: ScanNumber, _ phoneIndex: Int) {
        guard let index = self.phones[phoneIndex].jobs.lastIndex(where: { $0.id == id }) else { return }
        let last = self.phones[phoneIndex].jobs[index].polledAt
        self.phones[phoneIndex].jobs[index].polledAt = self.now
        guard let last, self.now < last + ContractLimit.statusPollMin else { return }
        let gap = (self.now - last).wholeMilliseconds
        self.error("the status of a job was answered again after \(gap) ms", scan, phoneIndex)
    }

    /// Whether the backend answers with this status by itself.
    private func explains(
        _ status: Int, _ operation: Talaria.Operation, _ id: String?, _ phoneIndex: Int,
        _ server: SimulatedServer
    ) -> Bool {
        // A job that is not known here is one that the backend has not, or not any more.
        let job = id.flatMap { id in self.phones[phoneIndex].jobs.last { $0.id == id } }
        switch status {
        case 401: return job.map { $0.isTokenOver(at: self.now, server) } ?? true
        case 404, 410:
            guard let job else { return true }
            return operation == .results && !job.hasResults(at: self.now, server)
        case 429 where operation == .status:
            let polledAt = job.flatMap(\.polledAt)
            return job == nil || polledAt.map { self.now < $0 + ContractLimit.statusPollMin } ?? false
        case 429: return operation == .upload && self.hasQuotas  // Held against the quota.
        case 503:
            let isFull = self.jobsAlive + self.uploadsOpen >= server.jobsMax
            let isOpen = self.circuit?.isOpen(at: self.now) ?? false
            return operation == .upload && (isFull || server.documentsMayFill || isOpen)
        default: return status < 500
        }
    }

    private mutating func served(
        _ id: String, _ operation: Talaria.Operation, _ scan: ScanNumber,
        _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        guard operation != .upload, server.dialect.hasAuthorization,
            let job = self.phones[phoneIndex].jobs.last(where: { $0.id == id }),
            job.isTokenOver(at: self.now, server)
        else { return }
        self.error(
            "\(operation.name) was accepted with a token that \(job.isRevoked ? "was revoked" : "had expired")",
            scan, phoneIndex)
    }

    // MARK: The phone

    mutating func phone(_ payload: PhoneObservation, _ scan: ScanNumber, _ phoneIndex: Int) {
        switch payload {
        case .requestSent(let operation, let attempt, let job, _):
            self.sent(operation, attempt, job, scan, phoneIndex)
        case .replied(let operation, let attempt, let status, let took):
            self.replied(operation, attempt, status, took: took, scan, phoneIndex)
        case .requestFailed(let operation, let attempt, let failure, _):
            self.failed(operation, attempt, failure, scan, phoneIndex)
        case .badAnswer(let operation, let attempt, .undecodable):
            self.undecodable(operation, attempt, scan, phoneIndex)
        case .streamLost(_, let attempt, let cause, _):
            self.streamLost(attempt, cause, scan, phoneIndex)
        case .eventIgnored(_, _, let name, _):
            if name != "id-only" { self.eventIgnored(name, scan, phoneIndex) }
        case .eventApplied(let job, let id, let kind, let latency, let isReplayed):
            if kind == .enrichmentDegraded { self.degradedApplied(job: job, scan, phoneIndex) }
            self.eventApplied(
                job: job, id: id, kind, latency: latency, isReplayed: isReplayed, scan, phoneIndex)
        case .ping:
            if let index = self.streamIndex(scan, phoneIndex) {
                self.phones[phoneIndex].exchanges[index].pingsSeen += 1
            }
        case .terminalApplied(let job, let kind, let inline):
            self.terminalApplied(job: job, kind, inline: inline, scan, phoneIndex)
        case .resultsDecoded(let job, let books, _):
            self.resultsDecoded(job: job, books: books, scan, phoneIndex)
        case .lookupAnswered(found: true, let isRepeated, _, _):
            self.lookupAnswered(isRepeated: isRepeated, scan, phoneIndex)
        default: self.scanOrLife(payload, scan, phoneIndex)
        }
    }

    /// The phone's scans, and its own life.
    private mutating func scanOrLife(_ payload: PhoneObservation, _ scan: ScanNumber, _ phoneIndex: Int) {
        switch payload {
        case .filePrepared(let file): self.filePrepared(scan, file, phoneIndex)
        case .bookAdded(let ordinal, let book): self.filed(book, ordinal, scan, phoneIndex)
        case .bookRepeated(let ordinal, let book): self.filed(book, ordinal, scan, phoneIndex)
        case .completed, .refused, .cancelRequested, .canceled:
            self.phones[phoneIndex].exchanges.removeAll { $0.scan == scan && !$0.operation.isDelete }
        case .cleanupAnswered, .jobAbandoned:
            self.phones[phoneIndex].exchanges.removeAll { $0.scan == scan && $0.operation.isDelete }
        case .suspended:
            self.phones[phoneIndex].exchanges.removeAll { !$0.operation.isDelete }
            self.ofLife(payload, scan, phoneIndex)
        case .killed:
            self.phones[phoneIndex].exchanges.removeAll(keepingCapacity: true)
            self.ofLife(payload, scan, phoneIndex)
        case .reinstalled:
            self.phones[phoneIndex].exchanges.removeAll(keepingCapacity: true)
            self.phones[phoneIndex].quotas.forget()
            self.ofLife(payload, scan, phoneIndex)
        case .launched, .resumed, .pathLost, .pathReturned, .pathChanged, .storageFilled, .storageFreed,
            .clockSet:
            self.ofLife(payload, scan, phoneIndex)
        default: break
        }
    }

    private mutating func sent(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ job: String?, _ scan: ScanNumber,
        _ phoneIndex: Int
    ) {
        // One request of a kind at a time; a new upload begins everything again, but for an old job's DELETE.
        self.phones[phoneIndex].exchanges.removeAll {
            $0.scan == scan && ($0.operation == operation || operation == .upload && !$0.operation.isDelete)
        }
        if self.phones[phoneIndex].exchanges.count >= Self.exchangesMax {
            self.phones[phoneIndex].exchanges.removeFirst()
        }
        var exchange = Exchange(
            operation: operation, scan: scan, attempt: attempt, job: job, sentAt: self.now)
        for refusal in self.refusals
        where refusal.phoneIndex == phoneIndex && refusal.scan == scan && refusal.operation == operation
            && refusal.attempt == attempt
        {
            exchange.fired |= 1 << UInt64(min(refusal.fault, Self.lastFaultBit))
        }
        self.phones[phoneIndex].exchanges.append(exchange)
        self.phones[phoneIndex].quotas.sent(scan)
        guard operation == .status, let job else { return }
        if self.phones[phoneIndex].polls.count == Self.pollsMax {
            self.phones[phoneIndex].polls.removeFirst()
        }
        self.phones[phoneIndex].polls.append((scan, attempt, job))
    }

    private mutating func replied(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ status: Int, took: Interval,
        _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard let index = self.exchangeIndex(operation, scan, attempt, phoneIndex) else { return }
        self.phones[phoneIndex].exchanges[index].replied = status
        let exchange = self.phones[phoneIndex].exchanges[index]
        if self.hasFired(exchange, { $0 == .refused }) {
            self.error(
                "\(operation.name) was answered with \(status) though its connection was refused", scan,
                phoneIndex)
        }
        if (200...299).contains(status), let job = exchange.job,
            self.phones[phoneIndex].revoked.contains(where: {
                $0.job == job && $0.at + Self.clockSlack < exchange.sentAt
            })
        {
            self.error(
                "\(operation.name) was accepted with a token that a fault had revoked", scan, phoneIndex)
        }
        let isEarly = self.hasFired(exchange) {
            if case .delayed(let by) = $0 { took + Self.clockSlack < by } else { false }
        }
        if isEarly {
            self.error(
                "\(operation.name) was delayed by a fault, but took only \(took.nanoseconds) ns", scan,
                phoneIndex)
        }
        if let due = self.statusDue(exchange), due != status {
            self.error(
                "a fault answered \(operation.name) with \(due), but the phone got \(status)", scan,
                phoneIndex)
            return
        }
        guard self.server != nil, exchange.answered != status else { return }
        if exchange.answered != 0 {
            self.error(
                "\(operation.name) was answered with \(exchange.answered), but the phone got \(status)", scan,
                phoneIndex)
        } else if !Self.isOfTheConnection(status) {
            self.doubt(
                operation, attempt, scan, phoneIndex,
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
        _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard let index = self.exchangeIndex(operation, scan, attempt, phoneIndex) else { return }
        let exchange = self.phones[phoneIndex].exchanges.remove(at: index)
        let isRefused = self.hasFired(exchange) { $0 == .refused }
        switch failure {
        case .connectRefused:
            guard !isRefused, self.server != nil else { return }
            self.doubt(operation, attempt, scan, phoneIndex, "a connection for \(operation.name) was refused")
        case .reset, .closedBeforeReply, .closedEarly:
            if isRefused {
                self.error(
                    "a connection for \(operation.name) should have been refused, but was cut instead", scan,
                    phoneIndex)
                return
            }
            // One that never came may have met the end of an idle connection; a refusal may not wait for the body.
            guard self.server != nil, exchange.isRequested, exchange.answered < 400, !self.isCut(exchange)
            else { return }
            self.doubt(operation, attempt, scan, phoneIndex, "a connection for \(operation.name) was cut")
        case .nameNotResolved, .connectFailed, .connectTimedOut, .tls, .timedOut, .descriptorsExhausted,
            .malformed, .noPath, .foreignURL, .other:
            break
        }
    }

    private mutating func undecodable(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard let server, server.dialect.answersAsContract, !self.deviates(phoneIndex),
            let index = self.exchangeIndex(operation, scan, attempt, phoneIndex)
        else { return }
        let exchange = self.phones[phoneIndex].exchanges[index]
        let isSpoilt = self.hasFired(exchange) { $0 == .resultsTruncated || $0 == .eventGarbled }
        guard exchange.answered != 0, !isSpoilt, !self.isCut(exchange) else { return }
        self.error(
            "a response to \(operation.name) cannot be parsed, but no fault changed it", scan, phoneIndex)
    }

    private mutating func resultsDecoded(job id: String, books: Int, _ scan: ScanNumber, _ phoneIndex: Int) {
        guard self.server != nil else { return }
        if let job = self.phones[phoneIndex].jobs.last(where: { $0.id == id }), job.books != books {
            self.error("\(books) books arrived from a job with \(job.books)", scan, phoneIndex)
        }
        let exchanges = self.phones[phoneIndex].exchanges
        guard let index = exchanges.lastIndex(where: { $0.scan == scan && $0.operation == .results }) else {
            return
        }
        self.phones[phoneIndex].exchanges[index].isReordered = self.hasFired(exchanges[index]) {
            $0 == .resultsReordered
        }
        guard self.hasFired(exchanges[index], { $0 == .resultsTruncated }) else { return }
        self.error("results that a fault had truncated arrived complete", scan, phoneIndex)
    }

    mutating func doubt(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int,
        _ text: String
    ) {
        self.doubts.append(
            Doubt(
                phoneIndex: phoneIndex, scan: scan, operation: operation, attempt: attempt, at: self.now,
                text: text))
    }

}
