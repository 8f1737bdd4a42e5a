import SimBase
package import Talaria

/// Observations as text, one JSON object a line with a fixed order of keys:
///
///     {"t":1250000000,"device":7,"scan":2,"side":"phone","what":"stream-lost","job":…,"attempt":1,"cause":"reset",…}
///
/// `t` is nanoseconds since the start of the run, durations end in `_ns`, and what does not apply is null. Text of
/// others is bounded. Observations hold no tokens, so no line does.
package struct ObservationLog: ~Copyable {
    /// What is kept of one piece of text in UTF-8 bytes.
    package static let textBytesMax = 256

    /// Whether pings and progress events are written, too.
    package let isTracing: Bool
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
