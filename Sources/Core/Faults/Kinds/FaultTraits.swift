/// The kinds of faults: the rows of `FaultTable`, in its order.
package enum FaultKindID: Int, CaseIterable, Hashable, Sendable {
    case rateLimit, httpError, stripBooks, truncateResults, reorderResults, expireToken, jobGone,
        retryableError, finalError,
        degraded, slowStage, unknownEvent, badJSON, noMessage, splitData, latePing, noPing, twoTerminals,
        endWithoutTerminal, ignoreLastEventID, forgetEvents
    case reset, close, endCleanly, silence, slice, delay, bandwidth, loss, refuse
    case offline, handover, background, kill, reinstall, clockSkew, storageFull
    case socketClose, socketFrames
}

/// Properties of a kind of fault that do not depend on its values: columns of `FaultTable`.
package struct FaultTraits: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    // MARK: Exchanges

    /// It affects all bytes for as long as its window is open, instead of acting at one position.
    package static let lasts = Self(rawValue: 1 << 0)
    /// It ends the exchange that it fires on: no fault after it in the list affects that exchange then.
    package static let endsExchange = Self(rawValue: 1 << 1)
    /// The phone's side applies it to an exchange.
    package static let isHandledByPhone = Self(rawValue: 1 << 2)

    // MARK: Jobs and streams

    /// It changes the job as soon as its trigger is reached. Others change what is written then or later.
    package static let changesJob = Self(rawValue: 1 << 3)
    /// It refuses a request for a job at once.
    package static let refusesJobRequests = Self(rawValue: 1 << 4)
    /// It can act on a stream that is open.
    package static let changesStream = Self(rawValue: 1 << 5)
    /// It writes an event that no client can decode.
    package static let garblesEvents = Self(rawValue: 1 << 6)
    /// It changes the data of an event that is replayed, without it, under the same id.
    package static let changesEvents = Self(rawValue: 1 << 7)

    // MARK: Phones

    /// The phone's requests arrive as always while it lasts.
    package static let sparesPath = Self(rawValue: 1 << 8)
    /// It needs a user of the app: it does not happen after the end of the run.
    package static let needsApp = Self(rawValue: 1 << 9)
    /// It can come between two writes of the app, so that the simulation must know which of them are durable.
    package static let tearsStorage = Self(rawValue: 1 << 10)
    /// Parked scans continue when it ends.
    package static let resumesScans = Self(rawValue: 1 << 11)
}

extension FaultKind {
    package func has(_ trait: FaultTraits) -> Bool { self.id.has(trait) }
}

extension PhoneFault {
    package func has(_ trait: FaultTraits) -> Bool { self.id.has(trait) }
}

extension FaultKindID {
    fileprivate func has(_ trait: FaultTraits) -> Bool {
        FaultTable.all[self.rawValue].traits.contains(trait)
    }
}
