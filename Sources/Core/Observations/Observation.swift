package import SimBase
import Talaria

/// One thing that one side saw: whose, which scan, what and when.
///
/// Histograms, counters, the ledger, the timeline and the report are all made from these and from nothing else, in
/// both worlds.
package struct Observation: Hashable, Sendable {
    package var at: Instant
    package var device: DeviceNumber
    /// `ScanNumber.none` where it speaks of no scan.
    package var scan: ScanNumber
    package let what: ObservationPayload
    /// Stored, because reading `what` copies it.
    package let level: ObservationLevel
    /// Stored for the same reason.
    package let side: Side

    /// Whether it is a ping, or a `progress` event as expected: half of all observations.
    package var isRoutine: Bool { self.level == .routine }

    package init(at: Instant, device: DeviceNumber, scan: ScanNumber, what: ObservationPayload) {
        self.at = at
        self.device = device
        self.scan = scan
        self.level = what.level
        self.side = what.side
        self.what = what
    }

    /// A placeholder for an observation that was taken out.
    package static var nothing: Observation {
        Observation(at: .zero, device: DeviceNumber(0), scan: .none, what: .network(.blank))
    }
}

/// The side that observed something.
package enum Side: String, CaseIterable, Hashable, Sendable {
    case phone, backend, fault, network, control

    /// The number of the side in bytes.
    var ordinal: UInt8 {
        switch self {
        case .phone: 0
        case .backend: 1
        case .fault: 2
        case .network: 3
        case .control: 4
        }
    }

    init?(ordinal: UInt8) {
        guard let side = Self.allCases.first(where: { $0.ordinal == ordinal }) else { return nil }
        self = side
    }
}

/// Whether the log contains an observation.
package enum ObservationLevel: Hashable, Sendable {
    /// A ping, or a `progress` event as expected: half of all observations. Only with `--trace`.
    case routine
    /// Only with `--trace`: frequent observations.
    case trace
    /// A limited number for each phone: a server can send millions of these in a second.
    case limited
    case always

    /// Whether the log contains it only with `--trace`.
    package var isTraced: Bool { self == .routine || self == .trace }
}

extension EventKind {
    /// The level of an event of a stream. `isAsExpected`: it came once and in time. `otherwise`: of events that neither report
    /// progress nor end the stream.
    func level(isAsExpected: Bool, otherwise: ObservationLevel) -> ObservationLevel {
        switch self {
        case .progress: isAsExpected ? .routine : .trace
        case .ping: .trace
        case .completed, .error: .always
        case .enrichmentDegraded, .segmented, .bookProgress, .result: otherwise
        }
    }
}

/// An observation of one side.
package enum ObservationPayload: Hashable, Sendable {
    case phone(PhoneObservation)
    case backend(BackendObservation)
    case fault(FaultObservation)
    case network(NetworkObservation)
    case control(ControlObservation)

    fileprivate var side: Side {
        switch self {
        case .phone: .phone
        case .backend: .backend
        case .fault: .fault
        case .network: .network
        case .control: .control
        }
    }

    fileprivate var level: ObservationLevel {
        switch self {
        case .phone(let payload): payload.level
        case .backend(let payload): payload.level
        case .fault, .control: .always
        case .network: .trace
        }
    }

    /// Passes side, name and fields to a codec that writes.
    package func write(to codec: inout some FieldCodec & ~Copyable) {
        switch self {
        case .phone(let payload): _ = try? payload.coded(by: &codec)
        case .backend(let payload): _ = try? payload.coded(by: &codec)
        case .fault(let payload): _ = try? payload.coded(by: &codec)
        case .network(let payload): _ = try? payload.coded(by: &codec)
        case .control(let payload): _ = try? payload.coded(by: &codec)
        }
    }

    /// Reads what `write(to:)` wrote. `name`: the second argument of `FieldCodec.begin`.
    package init(
        _ side: Side, _ name: String, from codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) {
        self =
            switch side {
            case .phone: .phone(try PhoneObservation(name, from: &codec))
            case .backend where name == "limited": .backend(try .limited(from: &codec))
            case .backend: .backend(try BackendObservation(name, from: &codec))
            case .fault: .fault(try FaultObservation(name, from: &codec))
            case .network: .network(try NetworkObservation(name, from: &codec))
            case .control: .control(try ControlObservation(name, from: &codec))
            }
    }
}
