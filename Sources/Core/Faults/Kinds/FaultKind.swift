package import SimBase
package import Talaria

/// The effect of a fault (Docs/design.md section 5). What each takes in a scenario file is in `FaultTable`.
package enum FaultKind: Hashable, Sendable {
    // MARK: The server

    /// Answers 429 beyond `quota`, one quota per device.
    case rateLimit(quota: Quota, retryAfter: Interval?)
    case httpError(HTTPFault)
    case stripBooks(StrippedForm)
    /// The JSON of the results ends in the middle, under a length that agrees.
    case truncateResults
    /// The books of the results come in another order, which each answer has of its own.
    case reorderResults
    case expireToken
    /// 404 or 410 for an existing job, which is removed from then on.
    case jobGone(status: Int)
    /// An `error` event that allows a retry; it ends the stream.
    case retryableError(code: String)
    /// An `error` event that refuses the scan permanently; it ends the stream.
    case finalError(code: String)
    /// An `enrichment_degraded` event for this share of the books.
    case degraded(books: Odds)
    case slowStage(ScanPhase, by: ClosedRange<Interval>)
    /// An event of a name that the contract does not have, before the next one; nil: one that no version has.
    case unknownEvent(UnknownEvent?)
    case badJSON(BadJSONTarget)
    /// Events in another form than the backend writes.
    case eventShape(EventShape)
    /// Each ping is late by so much more.
    case latePing(by: Interval)
    case noPing
    /// The terminal event is followed by another.
    case twoTerminals
    /// FIN where the terminal event would be.
    case endWithoutTerminal
    /// The stream starts over whatever the phone has seen.
    case ignoreLastEventID
    /// The job's event buffer is lost at once: only the terminal event, stripped of its books, can be replayed.
    case forgetEvents
    /// A close frame with this code.
    case socketClose(code: Int)
    case socketFrames(FrameShape)

    // MARK: The link

    /// RST at the position that `Cut` names.
    case reset(Cut, ExchangeSide)
    /// FIN there.
    case close(Cut, ExchangeSide)
    /// The stream ends there as if its server had ended it: with the last chunk, and FIN.
    case endCleanly(Cut)
    /// Half open from there: no data passes, and neither side is notified.
    case silence(Cut, ExchangeSide)
    /// The server's data arrives in pieces of this size, each in its own segment.
    case slice(bytes: ClosedRange<Int>)
    /// Additional delay in each direction.
    case delay(by: ClosedRange<Interval>)
    /// Maximum rate in each direction.
    case bandwidth(bitsPerSecond: Int64)
    /// This share of the segments is lost once: later segments wait for the retransmission.
    case loss(Odds)
    /// Connections are refused at once.
    case refuse

    // MARK: The phone

    case phone(PhoneFault)

    package var id: FaultKindID {
        switch self {
        case .rateLimit: .rateLimit
        case .httpError: .httpError
        case .stripBooks: .stripBooks
        case .truncateResults: .truncateResults
        case .reorderResults: .reorderResults
        case .expireToken: .expireToken
        case .jobGone: .jobGone
        case .retryableError: .retryableError
        case .finalError: .finalError
        case .degraded: .degraded
        case .slowStage: .slowStage
        case .unknownEvent: .unknownEvent
        case .badJSON: .badJSON
        case .eventShape(.noMessage): .noMessage
        case .eventShape(.splitData): .splitData
        case .latePing: .latePing
        case .noPing: .noPing
        case .twoTerminals: .twoTerminals
        case .endWithoutTerminal: .endWithoutTerminal
        case .ignoreLastEventID: .ignoreLastEventID
        case .forgetEvents: .forgetEvents
        case .socketClose: .socketClose
        case .socketFrames: .socketFrames
        case .reset: .reset
        case .close: .close
        case .endCleanly: .endCleanly
        case .silence: .silence
        case .slice: .slice
        case .delay: .delay
        case .bandwidth: .bandwidth
        case .loss: .loss
        case .refuse: .refuse
        case .phone(let fault): fault.id
        }
    }

    /// The name in scenario files and ids.
    package var name: String { FaultTable.all[self.id.rawValue].name }
    package var layer: FaultLayer { FaultTable.all[self.id.rawValue].layer }
}

