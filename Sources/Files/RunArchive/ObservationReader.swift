import JSON
package import Observations
import SimBase
import Talaria

/// Reads lines of `events.ndjson`, as `ObservationLineWriter` wrote them.
///
/// What a line does not contain is not made up: a book has no confidence and no cover.
package struct ObservationReader: Sendable {
    /// The ids of the faults in the order of the scenario.
    private let faults: [String]

    package init(faults: [String]) { self.faults = faults }

    /// Returns nil for a line that this program did not write, or not all of it.
    package func observation(_ bytes: ArraySlice<UInt8>) -> Observation? {
        guard let line = JSONNode(Array(bytes)), let device = line["device"]?.integer(UInt32.self),
            let scan = line["scan"].map({ $0.isNull ? 0 : $0.integer(UInt32.self) }) ?? 0,
            let side = line["side"]?.text.flatMap(Side.init), let name = line["what"]?.text
        else { return nil }
        var fields = LineFields(line: line, faults: self.faults)
        guard let moment = fields.moment("t"),
            let payload = try? ObservationPayload(side, name, from: &fields)
        else { return nil }
        return Observation(
            at: moment, device: DeviceNumber(device), scan: ScanNumber(scan), what: payload)
    }
}

/// The fields of a line, by their keys.
private struct LineFields: FieldCodec {
    let line: JSONNode
    let faults: [String]

    var isReader: Bool { true }

    func number(_ key: StaticString, _ value: Int64?) -> Int64? {
        self.line[key.description]?.integer(Int64.self)
    }

    func identifier(_ key: StaticString, _ value: UInt64) throws(MalformedObservation) -> UInt64 {
        guard let number = self.line[key.description]?.integer(UInt64.self) else {
            throw MalformedObservation()
        }
        return number
    }

    func flag(_ key: StaticString, _ value: Bool?) -> Bool? {
        self.line[key.description]?.flag
    }

    func text(_ key: StaticString, _ value: String?) -> String? {
        self.line[key.description]?.text
    }

    func fault(_ index: Int) throws(MalformedObservation) -> Int {
        guard let id = self.line["fault"]?.text,
            let fault = self.faults.firstIndex(of: id) ?? UInt16(id.dropFirst()).map({ Int($0) })
        else { throw MalformedObservation() }
        return fault
    }
}
