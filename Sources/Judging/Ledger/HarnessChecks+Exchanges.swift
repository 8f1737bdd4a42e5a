import Observations
import SimBase
import Talaria

// Requests and their answers as both sides saw them, and what faults did to them.

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
        /// To the stream and from it; nil if it is not known to which stream of the job a ping was written.
        var pingsWritten: Int? = 0
        var pingsSeen = 0
    }

    /// More are never open at a phone.
    static let exchangesMax = 24
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

    private func streamIndex(_ scan: ScanNumber, _ phoneIndex: Int) -> Int? {
        self.phones[phoneIndex].exchanges.lastIndex { $0.scan == scan && $0.operation == .stream }
    }

    private func hasFired(_ exchange: Exchange, _ fits: (FaultEffect) -> Bool) -> Bool {
        if exchange.fired == 0 { return false }
        return self.settings.faults.indices.contains {
            exchange.fired & (1 << UInt64(min($0, Self.lastFaultBit))) != 0 && fits(self.settings.faults[$0])
        }
    }

    private func isCut(_ exchange: Exchange, _ fits: (CutEffect) -> Bool = { _ in true }) -> Bool {
        self.hasFired(exchange) { if case .cut(let cut) = $0 { fits(cut) } else { false } }
    }

    // MARK: The backend

    mutating func requested(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ device: DeviceNumber, _ scan: ScanNumber,
        _ phoneIndex: Int
    ) {
        if operation == .upload {
            self.uploadsOpen += 1
            if self.hasQuotas { self.uploadRequested(device, scan, attempt: attempt, phoneIndex) }
        }
        guard let index = self.exchangeIndex(operation, scan, attempt, phoneIndex) else { return }
        self.phones[phoneIndex].exchanges[index].isRequested = true
        if self.hasFired(self.phones[phoneIndex].exchanges[index], { $0 == .refused }) {
            self.errors.add(
                "\(operation.name) arrived on a connection that was refused", device: device, scan: scan,
                at: self.now)
        }
    }

    mutating func answered(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ status: Int, _ device: DeviceNumber,
        _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        if operation == .upload {
            self.uploadsOpen = max(0, self.uploadsOpen - 1)
            if self.hasQuotas { self.uploadAnswered(scan, attempt: attempt, status, phoneIndex) }
        }
        let index = self.exchangeIndex(operation, scan, attempt, phoneIndex)
        if let index { self.phones[phoneIndex].exchanges[index].answered = status }
        let job = index.flatMap { self.phones[phoneIndex].exchanges[$0].job }
        if status >= 400 {
            self.note(
                .answered(operation, status: status), device, scan, attempt: attempt,
                needsFault: self.server.map { !self.explains(status, operation, job, phoneIndex, $0) }
                    ?? false)
        } else if let job, let server = self.server {
            self.served(job, operation, device, scan, phoneIndex, server)
        }
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
        case 429: return operation == .upload && self.hasQuotas  // Held against the quota.
        case 503: return operation == .upload && self.jobsAlive + self.uploadsOpen >= server.jobsMax
        default: return status < 500
        }
    }

    private mutating func served(
        _ id: String, _ operation: Talaria.Operation, _ device: DeviceNumber, _ scan: ScanNumber,
        _ phoneIndex: Int, _ server: SimulatedServer
    ) {
        guard operation != .upload, let job = self.phones[phoneIndex].jobs.last(where: { $0.id == id }),
            job.isTokenOver(at: self.now, server)
        else { return }
        self.errors.add(
            "\(operation.name) was accepted with a token that \(job.isRevoked ? "was revoked" : "had expired")",
            device: device, scan: scan, at: self.now)
    }

    mutating func streamEnded(
        job id: String, attempt: UInt32, byPeer: Bool, _ device: DeviceNumber, _ scan: ScanNumber,
        _ phoneIndex: Int
    ) {
        let job = self.phones[phoneIndex].jobs.lastIndex { $0.id == id }
        if let job {
            self.phones[phoneIndex].jobs[job].streams = max(0, self.phones[phoneIndex].jobs[job].streams - 1)
        }
        guard !byPeer else { return }
        if let index = self.exchangeIndex(.stream, scan, attempt, phoneIndex) {
            self.phones[phoneIndex].exchanges[index].hasEnded = true
            self.dispel(.stream, attempt, device, scan)
        }
        guard let job, self.server != nil else { return }
        let isOver =
            self.phones[phoneIndex].jobs[job].finishedAt != nil || self.phones[phoneIndex].jobs[job].isRevoked
        self.note(.streamEnded, device, scan, attempt: attempt, needsFault: !isOver)
    }

    // MARK: Faults

    /// A fault has done what it does: that must have been seen.
    mutating func fired(
        _ fault: Int, _ operation: Talaria.Operation, _ attempt: UInt32, _ device: DeviceNumber,
        _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard self.settings.faults.indices.contains(fault) else { return }
        self.holdToRule(fault, device, scan, phoneIndex)
        let effect = self.settings.faults[fault]
        let index = self.exchangeIndex(operation, scan, attempt, phoneIndex)
        if let index {
            self.phones[phoneIndex].exchanges[index].fired |= 1 << UInt64(min(fault, Self.lastFaultBit))
        }
        self.dispel(operation, attempt, device, scan)
        let isAnswered = { (status: Int) in
            { (effect: Effect) in
                effect.kind == .answered(operation, status: status) && effect.attempt == attempt
            }
        }
        func is_(_ kind: Effect.Kind) -> (Effect) -> Bool { { $0.kind == kind } }
        let isSeen: Bool
        switch effect {
        case .limit:
            self.limitFired(fault, scan, attempt: attempt, phoneIndex)
            isSeen = self.explain(device, scan, where: isAnswered(429))
        case .status(let status):
            if operation == .upload { self.limitFired(fault, scan, attempt: attempt, phoneIndex) }
            isSeen = self.explain(device, scan, where: isAnswered(status))
        case .tokenRevoked:
            if self.server == nil, let job = index.flatMap({ self.phones[phoneIndex].exchanges[$0].job }) {
                if self.phones[phoneIndex].revoked.count == Self.exchangesMax {
                    self.phones[phoneIndex].revoked.removeFirst()
                }
                self.phones[phoneIndex].revoked.append((job, self.now))
            }
            _ = self.explain(device, scan, where: isAnswered(401))
            isSeen = self.explain(device, scan, where: is_(.tokenRevoked))
        case .jobGone(let status):
            _ = self.explain(device, scan, where: isAnswered(status))
            isSeen = self.explain(device, scan, where: is_(.vanished))
        case .jobFailed:
            // Another fault may take the job away as it fails.
            isSeen =
                self.explain(device, scan, where: is_(.jobFailed))
                || self.explain(device, scan, where: is_(.vanished))
        case .degraded:
            for job in self.phones[phoneIndex].jobs.indices
            where self.phones[phoneIndex].jobs[job].scan == scan {
                self.phones[phoneIndex].jobs[job].isDegraded = true
            }
            // A dialect may tell all books of a job at once.
            isSeen = self.explain(device, scan, where: is_(.degraded))
            while self.explain(device, scan, where: { $0.kind == .degraded && $0.needsFault }) {}
        case .secondTerminal:
            let written = self.effects.count {
                $0.device == device && $0.scan == scan && $0.kind == .terminalWritten
            }
            isSeen = written >= 2
        case .noTerminal:
            isSeen = self.explain(device, scan) { $0.kind == .streamEnded && $0.attempt == attempt }
        case .replayFromStart:
            isSeen = self.explain(device, scan) { $0.kind == .startedOver && $0.attempt == attempt }
        case .slowed, .noPings, .latePings, .eventsForgotten:
            if let index, let job = self.phones[phoneIndex].exchanges[index].job {
                self.change(job, by: effect, attempt: attempt, phoneIndex)
            }
            isSeen = true
        case .eventAdded:
            if let index { self.phones[phoneIndex].exchanges[index].eventsAdded += 1 }
            isSeen = true
        case .cut:
            if let index {
                self.phones[phoneIndex].exchanges[index].cutAt = self.now
                self.phones[phoneIndex].exchanges[index].eventsMax = self.rule(of: fault)?.eventsMax
                self.judgeCut(index, phoneIndex)
            }
            isSeen = true
        case .refused:
            // The phone's side refuses a request as it is sent, and faults are observed before phones.
            if index == nil {
                self.refusals.append(
                    Refusal(
                        device: device, scan: scan, operation: operation, attempt: attempt, fault: fault))
            }
            isSeen = true
        case .delayed, .booksStripped, .resultsTruncated, .eventGarbled, .ofPhone, .unobserved:
            isSeen = true  // The phone sees it, later.
        }
        guard !isSeen, self.server != nil else { return }
        self.errors.add(
            "fault \(fault + 1) of the list fired (\(operation.name), attempt \(attempt)) without effect",
            device: device, scan: scan, at: self.now)
    }

    /// Removes doubts whose cause was found.
    private mutating func dispel(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ device: DeviceNumber, _ scan: ScanNumber
    ) {
        guard !self.doubts.isEmpty else { return }
        self.doubts.removeAll {
            $0.device == device && $0.scan == scan && $0.operation == operation && $0.attempt == attempt
        }
    }

    // MARK: The phone

    mutating func phone(
        _ payload: PhoneObservation, _ device: DeviceNumber, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        switch payload {
        case .requestSent(let operation, let attempt, let job, _):
            self.sent(operation, attempt, job, device, scan, phoneIndex)
        case .replied(let operation, let attempt, let status, let took):
            self.replied(operation, attempt, status, took: took, device, scan, phoneIndex)
        case .requestFailed(let operation, let attempt, let failure, _):
            self.failed(operation, attempt, failure, device, scan, phoneIndex)
        case .badAnswer(let operation, let attempt, .undecodable):
            self.undecodable(operation, attempt, device, scan, phoneIndex)
        case .streamLost(_, let attempt, let cause, _):
            self.streamLost(attempt, cause, device, scan, phoneIndex)
        case .eventIgnored(_, _, let name, _):
            if name != "id-only" { self.eventIgnored(name, device, scan, phoneIndex) }
        case .eventApplied(let job, let id, let kind, let latency, let isReplayed):
            if kind == .enrichmentDegraded { self.degradedApplied(job: job, device, scan, phoneIndex) }
            self.eventApplied(
                job: job, id: id, kind, latency: latency, isReplayed: isReplayed, device, scan, phoneIndex)
        case .ping:
            if let index = self.streamIndex(scan, phoneIndex) {
                self.phones[phoneIndex].exchanges[index].pingsSeen += 1
            }
        case .terminalApplied(let job, let kind, let inline):
            self.terminalApplied(job: job, kind, inline: inline, device, scan, phoneIndex)
        case .resultsDecoded(let job, let books, _):
            self.resultsDecoded(job: job, books: books, device, scan, phoneIndex)
        case .completed, .refused:
            self.phones[phoneIndex].exchanges.removeAll { $0.scan == scan && $0.operation != .cleanup }
        case .cleanupAnswered, .jobAbandoned:
            self.phones[phoneIndex].exchanges.removeAll { $0.scan == scan && $0.operation == .cleanup }
        case .suspended:
            self.phones[phoneIndex].exchanges.removeAll { $0.operation != .cleanup }
            self.ofLife(payload, device, scan, phoneIndex)
        case .killed:
            self.phones[phoneIndex].exchanges.removeAll(keepingCapacity: true)
            self.ofLife(payload, device, scan, phoneIndex)
        case .reinstalled:
            self.phones[phoneIndex].exchanges.removeAll(keepingCapacity: true)
            self.phones[phoneIndex].quotas.forget()
            self.ofLife(payload, device, scan, phoneIndex)
        case .launched, .resumed, .pathLost, .pathReturned, .pathChanged, .storageFilled, .storageFreed,
            .clockSet:
            self.ofLife(payload, device, scan, phoneIndex)
        default: break
        }
    }

    private mutating func sent(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ job: String?, _ device: DeviceNumber,
        _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        // One request of a kind at a time; a new upload begins everything again, but for an old job's DELETE.
        self.phones[phoneIndex].exchanges.removeAll {
            $0.scan == scan && ($0.operation == operation || operation == .upload && $0.operation != .cleanup)
        }
        if self.phones[phoneIndex].exchanges.count >= Self.exchangesMax {
            self.phones[phoneIndex].exchanges.removeFirst()
        }
        var exchange = Exchange(
            operation: operation, scan: scan, attempt: attempt, job: job, sentAt: self.now)
        for refusal in self.refusals
        where refusal.device == device && refusal.scan == scan && refusal.operation == operation
            && refusal.attempt == attempt
        {
            exchange.fired |= 1 << UInt64(min(refusal.fault, Self.lastFaultBit))
        }
        self.phones[phoneIndex].exchanges.append(exchange)
        self.phones[phoneIndex].quotas.sent(scan)
    }

    private mutating func replied(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ status: Int, took: Interval,
        _ device: DeviceNumber, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard let index = self.exchangeIndex(operation, scan, attempt, phoneIndex) else { return }
        self.phones[phoneIndex].exchanges[index].replied = status
        let exchange = self.phones[phoneIndex].exchanges[index]
        if self.hasFired(exchange, { $0 == .refused }) {
            self.errors.add(
                "\(operation.name) was answered with \(status) though its connection was refused",
                device: device, scan: scan, at: self.now)
        }
        if (200...299).contains(status), let job = exchange.job,
            self.phones[phoneIndex].revoked.contains(where: {
                $0.job == job && $0.at + Self.clockSlack < exchange.sentAt
            })
        {
            self.errors.add(
                "\(operation.name) was accepted with a token that a fault had revoked", device: device,
                scan: scan, at: self.now)
        }
        let isEarly = self.hasFired(exchange) {
            if case .delayed(let by) = $0 { took + Self.clockSlack < by } else { false }
        }
        if isEarly {
            self.errors.add(
                "\(operation.name) was delayed by a fault, but took only \(took.nanoseconds) ns",
                device: device, scan: scan, at: self.now)
        }
        if let due = self.statusDue(exchange), due != status {
            self.errors.add(
                "a fault answered \(operation.name) with \(due), but the phone got \(status)",
                device: device, scan: scan, at: self.now)
            return
        }
        guard self.server != nil, exchange.answered != status else { return }
        if exchange.answered != 0 {
            self.errors.add(
                "\(operation.name) was answered with \(exchange.answered), but the phone got \(status)",
                device: device, scan: scan, at: self.now)
        } else if !Self.isOfTheConnection(status) {
            self.doubt(
                operation, attempt, device, scan,
                "the phone got \(status) for \(operation.name), which the backend never answered")
        }
    }

    /// Returns the status with which a fault answered a request; nil if none did.
    private func statusDue(_ exchange: Exchange) -> Int? {
        guard exchange.fired != 0 else { return nil }
        for fault in self.settings.faults.indices.prefix(Self.lastFaultBit)
        where exchange.fired & (1 << UInt64(fault)) != 0 {
            switch self.settings.faults[fault] {
            case .limit: return 429
            case .status(let status): return status
            case .tokenRevoked, .jobGone, .jobFailed, .degraded, .slowed, .booksStripped,
                .resultsTruncated, .eventAdded, .eventGarbled, .secondTerminal, .noTerminal,
                .replayFromStart, .eventsForgotten, .noPings, .latePings, .cut, .delayed, .refused,
                .ofPhone, .unobserved:
                continue
            }
        }
        return nil
    }

    /// Returns whether the connection itself answers with this status: to a request that is malformed, too
    /// large or too slow.
    private static func isOfTheConnection(_ status: Int) -> Bool {
        [400, 408, 413, 431, 503, 504].contains(status)
    }

    private mutating func failed(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ failure: TransportFailure,
        _ device: DeviceNumber, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard let index = self.exchangeIndex(operation, scan, attempt, phoneIndex) else { return }
        let exchange = self.phones[phoneIndex].exchanges.remove(at: index)
        let isRefused = self.hasFired(exchange) { $0 == .refused }
        switch failure {
        case .connectRefused:
            guard !isRefused, self.server != nil else { return }
            self.doubt(operation, attempt, device, scan, "a connection for \(operation.name) was refused")
        case .reset, .closedBeforeReply, .closedEarly:
            if isRefused {
                self.errors.add(
                    "a connection for \(operation.name) should have been refused, but was cut instead",
                    device: device, scan: scan, at: self.now)
                return
            }
            // One that never came may have met the end of an idle connection; a refusal may not wait for the body.
            guard self.server != nil, exchange.isRequested, exchange.answered < 400, !self.isCut(exchange)
            else { return }
            self.doubt(operation, attempt, device, scan, "a connection for \(operation.name) was cut")
        case .nameNotResolved, .connectFailed, .connectTimedOut, .tls, .timedOut, .descriptorsExhausted,
            .malformed, .noPath, .foreignURL, .other:
            break
        }
    }

    private mutating func streamLost(
        _ attempt: UInt32, _ cause: LossCause, _ device: DeviceNumber, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard let index = self.exchangeIndex(.stream, scan, attempt, phoneIndex) else { return }
        let exchange = self.phones[phoneIndex].exchanges.remove(at: index)
        let isExplained: Bool
        switch cause {
        case .reset: isExplained = self.isCut(exchange) { $0 == .reset }
        case .endWithoutTerminal: isExplained = exchange.hasEnded || self.isCut(exchange) { $0 == .close }
        case .connectFailed, .refusedByStatus, .silence, .offline, .badAnswer, .killed, .handover,
            .noAnswer, .foreignURL:
            isExplained = true
        }
        guard self.server != nil, !isExplained else { return }
        self.doubt(
            .stream, attempt, device, scan,
            "a stream was lost (\(cause.rawValue)), but neither the backend nor a fault ended it in this way")
    }

    private mutating func undecodable(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ device: DeviceNumber, _ scan: ScanNumber,
        _ phoneIndex: Int
    ) {
        guard self.server != nil, !self.deviates(device),
            let index = self.exchangeIndex(operation, scan, attempt, phoneIndex)
        else { return }
        let exchange = self.phones[phoneIndex].exchanges[index]
        let isSpoilt = self.hasFired(exchange) { $0 == .resultsTruncated || $0 == .eventGarbled }
        guard exchange.answered != 0, !isSpoilt, !self.isCut(exchange) else { return }
        self.errors.add(
            "a response to \(operation.name) cannot be parsed, but no fault changed it", device: device,
            scan: scan, at: self.now)
    }

    private mutating func eventIgnored(
        _ name: String, _ device: DeviceNumber, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard let server = self.server, !server.dialect.otherEvents.contains(name),
            let index = self.streamIndex(scan, phoneIndex)
        else { return }
        self.phones[phoneIndex].exchanges[index].eventsIgnored += 1
        let isMade = self.hasFired(self.phones[phoneIndex].exchanges[index]) {
            $0 == .eventAdded || $0 == .eventGarbled
        }
        guard !isMade, !self.deviates(device) else { return }
        self.errors.add(
            "a stream had the event '\(name)', which no fault sent", device: device, scan: scan,
            at: self.now)
    }

    private mutating func terminalApplied(
        job id: String, _ kind: EventKind, inline: InlineBooksForm, _ device: DeviceNumber,
        _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard self.server != nil else { return }
        if let job = self.phones[phoneIndex].jobs.last(where: { $0.id == id }), job.kind != kind {
            self.errors.add(
                "a phone applied \(kind.rawValue), but the job \(job.kind.map { "ended with \($0.rawValue)" } ?? "continues")",
                device: device, scan: scan, at: self.now)
        }
        guard let index = self.streamIndex(scan, phoneIndex) else { return }
        let exchange = self.phones[phoneIndex].exchanges.remove(at: index)
        if inline == .books, self.hasFired(exchange, { $0 == .booksStripped }) {
            self.errors.add(
                "an event had books that a fault had removed", device: device, scan: scan,
                at: self.now)
        }
        if let written = exchange.pingsWritten, exchange.pingsSeen < written, self.watches(device) {
            self.errors.add(
                "\(written) pings were written to a stream, but \(exchange.pingsSeen) arrived",
                device: device,
                scan: scan, at: self.now)
        }
        if exchange.eventsIgnored < exchange.eventsAdded {
            self.errors.add(
                "faults added \(exchange.eventsAdded) events to a stream, but \(exchange.eventsIgnored) arrived",
                device: device, scan: scan, at: self.now)
        }
    }

    private mutating func eventApplied(
        job id: String, id eventID: String?, _ kind: EventKind, latency: Interval?, isReplayed: Bool,
        _ device: DeviceNumber, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        if isReplayed, let eventID, let latency {
            self.replayed(job: id, id: eventID, after: latency, device, scan, phoneIndex)
        }
        guard let index = self.streamIndex(scan, phoneIndex) else { return }
        if eventID == nil, kind == .completed, self.phones[phoneIndex].exchanges[index].hasIDs,
            self.hasFired(self.phones[phoneIndex].exchanges[index], { $0 == .booksStripped })
        {
            self.errors.add(
                "an event that a fault changed had no id", device: device, scan: scan,
                at: self.now)
        }
        if eventID != nil { self.phones[phoneIndex].exchanges[index].hasIDs = true }
        if !isReplayed {
            self.phones[phoneIndex].exchanges[index].eventsNew += 1
            self.judgeCut(index, phoneIndex)
        }
    }

    /// A cut behind so many events lets no other through.
    private mutating func judgeCut(_ index: Int, _ phoneIndex: Int) {
        // By index: a copy would be made for each event.
        guard let most = self.phones[phoneIndex].exchanges[index].eventsMax,
            self.phones[phoneIndex].exchanges[index].eventsNew > most
        else { return }
        let exchange = self.phones[phoneIndex].exchanges[index]
        self.phones[phoneIndex].exchanges[index].eventsMax = nil
        self.errors.add(
            "\(exchange.eventsNew) new events arrived on a stream that a fault should have cut after \(most)",
            device: self.phones[phoneIndex].device, scan: exchange.scan, at: self.now)
    }

    private mutating func resultsDecoded(
        job id: String, books: Int, _ device: DeviceNumber, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard self.server != nil else { return }
        if let job = self.phones[phoneIndex].jobs.last(where: { $0.id == id }), job.books != books {
            self.errors.add(
                "\(books) books arrived from a job with \(job.books)", device: device, scan: scan,
                at: self.now)
        }
        let truncated = self.phones[phoneIndex].exchanges.last { $0.scan == scan && $0.operation == .results }
        guard let truncated, self.hasFired(truncated, { $0 == .resultsTruncated }) else { return }
        self.errors.add(
            "results that a fault had truncated arrived complete", device: device, scan: scan, at: self.now)
    }

    private mutating func doubt(
        _ operation: Talaria.Operation, _ attempt: UInt32, _ device: DeviceNumber, _ scan: ScanNumber,
        _ text: String
    ) {
        self.doubts.append(
            Doubt(
                device: device, scan: scan, operation: operation, attempt: attempt, at: self.now, text: text))
    }

    /// A stream that a fault ended long ago, and whose phone continues reading it.
    mutating func lookForUnnoticed(_ phoneIndex: Int) {
        for exchange in self.phones[phoneIndex].exchanges
        where exchange.operation == .stream && exchange.replied == 200 {
            guard let cutAt = exchange.cutAt, cutAt + Self.noticeTime < self.now,
                self.isCut(exchange, { $0 != .silence })
            else { continue }
            self.errors.add(
                "a fault ended a stream at \(cutAt.nanoseconds) ns, but its phone never noticed",
                device: self.phones[phoneIndex].device, scan: exchange.scan, at: self.now)
        }
    }
}
