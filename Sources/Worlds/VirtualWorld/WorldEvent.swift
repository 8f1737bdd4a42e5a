import HTTPServer
import Phone
import Plan
package import SimBase
import Talaria

/// A pending event.
enum WorldEvent: Sendable {
    /// The next captures of the schedule.
    case arrivals
    /// A user of a closed group has thought.
    case capture(Arrival)
    /// `index` is that of the world's list.
    case disturbance(phone: Int32, index: Int32)
    case photo(phone: Int32, ScanNumber, process: UInt32, PhotoReference, isFirst: Bool)
    case reading(phone: Int32, ScanNumber, process: UInt32)
    case flush(phone: Int32)
    case failed(phone: Int32, process: UInt32, RequestID, TransportFailure)
    // What a phone does to a wire, when it has come to the link.
    case connect(WireID)
    case bytes(WireID, [UInt8])
    case upload(WireID)
    case fin(WireID)
    case reset(WireID)
    /// The server looks whether the peer of a half-open connection has given up.
    case givenUp(WireID)
    /// The phase of the run may be over.
    case phase
}

/// A wire as long as it lives.
struct WireID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

extension WorldEvent {
    /// Absorbs the event into the digest: its kind and its subject.
    func absorb(into chain: inout Chain) {
        switch self {
        case .arrivals: chain.absorb(1)
        case .capture(let arrival):
            chain.absorb(2)
            chain.absorb(Int(arrival.device.raw))
        case .disturbance(let phone, let index): chain.absorb(3 << 40 | Int(phone) << 20 ^ Int(index))
        case .photo(let phone, let scan, _, _, _):
            chain.absorb(4 << 40 | Int(phone))
            chain.absorb(Int(scan.raw))
        case .flush(let phone): chain.absorb(5 << 40 | Int(phone))
        case .failed(let phone, _, let id, _):
            chain.absorb(6 << 40 | Int(phone))
            chain.absorb(id.raw)
        case .connect(let wire): chain.absorb(7 << 40 | Int(wire.slot))
        case .bytes(let wire, let bytes):
            chain.absorb(8 << 40 | Int(wire.slot))
            chain.absorb(bytes[...])
        case .upload(let wire): chain.absorb(9 << 40 | Int(wire.slot))
        case .fin(let wire): chain.absorb(10 << 40 | Int(wire.slot))
        case .reset(let wire): chain.absorb(11 << 40 | Int(wire.slot))
        case .givenUp(let wire): chain.absorb(12 << 40 | Int(wire.slot))
        case .reading(let phone, let scan, _):
            chain.absorb(15 << 40 | Int(phone))
            chain.absorb(Int(scan.raw))
        case .phase: chain.absorb(14)
        }
    }
}

/// The last event, for error reports and the trace.
enum Happening: Sendable {
    case event(WorldEvent)
    case phoneWoke(Int)
    case serverWoke
    case rolloutWoke
}

extension Happening: CustomStringConvertible {
    var description: String {
        switch self {
        case .event(let event): event.description
        case .phoneWoke(let phone): "phone \(phone) woke"
        case .serverWoke: "server woke"
        case .rolloutWoke: "rollout woke"
        }
    }
}

extension WorldEvent: CustomStringConvertible {
    var description: String {
        switch self {
        case .arrivals: "arrivals"
        case .capture(let arrival): "phone \(arrival.device.raw) captures"
        case .disturbance(let phone, let index): "phone \(phone): disturbance \(index)"
        case .photo(let phone, let scan, _, _, _): "phone \(phone): photo of scan \(scan.raw) is ready"
        case .reading(let phone, let scan, _): "phone \(phone): spine of scan \(scan.raw) is read"
        case .flush(let phone): "phone \(phone): storage flushes"
        case .failed(let phone, _, let id, let failure):
            "phone \(phone): request \(id.raw) fails: \(failure.rawValue)"
        case .connect(let wire): "wire \(wire.slot).\(wire.generation): connects"
        case .bytes(let wire, let bytes): "wire \(wire.slot).\(wire.generation): \(bytes.count) bytes up"
        case .upload(let wire): "wire \(wire.slot).\(wire.generation): photo goes up"
        case .fin(let wire): "wire \(wire.slot).\(wire.generation): FIN up"
        case .reset(let wire): "wire \(wire.slot).\(wire.generation): RST up"
        case .givenUp(let wire): "wire \(wire.slot).\(wire.generation): its silence is looked at"
        case .phase: "the phase is looked at"
        }
    }
}

/// A mistake of ours: the run is not to be believed.
package struct WorldFailure: Error, Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// Something was to happen before the present.
        case eventInThePast(by: Interval)
        case heapLimit(Int)
        /// This number of events came without the time moving on.
        case noProgress(Int)
    }

    package var cause: Cause
    package var at: Instant
    /// The last events, oldest first.
    package var lastEvents: [String]

    package var text: String {
        switch self.cause {
        case .eventInThePast(let by): "an event was scheduled \(by.nanoseconds) ns in the past"
        case .heapLimit(let count): "more than \(count) events wait"
        case .noProgress(let count): "\(count) events without the time moving on"
        }
    }
}
