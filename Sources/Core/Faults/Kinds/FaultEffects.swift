package import Observations
package import SimBase
package import Talaria

/// What a fault itself changes of the exchanges on which it fires. Only that is injected (Docs/design.md section 11.11).
package struct FaultEffects: Hashable, Sendable {
    /// What happens to the connection.
    package enum Connection: Hashable, Sendable {
        case untouched
        /// It fails, is refused, or is cut, by a clean end as well: the client can expect nothing more of it.
        case broken
        /// Data come later: a limit of time may pass.
        case slowed
        /// The server ends the stream before its terminal event, as it may.
        case ended
        /// Nothing is sent for a while.
        case quiet
    }

    /// A part of an answer or of the events of a stream.
    package enum Part: Hashable, Sendable {
        /// All of the answer with this status.
        case answer(status: Int)
        /// All of the events of this kind.
        case event(EventKind)
        /// The name of an event.
        case eventName(String)
        /// The data of an event, or the body of an answer: it is not JSON.
        case text
        /// A member of the events of this kind, with what is in it.
        case member(String, of: EventKind)
    }

    package var connection = Connection.untouched
    package var parts: [Part] = []
    /// Whether one firing changes one message, and no other.
    package var isSingle = false

    /// The status of the answer instead of the server's; nil if it gives none.
    package var status: Int? {
        for case .answer(let status) in self.parts { return status }
        return nil
    }

    /// Whether an answer or an event cannot be read.
    package var garbles: Bool {
        self.parts.contains { part in
            switch part {
            case .text, .answer: true
            case .member(_, let kind): kind == .progress
            case .event, .eventName: false
            }
        }
    }

    /// Whether it takes the books out of an event.
    package var takesBooks: Bool {
        self.parts.contains(.member(EventDistortion.booksKey, of: .completed))
    }

    /// Whether it is the end of the job.
    package var failsJob: Bool { self.parts.contains(.event(.error)) }

    /// Whether a finding is about what it changes.
    package func changes(_ finding: ContractFinding) -> Bool {
        self.parts.contains { part in
            switch part {
            case .answer(let status): finding.part == "\(status)"
            case .event(let kind): finding.part == kind.rawValue
            case .eventName(let name): finding.path == "event" && finding.seen == name
            case .text: finding.path == "body"
            case .member(let name, let kind): finding.part == kind.rawValue && finding.isAbout(member: name)
            }
        }
    }

    /// Whether it can make a request fail like this.
    package func explains(_ failure: TransportFailure) -> Bool {
        switch self.connection {
        case .broken: true
        case .slowed: failure == .timedOut || failure == .connectTimedOut
        case .untouched, .ended, .quiet: false
        }
    }
}

extension FaultKind {
    /// Whether a stream that it cuts is lost like this.
    package func cuts(as loss: LossCause) -> Bool {
        if case .reset = self { return loss == .reset }
        if case .close = self { return loss == .endWithoutTerminal }
        if case .endCleanly = self { return loss == .endWithoutTerminal }
        return false
    }
}

extension ContractFinding {
    /// Whether it is about a member of the data, or about something in it.
    fileprivate func isAbout(member: String) -> Bool {
        let path = self.path.hasPrefix("data.") ? self.path.dropFirst(5) : self.path[...]
        guard path.hasPrefix(member) else { return false }
        let next = path.dropFirst(member.count).first
        return next == nil || next == "." || next == "["
    }
}

extension FaultKind {
    package var effects: FaultEffects {
        switch self {
        case .httpError(let fault): FaultEffects(parts: [.answer(status: fault.status)])
        case .rateLimit: FaultEffects(parts: [.answer(status: 429)])
        case .expireToken: FaultEffects(connection: .ended, parts: [.answer(status: 401)])
        case .jobGone(let status): FaultEffects(connection: .ended, parts: [.answer(status: status)])
        case .stripBooks(.renamed):
            FaultEffects(parts: [
                .member(EventDistortion.booksKey, of: .completed),
                .member(EventDistortion.renamedBooksKey, of: .completed),
            ])
        case .stripBooks, .forgetEvents:
            FaultEffects(parts: [.member(EventDistortion.booksKey, of: .completed)])
        case .truncateResults: FaultEffects(parts: [.text])
        case .retryableError, .finalError: FaultEffects(parts: [.event(.error)])
        case .degraded: FaultEffects(parts: [.event(.enrichmentDegraded)])
        case .unknownEvent(let event):
            // v2 has some of the names of other versions, and gets the other one.
            FaultEffects(
                parts: [
                    .eventName(EventDistortion.unknownName(event)),
                    .eventName(EventDistortion.unknownName(nil)),
                ], isSingle: true)
        case .badJSON: FaultEffects(parts: [.text], isSingle: true)
        case .eventShape(.noMessage): FaultEffects(parts: [.member("message", of: .progress)])
        case .endWithoutTerminal, .socketClose: FaultEffects(connection: .ended)
        case .socketFrames(.fragmented): FaultEffects()
        case .socketFrames: FaultEffects(connection: .ended, parts: [.text], isSingle: true)
        case .latePing, .noPing: FaultEffects(connection: .quiet)
        case .reset, .close, .endCleanly, .silence, .refuse: FaultEffects(connection: .broken)
        case .delay, .bandwidth, .loss: FaultEffects(connection: .slowed)
        case .reorderResults, .twoTerminals, .ignoreLastEventID, .slowStage, .slice, .phone,
            .eventShape(.splitData):
            FaultEffects()
        }
    }
}
