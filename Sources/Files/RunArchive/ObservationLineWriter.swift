import Observations
import SimBase
import Talaria

/// Writes an observation as a line of `events.ndjson`.
struct ObservationLineWriter: ~Copyable {
    private(set) var line: JSONBytes
    /// The ids of the faults in the order of the scenario.
    private let faults: [String]

    init(line: consuming JSONBytes, faults: [String]) {
        self.line = line
        self.faults = faults
    }

    /// Replaces the line by that of another observation, with its line feed.
    mutating func write(_ observation: borrowing Observation) {
        self.line.removeAll()
        self.line.literal("{\"t\":")
        self.line.number(observation.at.nanoseconds)
        self.number("device", Int64(observation.device.raw))
        self.number("scan", observation.scan == .none ? nil : Int64(observation.scan.raw))
        observation.what.write(to: &self)
        self.line.literal("}\n")
    }

    private mutating func key(_ key: StaticString) {
        self.line.literal(",\"")
        self.line.literal(key)
        self.line.literal("\":")
    }
}

extension ObservationLineWriter: FieldWriter {
    mutating func begin(_ side: Side, _ name: StaticString) {
        self.name("side", side.rawValue)
        self.key("what")
        self.line.literal("\"")
        self.line.literal(name)
        self.line.literal("\"")
    }

    mutating func number(_ key: StaticString, _ value: Int64?) {
        self.key(key)
        if let value { self.line.number(value) } else { self.line.literal("null") }
    }

    mutating func identifier(_ key: StaticString, _ value: UInt64) {
        self.key(key)
        self.line.number(value)
    }

    mutating func flag(_ key: StaticString, _ value: Bool?) {
        self.key(key)
        self.line.literal(value.map { $0 ? "true" : "false" } ?? "null")
    }

    mutating func text(_ key: StaticString, _ value: String?) {
        self.key(key)
        guard let value else { return self.line.literal("null") }
        self.line.string(Printable.bounded(value, bytesMax: ObservationLog.textBytesMax))
    }

    mutating func name(_ key: StaticString, _ value: String?) {
        self.key(key)
        guard let value else { return self.line.literal("null") }
        self.line.literal("\"")
        self.line.raw(value)
        self.line.literal("\"")
    }

    mutating func fault(_ index: Int) {
        self.text("fault", self.faults.indices.contains(index) ? self.faults[index] : "#\(index)")
    }
}
