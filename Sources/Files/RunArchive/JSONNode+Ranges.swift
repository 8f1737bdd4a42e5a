package import JSON
import Observations

// Numbers of the files of a run, within the ranges that a run can reach.
extension JSONNode {
    /// More than any run can count, and little enough that sums and products of what was read fit.
    package static let countMax = 1 << 50

    /// The number as a count of things; nil for one that no run can have counted.
    package var count: Int? {
        self.integer.flatMap { (0...Self.countMax).contains($0) ? $0 : nil }
    }

    /// The number as a time or length in nanoseconds that a run can reach. `decimals`: of the text, see
    /// `scaled`.
    package func nanoseconds(_ decimals: Int) -> Int64? {
        self.scaled(decimals).flatMap { ObservationRange.time.contains($0) ? $0 : nil }
    }

    /// Whether every whole number in it is one that a run can have counted, but for those of these keys.
    package func holdsCounts(except keys: Set<String>) -> Bool {
        switch self.kind {
        case .number:
            let whole = (self.digits?.prefix { $0 != "." }).flatMap { Int64($0) }
            return whole.map { $0.magnitude <= UInt64(Self.countMax) } ?? false
        case .object:
            return self.members.allSatisfy { keys.contains($0.key) || $0.value.holdsCounts(except: keys) }
        case .array: return self.elements.allSatisfy { $0.holdsCounts(except: keys) }
        case .string, .bool, .null: return true
        }
    }

    /// The number in units of the last of so many digits after the point; nil if it has more, or does not fit.
    package func scaled(_ decimals: Int) -> Int64? {
        guard let parts = self.digits?.split(separator: ".", omittingEmptySubsequences: false) else {
            return nil
        }
        let fraction = parts.count > 1 ? parts[1] : ""
        guard parts.count <= 2, fraction.count <= decimals else { return nil }
        return Int64(parts[0] + fraction + String(repeating: "0", count: decimals - fraction.count))
    }
}
