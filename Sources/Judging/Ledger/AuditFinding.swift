package import SimBase
package import Talaria

/// A violation of its own limits that only the virtual world can see. It contains numbers;
/// `SimulationInvariants` describes it.
package struct AuditFinding: Hashable, Sendable {
    package enum What: Hashable, Sendable {
        /// Bytes that are not accounted for.
        case leak(LinkLeg, LeakedBytes)
        /// More of something than its limit allows.
        case overLimit(Bound)
        /// A request that shows a token of something else.
        case strayToken(Operation)
        /// A stream was requested while no record named its job.
        case unrecordedJob
        /// The first answer on a new connection came sooner than its link lets anything come.
        case tooSoon(Operation, took: Interval, least: Interval)
    }

    /// Nil if it is about no one phone.
    package var device: DeviceNumber?
    package var scan: ScanNumber
    package var at: Instant
    package var what: What

    package init(device: DeviceNumber?, scan: ScanNumber, at: Instant, what: What) {
        self.device = device
        self.scan = scan
        self.at = at
        self.what = what
    }

    var invariant: Invariant {
        switch self.what {
        case .leak: .linkConserves
        case .overLimit: .memoryBounded
        case .strayToken: .authNoLeak
        case .unrecordedJob: .jobOrphansBounded
        case .tooSoon: .timeSane
        }
    }

    var text: String {
        switch self.what {
        case .overLimit(let bound): "\(bound.name) is \(bound.max), but there are \(bound.count)"
        case .strayToken(let operation): "\(operation.name) with a token that is not its job's"
        case .unrecordedJob: "its stream was requested before the record of its job was stored"
        case .tooSoon(let operation, let took, let least):
            "\(operation.name) on a new connection was answered within \(took.nanoseconds / 1_000) us, but its link needs at least \(least.nanoseconds / 1_000) us"
        case .leak(let leg, let bytes):
            "\(leg.rawValue): \(bytes.sent) bytes sent, \(bytes.delivered) delivered, \(bytes.destroyed) destroyed, \(bytes.underway) in flight"
        }
    }
}

/// A part of the way between a phone and the server.
package enum LinkLeg: String, Hashable, Sendable {
    case phoneToLink = "from the phone to its link"
    /// The bytes that one side sent and the other side received.
    case intoLink = "into the link"
    case linkUp = "up the link"
    case linkDown = "down the link"
    case outOfLink = "out of the link"
    case linkToPhone = "from the link to the phone"
    /// All wires together, against what waits in the world.
    case everywhere = "all wires"
}

/// The bytes of one direction by their state.
package struct LeakedBytes: Hashable, Sendable {
    package var sent: Int
    package var delivered: Int
    package var destroyed: Int
    package var underway: Int

    package init(sent: Int, delivered: Int, destroyed: Int, underway: Int) {
        self.sent = sent
        self.delivered = delivered
        self.destroyed = destroyed
        self.underway = underway
    }
}
