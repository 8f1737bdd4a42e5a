package import Observations
import SimBase
import Talaria

/// Observations as text, one JSON object a line with a fixed order of keys:
///
///     {"t":1250000000,"device":7,"scan":2,"side":"phone","what":"stream-lost","job":…,"attempt":1,"cause":"reset",…}
///
/// `t` is nanoseconds since the start of the run, durations end in `_ns`, and what does not apply is null. Text of
/// others is bounded. Observations hold no tokens, so no line does.
package struct ObservationLog: ~Copyable {
    /// What is kept of one piece of text in UTF-8 bytes.
    package static let textBytesMax = 256

    /// Lines of one phone about events that it ignored or found odd: a server can send millions of them in a second.
    package static let ignoredMax = 1_000

    /// Whether pings and progress events are written, too.
    package let isTracing: Bool
    /// Events that each phone ignored, of those that did.
    private var ignored: [DeviceNumber: Int] = [:]
    /// Ignored events beyond `ignoredMax`, which have no line.
    private(set) var leftOut = 0
    /// Kept for its memory.
    private var fields: ObservationFields

    /// `faults`: the ids of the scenario's faults, in its order.
    package init(isTracing: Bool, faults: [String]) {
        self.isTracing = isTracing
        self.fields = ObservationFields(line: JSONBytes(reserving: 512), faults: faults)
    }

    /// The line of an observation with its line feed; nil when it is not to be written.
    package mutating func line(_ observation: Observation) -> [UInt8]? {
        self.write(observation) ? self.fields.line.bytes : nil
    }

    /// Appends the same to a file, unless it is too long by then; false when it is.
    mutating func append(_ observation: Observation, to file: inout OutputFile, bytesMax: Int) -> Bool {
        guard self.write(observation) else { return true }
        guard file.bytes + self.fields.line.count <= bytesMax else { return false }
        file.append(self.fields.line)
        return true
    }

    /// Whether there is a line now.
    private mutating func write(_ observation: Observation) -> Bool {
        guard self.isTracing || !observation.isRoutine && !Self.isTraceOnly(observation.what) else {
            return false
        }
        guard self.isTracing || self.hasRoom(for: observation) else {
            self.leftOut += 1
            return false
        }
        self.fields.begin(at: observation.at, device: observation.device, scan: observation.scan)
        switch observation.what {
        case .phone(let sighting): self.fields.write(sighting)
        case .backend(let sighting): self.fields.write(sighting)
        case .fault(let sighting): self.fields.write(sighting)
        case .network(let sighting): self.fields.write(sighting)
        }
        self.fields.end()
        return true
    }

    private mutating func hasRoom(for observation: Observation) -> Bool {
        guard case .phone(let sighting) = observation.what, Self.changesLittle(sighting) else { return true }
        let count = self.ignored[observation.device, default: 0]
        guard count < Self.ignoredMax else { return false }
        self.ignored[observation.device] = count + 1
        return true
    }

    /// Events that a phone ignores, or takes note of and goes on, and what it finds odd in them.
    private static func changesLittle(_ sighting: PhoneSighting) -> Bool {
        switch sighting {
        case .eventIgnored, .found: true
        case .eventApplied(_, _, let kind, _, _): kind != .completed && kind != .error
        default: false
        }
    }

    /// What there is so much of that it would hide the rest.
    private static func isTraceOnly(_ what: Sighting) -> Bool {
        switch what {
        case .phone(.ping), .backend(.pingWritten): true
        case .phone(.eventApplied(_, _, let kind, _, _)): kind == .progress || kind == .ping
        case .backend(.eventWritten(_, _, _, let kind, _)): kind == .progress || kind == .ping
        case .network: true
        case .phone, .backend, .fault: false
        }
    }
}
