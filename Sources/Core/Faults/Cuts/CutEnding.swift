import SimBase

/// The way in which a connection ends, or stops, when a fault cuts it.
package enum CutEnding: Hashable, Sendable {
    /// RST, as soon as the bytes before the cut have been sent.
    case reset
    /// FIN.
    case close
    /// Half open: no data passes, and neither side is notified.
    case silence
}

extension FaultKind {
    /// The way in which an exchange is cut off: the ending, the position and the side.
    package var cutting: (ending: CutEnding, cut: Cut, side: ExchangeSide)? {
        switch self {
        case .reset(let cut, let side): (.reset, cut, side)
        case .close(let cut, let side): (.close, cut, side)
        case .endCleanly(let cut): (.close, cut, .reply)
        case .silence(let cut, let side): (.silence, cut, side)
        case .rateLimit, .httpError, .stripBooks, .truncateResults, .reorderResults, .expireToken,
            .jobGone, .retryableError, .finalError, .degraded, .slowStage, .unknownEvent, .badJSON,
            .eventShape, .latePing, .noPing, .twoTerminals, .endWithoutTerminal, .socketClose, .socketFrames,
            .ignoreLastEventID,
            .forgetEvents, .slice, .delay, .bandwidth, .loss, .refuse, .phone:
            nil
        }
    }

    /// Whether the cut data looks complete.
    package var endsCleanly: Bool {
        if case .endCleanly = self { true } else { false }
    }
}

extension [ArmedFault] {
    /// The faults without those that would end the exchange after one that ends it at once: they can do
    /// nothing.
    package var untilFirstEnd: [ArmedFault] {
        guard let first = self.firstIndex(where: \.isCertainEnd) else { return self }
        return self[...first] + self[(first + 1)...].filter { !$0.kind.has(.endsExchange) }
    }
}

extension ArmedFault {
    private var isAtOnce: Bool {
        switch self.trigger {
        case .atOnce, .afterBytes(0), .afterEvents(0), .afterTime(.zero): true
        case .afterBytes, .afterEvents, .afterTime: false
        }
    }

    /// Whether the exchange ends by this fault whatever else is in it.
    fileprivate var isCertainEnd: Bool {
        guard self.isAtOnce else { return false }
        if case .httpError = self.kind { return true }
        switch self.kind.cutting?.cut {
        case .betweenEvents, .afterBytes(0): return true
        case .insideEvent, .insideUTF8, .insideLineEnd, .afterBytes, nil: return false
        }
    }
}
