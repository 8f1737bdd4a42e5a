import JSON
package import Observations
import SimBase
import Talaria

/// Observations as text, one JSON object a line with a fixed order of keys:
///
///     {"t":1250000000,"device":7,"scan":2,"side":"phone","what":"stream-lost","job":…,"attempt":1,"cause":"reset",…}
///
/// `t` is nanoseconds since the start of the run, durations end in `_ns`, and what does not apply is null. Errors and findings
/// end with `by` and, where a fault has injected them, with `fault`: the members of `cause` in
/// `summary.json`, which the judge adds. They are not fields of the observation. Text of others is bounded.
/// Observations hold no tokens, so no line does.
package struct ObservationLog: ~Copyable {
    /// The maximum length of one text in the log, in UTF-8 bytes.
    package static let textBytesMax = 256

    /// Lines of one phone about events that it ignored or found odd: a server can send millions of them in a second.
    package static let ignoredMax = 1_000

    /// Whether pings and progress events are written, too.
    package let isTracing: Bool
    /// The ids of the scenario's faults, in its order.
    let faults: [String]
    /// Events that each phone ignored, of those that did.
    private var ignored: [DeviceNumber: Int] = [:]
    /// Ignored events beyond `ignoredMax`, which have no line.
    private(set) var leftOut = 0
    /// Kept for its memory.
    private var writer: ObservationLineWriter

    package init(isTracing: Bool, faults: [String]) {
        self.isTracing = isTracing
        self.faults = faults
        self.writer = ObservationLineWriter(faults: faults)
    }

    /// The line of an observation with its line feed; nil when it is not to be written.
    package mutating func line(_ observation: Observation, cause: Cause? = nil) -> [UInt8]? {
        self.write(observation, cause) ? self.writer.line.bytes : nil
    }

    /// Appends the same to a file, unless it is too long by then; false when it is.
    mutating func append(
        _ observation: Observation, _ cause: Cause?, to file: inout OutputFile, bytesMax: Int
    ) -> Bool {
        guard self.write(observation, cause) else { return true }
        guard file.bytes + self.writer.line.count <= bytesMax else { return false }
        file.append(self.writer.line)
        return true
    }

    /// Whether there is a line now.
    private mutating func write(_ observation: Observation, _ cause: Cause?) -> Bool {
        guard self.isTracing || self.hasRoom(for: observation) else { return false }
        self.writer.write(observation, cause)
        return true
    }

    private mutating func hasRoom(for observation: Observation) -> Bool {
        switch observation.level {
        case .routine, .trace: return false
        case .always: return true
        case .limited: break
        }
        let count = self.ignored[observation.device, default: 0]
        guard count < Self.ignoredMax else {
            self.leftOut += 1
            return false
        }
        self.ignored[observation.device] = count + 1
        return true
    }
}