extension FaultKind {
    /// Whether what it delivers makes the client refuse a scan: a final answer to an upload, or a final event.
    package var refusesScans: Bool {
        switch self {
        case .finalError: true
        case .httpError(let fault):
            // These are verdicts on the caller or the time, and tried again.
            (400...499).contains(fault.status) && ![401, 404, 408, 410, 429].contains(fault.status)
                && fault.retryable != true
        case .rateLimit, .stripBooks, .truncateResults, .reorderResults, .expireToken, .jobGone,
            .retryableError, .degraded, .slowStage, .unknownEvent, .badJSON, .eventShape, .latePing, .noPing,
            .twoTerminals, .endWithoutTerminal,
            .ignoreLastEventID, .forgetEvents, .socketClose, .socketFrames, .reset, .close, .endCleanly,
            .silence, .slice, .delay, .bandwidth, .loss, .refuse, .phone:
            false
        }
    }

    /// Whether what it delivers says of a look-up that no provider has the book, which ends it as well.
    package var refusesLookups: Bool {
        guard case .httpError(let fault) = self else { return false }
        let notFound = ProblemCode.notFound.rawValue
        return fault.status == 404 && fault.code ?? notFound == notFound && fault.retryable != true
    }

    /// Whether it acts on a WebSocket only.
    package var needsSocket: Bool { self.id == .socketClose || self.id == .socketFrames }

    /// Whether it says how long to wait in the header alone, where the wait is rounded up to whole seconds.
    package var roundsWaits: Bool {
        if case .httpError(let fault) = self { fault.retryAfterLocation == .header } else { false }
    }
}

/// What `FaultKind.eventShape` does to events.
package enum EventShape: Hashable, Sendable {
    /// Progress without its text.
    case noMessage
    /// Data in several lines (HTML Standard section 9.2.6).
    case splitData
}

/// How a message of a WebSocket is sent.
package enum FrameShape: String, CaseIterable, Hashable, Sendable {
    /// In several frames, with a ping between them, as RFC 6455 section 5.4 allows.
    case fragmented
    /// In a frame whose length is above the limit of any client.
    case oversized
    /// Masked, which a server must not do (RFC 6455 section 5.1).
    case masked
    /// With a bit that no extension has defined.
    case reserved
    /// Not as text.
    case binary
    /// As text that is not UTF-8.
    case notUTF8 = "not-utf8"
}

/// The layer in which a fault acts.
package enum FaultLayer: String, CaseIterable, Hashable, Sendable {
    case server, link, phone
}

/// An answer of the server instead of the one that it would give.
package struct HTTPFault: Hashable, Sendable {
    /// 400 to 599.
    package var status: Int
    /// Nil: what the contract has for the status.
    package var code: String?
    /// Nil: what the contract has for the code.
    package var retryable: Bool?
    package var retryAfter: Interval?
    package var retryAfterLocation: RetryAfterLocation

    package init(
        status: Int, code: String?, retryable: Bool?, retryAfter: Interval?,
        retryAfterLocation: RetryAfterLocation
    ) {
        self.status = status
        self.code = code
        self.retryable = retryable
        self.retryAfter = retryAfter
        self.retryAfterLocation = retryAfterLocation
    }
}

/// The location of the requested wait in a response: `Retry-After` in seconds, `retryAfterMs` in the problem
/// document.
package enum RetryAfterLocation: String, CaseIterable, Hashable, Sendable {
    case header, body, both, neither
}

/// The way in which the books of a `completed` event are removed.
package enum StrippedForm: String, CaseIterable, Hashable, Sendable {
    case absent, null, empty, renamed
}

/// A part of a job's work.
package enum ScanPhase: String, CaseIterable, Hashable, Sendable {
    case analyzing, identifying, enriching
}

/// Which event has data that are not JSON.
package enum BadJSONTarget: String, CaseIterable, Hashable, Sendable {
    /// An event more than the job has.
    case extra
    case progress, completed
}
