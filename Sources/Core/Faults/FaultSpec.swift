package import SimBase
package import Talaria

/// A fault as the scenario file states it, with every default filled in (Docs/design.md section 5).
package struct FaultSpec: Hashable, Sendable {
    /// `<kind>-<ordinal within the kind>` unless the file names it.
    package var id: String
    /// The key of its draws. It stays the same when another fault is added or removed.
    package var key: UInt64
    package var kind: FaultKind
    package var target: FaultTarget
    package var chance: Odds
    /// The window of the fault, from the start of the run.
    package var window: FaultWindow
    /// The maximum delay after the start of `window`, drawn for each phone; for faults of the phone.
    package var spread: Interval
    package var trigger: FaultTrigger
    package var count: FaultCount
    package var scope: FaultScope
    /// The scan of each phone that it may affect, by its number; nil for all. Not for faults of the phone.
    package var scan: UInt32?
    /// The attempt of a request that it may affect, from 1; nil for all. Not for faults of the phone.
    package var attempt: UInt32?
    /// The transport of the streams that it acts on; nil for both. Only for faults on streams.
    package var transport: StreamTransport?

    package init(
        id: String, key: UInt64? = nil, kind: FaultKind, target: FaultTarget, chance: Odds,
        window: FaultWindow,
        spread: Interval = .zero, trigger: FaultTrigger, count: FaultCount, scope: FaultScope
    ) {
        self.id = id
        self.key = key ?? Self.key(id: id)
        self.kind = kind
        self.target = target
        self.chance = chance
        self.window = window
        self.spread = spread
        self.trigger = trigger
        self.count = count
        self.scope = scope
    }
}

extension FaultSpec {
    /// Whether it acts on requests of an operation. `transport`: by what the job is followed, where the request is for a stream.
    package func acts(on operation: Operation, by transport: StreamTransport) -> Bool {
        self.target.covers(operation) && self.transport ?? transport == transport
    }

    /// Whether it affects one phone, scan or attempt alone, and may block that on purpose.
    package var isTied: Bool {
        if case .phone = self.scope { return true }
        return self.scan != nil || self.attempt != nil
    }

    /// The key of a fault that was given its id.
    package static func key(id: String) -> UInt64 { Digest.of(id) }

    /// The key of a fault without an id of its own: its content, and of faults with the same content which of them it is.
    package static func key(content: String, ordinal: Int) -> UInt64 {
        var digest = Digest()
        digest.absorb(content)
        digest.absorb(UInt64(ordinal))
        return digest.value
    }
}

/// The position of a cut in the bytes of a stream.
package enum Cut: Hashable, Sendable {
    case betweenEvents, insideEvent, insideUTF8, insideLineEnd
    case afterBytes(Int)
}

/// The direction of an exchange whose bytes a trigger and a cut count.
package enum ExchangeSide: String, CaseIterable, Hashable, Sendable {
    /// The phone's data: the server never receives all of it.
    case request
    /// The server's data: the server has acted, but the phone does not get the response.
    case reply
}

/// The target that a fault acts on.
package enum FaultTarget: String, CaseIterable, Hashable, Sendable {
    case upload, stream, results, cleanup, status, refresh, token
    /// Whatever passes the phone's link: every operation.
    case link
    case app

    /// The operation it acts on, where it acts on one.
    package var operation: Operation? {
        switch self {
        case .upload: .upload
        case .stream: .stream
        case .results: .results
        case .cleanup: .cleanup
        case .status: .status
        case .refresh: .refresh
        case .token, .link, .app: nil
        }
    }

    package func covers(_ operation: Operation) -> Bool {
        // A job is canceled by a DELETE as well.
        self == .link || self.operation == operation.counted
    }
}

/// The start and duration of a fault; nil for no end.
package struct FaultWindow: Hashable, Sendable {
    package var at: Interval
    package var length: Interval?

    package init(at: Interval, length: Interval?) {
        self.at = at
        self.length = length
    }

    package static let always = FaultWindow(at: .zero, length: nil)

    package func contains(_ moment: Instant) -> Bool {
        let since = moment - Instant.zero - self.at
        guard since >= .zero else { return false }
        return self.length.map { since < $0 } ?? true
    }
}

/// The condition that must be met first: in the exchange, or on the phone. Ranges are inclusive; a value is
/// drawn from them per exchange, and per phone for a fault of the phone.
package enum FaultTrigger: Hashable, Sendable {
    case atOnce
    case afterTime(ClosedRange<Interval>)
    /// Newly dispatched events: neither pings nor replays.
    case afterEvents(ClosedRange<Int>)
    case afterBytes(ClosedRange<Int>)
    /// Records that the phone's storage took since the app was started. The fault comes before the next one.
    case afterRecords(ClosedRange<Int>)
    /// The first scan of the phone that comes to this step.
    case afterStep(ScanStep)
}

/// A step of a scan on the phone, between two records that its storage takes.
package enum ScanStep: String, CaseIterable, Hashable, Sendable {
    /// The 202 was read, and the record that holds its job is not stored.
    case accepted
    /// A book of a result is in the library, and the next one is not. Which of them is drawn.
    case book
    /// All books of a result are in the library, and the record that says so is not stored.
    case lastBook = "last-book"
    /// The completion record is stored, but the DELETE is not sent.
    case completed

    /// The description in the documentation.
    package var text: String {
        switch self {
        case .accepted: "the 202 is received, the job record is not stored yet"
        case .book: "one book of the results is stored, the next is not"
        case .lastBook: "all books of the results are stored, the completion record is not"
        case .completed: "the completion record is stored, the DELETE is not sent yet"
        }
    }
}

/// The maximum number of firings.
package enum FaultCount: Hashable, Sendable {
    case oncePerScan
    case eachAttempt
    /// Maximum number of firings per scan.
    case perScan(Int)

    /// The maximum number of firings for one scan; nil without a limit.
    package var firingsMax: Int? {
        switch self {
        case .oncePerScan: 1
        case .perScan(let count): count
        case .eachAttempt: nil
        }
    }
}

/// The phones that it may affect.
package enum FaultScope: Hashable, Sendable {
    case everyone
    case share(Odds)
    case group(String)
    /// One phone, by its number: what a plan of a live run has.
    case phone(DeviceNumber)
}
