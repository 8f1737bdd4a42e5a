import Observations
import SimBase
import Talaria

// Streams as both sides saw them, and what faults did to their events.

extension HarnessPhone {
    func streamIndex(_ scan: ScanNumber) -> Int? {
        self.exchanges.lastIndex { $0.scan == scan && $0.operation == .stream }
    }

    mutating func streamEnded(
        job id: String, attempt: UInt32, byPeer: Bool, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        let job = self.jobs.lastIndex { $0.id == id }
        if let job {
            self.jobs[job].streams = max(0, self.jobs[job].streams - 1)
            self.jobs[job].socket.ended(at: fleet.now)
        }
        guard !byPeer else { return }
        if let index = self.exchangeIndex(.stream, scan, attempt) { self.exchanges[index].hasEnded = true }
        // The phone may have noticed first: a server has the time behind its last write.
        self.dispel(.stream, attempt, scan, &fleet)
        guard let job, fleet.server != nil else { return }
        let known = self.jobs[job]
        let lifetime = APIVersion(jobID: id).streamLifetime
        let isTimedOut = lifetime.map { fleet.now >= known.acceptedAt + $0 } ?? false
        let isOver = known.finishedAt != nil || known.isRevoked || isTimedOut
        self.note(.streamEnded, scan, &fleet, attempt: attempt, needsFault: !isOver)
        guard known.finishedAt != nil, !known.isRevoked, !isTimedOut, !known.isForgetful, fleet.completesOnce
        else { return }
        if known.terminals == 0 {
            self.note(.terminalOmitted, scan, &fleet, attempt: attempt, needsFault: true)
        } else {
            self.jobs[job].terminals -= 1
        }
    }

    mutating func streamLost(
        _ attempt: UInt32, _ cause: LossCause, _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        guard let index = self.exchangeIndex(.stream, scan, attempt) else { return }
        let exchange = self.exchanges.remove(at: index)
        let isExplained: Bool
        switch cause {
        case .reset: isExplained = fleet.isCut(exchange) { $0 == .reset }
        case .closedGoingAway, .closedProtocolError, .closedPolicyViolation, .closedMessageTooBig,
            .closedInternalError, .closedServiceRestart, .closedTryAgainLater, .closedOtherwise:
            isExplained = exchange.hasEnded
        case .endWithoutTerminal: isExplained = exchange.hasEnded || fleet.isCut(exchange) { $0 == .close }
        case .connectFailed, .refusedByStatus, .silence, .offline, .badAnswer, .killed, .handover,
            .noAnswer, .foreignURL:
            isExplained = true
        }
        guard fleet.server != nil, !isExplained else { return }
        self.doubt(
            .stream, attempt, scan, &fleet,
            "a stream was lost (\(cause.rawValue)), but neither the backend nor a fault ended it in this way")
    }

    mutating func eventIgnored(_ name: String, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        let job = self.jobs.last { $0.scan == scan }
        let isTimeout = job.map { APIVersion(jobID: $0.id).timeoutName == name } ?? false
        guard let server = fleet.server, !server.dialect.otherEvents.contains(name), !isTimeout,
            let index = self.streamIndex(scan)
        else { return }
        self.exchanges[index].eventsIgnored += 1
        let isMade = fleet.hasFired(self.exchanges[index]) { $0 == .eventAdded || $0 == .eventGarbled }
        guard !isMade, !self.deviates else { return }
        self.error("a stream had the event '\(name)', which no fault sent", scan, &fleet)
    }

    mutating func eventApplied(
        job id: String, id eventID: String?, _ kind: EventKind, latency: Interval?, isReplayed: Bool,
        _ scan: ScanNumber, _ fleet: inout HarnessFleet
    ) {
        if isReplayed, let eventID, let latency {
            self.replayed(job: id, id: eventID, after: latency, scan, &fleet)
        }
        guard let index = self.streamIndex(scan) else { return }
        if eventID == nil, kind == .completed, self.exchanges[index].hasIDs,
            fleet.hasFired(self.exchanges[index], { $0 == .booksStripped })
        {
            self.error("an event that a fault changed had no id", scan, &fleet)
        }
        if eventID != nil { self.exchanges[index].hasIDs = true }
        // What the gateway lets through, it counts whether it is new or not.
        if !isReplayed || fleet.server == nil {
            self.exchanges[index].eventsNew += 1
            self.judgeCut(index, &fleet)
        }
    }

    /// The gateway cut a stream behind so many events.
    mutating func passed(_ events: Int, _ attempt: UInt32, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        guard let index = self.exchangeIndex(.stream, scan, attempt) else { return }
        self.exchanges[index].eventsMax = events
        self.judgeCut(index, &fleet)
    }

    /// A cut behind so many events lets no other through.
    mutating func judgeCut(_ index: Int, _ fleet: inout HarnessFleet) {
        // By index: a copy would be made for each event.
        guard let most = self.exchanges[index].eventsMax,
            self.exchanges[index].eventsNew > most
        else { return }
        let exchange = self.exchanges[index]
        let events = fleet.server == nil ? "events" : "new events"
        self.exchanges[index].eventsMax = nil
        self.error(
            "\(exchange.eventsNew) \(events) arrived on a stream that a fault should have cut after \(most)",
            exchange.scan, &fleet)
    }

    mutating func terminalApplied(
        job id: String, _ kind: EventKind, inline: InlineBooksForm, _ scan: ScanNumber,
        _ fleet: inout HarnessFleet
    ) {
        guard let server = fleet.server else { return }
        if let job = self.jobs.last(where: { $0.id == id }), job.kind != kind {
            self.error(
                "a phone applied \(kind.rawValue), but the job \(job.kind.map { "ended with \($0.rawValue)" } ?? "continues")",
                scan, &fleet)
        }
        guard let index = self.streamIndex(scan) else { return }
        let exchange = self.exchanges.remove(at: index)
        if inline == .books, fleet.hasFired(exchange, { $0 == .booksStripped }) {
            self.error("an event had books that a fault had removed", scan, &fleet)
        }
        // An event that the contract does not have is none that counts as ignored.
        if exchange.isGarbled, inline != .undecodable, exchange.eventsIgnored <= exchange.eventsAdded,
            server.dialect.otherEvents.isEmpty, !self.deviates
        {
            self.error(
                "a fault made an event of a stream unreadable, but all of them were read", scan, &fleet)
        }
        if let written = exchange.pingsWritten, exchange.pingsSeen < written, self.isWatched {
            self.error(
                "\(written) pings were written to a stream, but \(exchange.pingsSeen) arrived", scan,
                &fleet)
        }
        // A phone that orders events by their timestamps drops one that comes too late, and takes it for none that it ignores.
        if exchange.eventsIgnored < exchange.eventsAdded, !self.deviates {
            self.error(
                "faults added \(exchange.eventsAdded) events to a stream, but \(exchange.eventsIgnored) arrived",
                scan, &fleet)
        }
    }

    /// A stream that a fault ended long ago, and whose phone continues reading it.
    mutating func lookForUnnoticed(_ fleet: inout HarnessFleet) {
        for exchange in self.exchanges
        where exchange.operation == .stream && exchange.replied == 200 {
            guard let cutAt = exchange.cutAt, cutAt + Self.noticeTime < fleet.now,
                fleet.isCut(exchange, { $0 != .silence })
            else { continue }
            self.error(
                "a fault ended a stream at \(cutAt.nanoseconds) ns, but its phone never noticed",
                exchange.scan, &fleet)
        }
    }
}
