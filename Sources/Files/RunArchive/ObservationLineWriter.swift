import JSON
import Observations
import SimBase
import Talaria

/// Writes an observation as a line of `events.ndjson`.
struct ObservationLineWriter: ~Copyable {
    private(set) var line = JSONWriter(.log, reserving: 512)
    /// The ids of the faults in the order of the scenario.
    private let faults: [String]

    init(faults: [String]) { self.faults = faults }

    /// Replaces the line by that of another observation, with its line feed. `logBytes`: of `ProgressFile`.
    mutating func write(_ observation: borrowing Observation, _ cause: Cause? = nil, logBytes: Int? = nil) {
        self.line.removeAll()
        self.line.openObject()
        self.line.member("t", observation.at.nanoseconds)
        self.line.member("device", observation.device.raw)
        _ = self.number("scan", observation.scan == .none ? nil : Int64(observation.scan.raw))
        observation.what.write(to: &self)
        if let cause {
            self.line.member("by", cause.by)
            if let fault = cause.fault { _ = self.text("fault", fault) }
        }
        if let logBytes { self.line.member("log_bytes", logBytes) }
        self.line.closeObject()
        self.line.newline()
    }
}

extension ObservationLineWriter: FieldCodec {
    var isReader: Bool { false }

    mutating func begin(_ side: Side, _ name: StaticString) {
        self.line.member("side", side.rawValue)
        self.line.member("what", name)
    }

    mutating func number(_ key: StaticString, _ value: Int64?) -> Int64? {
        self.line.key(key)
        if let value { self.line.integer(value) } else { self.line.null() }
        return value
    }

    mutating func identifier(_ key: StaticString, _ value: UInt64) -> UInt64 {
        self.line.member(key, value)
        return value
    }

    mutating func flag(_ key: StaticString, _ value: Bool?) -> Bool? {
        self.line.key(key)
        if let value { self.line.flag(value) } else { self.line.null() }
        return value
    }

    mutating func text(_ key: StaticString, _ value: String?) -> String? {
        _ = self.name(key, value.map { Printable.bounded($0, bytesMax: ObservationLog.textBytesMax) })
        return value
    }

    mutating func name(_ key: StaticString, _ value: String?) -> String? {
        self.line.key(key)
        if let value { self.line.text(value) } else { self.line.null() }
        return value
    }

    mutating func fault(_ index: Int) -> Int {
        _ = self.text("fault", self.faults.indices.contains(index) ? self.faults[index] : "#\(index)")
        return index
    }
}
