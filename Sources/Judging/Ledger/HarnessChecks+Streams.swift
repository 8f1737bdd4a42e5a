import Observations
import SimBase
import Talaria

// Streams as both sides saw them, and what faults did to their events.

extension HarnessChecks {
    func streamIndex(_ scan: ScanNumber, _ phoneIndex: Int) -> Int? {
        self.phones[phoneIndex].exchanges.lastIndex { $0.scan == scan && $0.operation == .stream }
    }

    mutating func streamEnded(
        job id: String, attempt: UInt32, byPeer: Bool, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        let job = self.phones[phoneIndex].jobs.lastIndex { $0.id == id }
        if let job {
            self.phones[phoneIndex].jobs[job].streams = max(0, self.phones[phoneIndex].jobs[job].streams - 1)
        }
        guard !byPeer else { return }
        if let index = self.exchangeIndex(.stream, scan, attempt, phoneIndex) {
            self.phones[phoneIndex].exchanges[index].hasEnded = true
            self.dispel(.stream, attempt, scan, phoneIndex)
        }
        guard let job, self.server != nil else { return }
        let known = self.phones[phoneIndex].jobs[job]
        let isTimedOut = Journey.isV2(jobID: id) && self.now >= known.acceptedAt + ContractLimit.v2StreamTime
        let isOver = known.finishedAt != nil || known.isRevoked || isTimedOut
        self.note(.streamEnded, scan, phoneIndex, attempt: attempt, needsFault: !isOver)
        guard known.finishedAt != nil, !known.isRevoked, !isTimedOut, !known.isForgetful, self.completesOnce
        else { return }
        if known.terminals == 0 {
            self.note(.terminalOmitted, scan, phoneIndex, attempt: attempt, needsFault: true)
        } else {
            self.phones[phoneIndex].jobs[job].terminals -= 1
        }
    }

    mutating func streamLost(
        _ attempt: UInt32, _ cause: LossCause, _ scan: ScanNumber, _ phoneIndex: Int
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
            .stream, attempt, scan, phoneIndex,
            "a stream was lost (\(cause.rawValue)), but neither the backend nor a fault ended it in this way")
    }

    mutating func eventIgnored(_ name: String, _ scan: ScanNumber, _ phoneIndex: Int) {
        let job = self.phones[phoneIndex].jobs.last { $0.scan == scan }
        let isTimeout = name == V2EventName.timeout && job.map { Journey.isV2(jobID: $0.id) } == true
        guard let server = self.server, !server.dialect.otherEvents.contains(name), !isTimeout,
            let index = self.streamIndex(scan, phoneIndex)
        else { return }
        self.phones[phoneIndex].exchanges[index].eventsIgnored += 1
        let isMade = self.hasFired(self.phones[phoneIndex].exchanges[index]) {
            $0 == .eventAdded || $0 == .eventGarbled
        }
        guard !isMade, !self.deviates(phoneIndex) else { return }
        self.error("a stream had the event '\(name)', which no fault sent", scan, phoneIndex)
    }

    mutating func eventApplied(
        job id: String, id eventID: String?, _ kind: EventKind, latency: Interval?, isReplayed: Bool,
        _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        if isReplayed, let eventID, let latency {
            self.replayed(job: id, id: eventID, after: latency, scan, phoneIndex)
        }
        guard let index = self.streamIndex(scan, phoneIndex) else { return }
        if eventID == nil, kind == .completed, self.phones[phoneIndex].exchanges[index].hasIDs,
            self.hasFired(self.phones[phoneIndex].exchanges[index], { $0 == .booksStripped })
        {
            self.error("an event that a fault changed had no id", scan, phoneIndex)
        }
        if eventID != nil { self.phones[phoneIndex].exchanges[index].hasIDs = true }
        // What the gateway lets through, it counts whether it is new or not.
        if !isReplayed || self.server == nil {
            self.phones[phoneIndex].exchanges[index].eventsNew += 1
            self.judgeCut(index, phoneIndex)
        }
    }

    /// The gateway cut a stream behind so many events.
    mutating func passed(_ events: Int, _ attempt: UInt32, _ scan: ScanNumber, _ phoneIndex: Int) {
        guard let index = self.exchangeIndex(.stream, scan, attempt, phoneIndex) else { return }
        self.phones[phoneIndex].exchanges[index].eventsMax = events
        self.judgeCut(index, phoneIndex)
    }

    /// A cut behind so many events lets no other through.
    mutating func judgeCut(_ index: Int, _ phoneIndex: Int) {
        // By index: a copy would be made for each event.
        guard let most = self.phones[phoneIndex].exchanges[index].eventsMax,
            self.phones[phoneIndex].exchanges[index].eventsNew > most
        else { return }
        let exchange = self.phones[phoneIndex].exchanges[index]
        let events = self.server == nil ? "events" : "new events"
        self.phones[phoneIndex].exchanges[index].eventsMax = nil
        self.error(
            "\(exchange.eventsNew) \(events) arrived on a stream that a fault should have cut after \(most)",
            exchange.scan, phoneIndex)
    }

    mutating func terminalApplied(
        job id: String, _ kind: EventKind, inline: InlineBooksForm, _ scan: ScanNumber, _ phoneIndex: Int
    ) {
        guard let server = self.server else { return }
        if let job = self.phones[phoneIndex].jobs.last(where: { $0.id == id }), job.kind != kind {
            self.error(
                "a phone applied \(kind.rawValue), but the job \(job.kind.map { "ended with \($0.rawValue)" } ?? "continues")",
                scan, phoneIndex)
        }
        guard let index = self.streamIndex(scan, phoneIndex) else { return }
        let exchange = self.phones[phoneIndex].exchanges.remove(at: index)
        if inline == .books, self.hasFired(exchange, { $0 == .booksStripped }) {
            self.error("an event had books that a fault had removed", scan, phoneIndex)
        }
        // An event that the contract does not have is none that counts as ignored.
        if exchange.isGarbled, inline != .undecodable, exchange.eventsIgnored <= exchange.eventsAdded,
            server.dialect.otherEvents.isEmpty, !self.deviates(phoneIndex)
        {
            self.error(
                "a fault made an event of a stream unreadable, but all of them were read", scan, phoneIndex)
        }
        if let written = exchange.pingsWritten, exchange.pingsSeen < written, self.watches(phoneIndex) {
            self.error(
                "\(written) pings were written to a stream, but \(exchange.pingsSeen) arrived", scan,
                phoneIndex)
        }
        // A phone that orders events by their timestamps drops one that comes too late, and takes it for none that it ignores.
        if exchange.eventsIgnored < exchange.eventsAdded, !self.deviates(phoneIndex) {
            self.error(
                "faults added \(exchange.eventsAdded) events to a stream, but \(exchange.eventsIgnored) arrived",
                scan, phoneIndex)
        }
    }

    /// A stream that a fault ended long ago, and whose phone continues reading it.
    mutating func lookForUnnoticed(_ phoneIndex: Int) {
        for exchange in self.phones[phoneIndex].exchanges
        where exchange.operation == .stream && exchange.replied == 200 {
            guard let cutAt = exchange.cutAt, cutAt + Self.noticeTime < self.now,
                self.isCut(exchange, { $0 != .silence })
            else { continue }
            self.error(
                "a fault ended a stream at \(cutAt.nanoseconds) ns, but its phone never noticed",
                exchange.scan, phoneIndex)
        }
    }
}
