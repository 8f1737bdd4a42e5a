import JSON
import Ledger
import Observations
import RunMetrics
import SimBase
import Talaria

extension FindingsTable {
    /// Reads the table of `summary.json`.
    init(reading array: JSONNode?) {
        self.init()
        for value in array?.elements ?? [] {
            if let other = value["other"]?.integer {
                self.addOther(other)
                continue
            }
            guard let name = value["operation"]?.text,
                let operation = Operation.allCases.first(where: { $0.name == name }),
                let part = value["part"]?.text, let path = value["path"]?.text,
                let expected = value["expected"]?.text, let seen = value["seen"]?.text,
                let count = value["count"]?.integer, count > 0, let at = value["first"]?["at"]?.scaled(6),
                let device = value["first"]?["device"]?.integer(UInt32.self)
            else { continue }
            let scan = value["first"]?["scan"]?.integer(UInt32.self)
            self.add(
                Row(
                    finding: ContractFinding(
                        operation: operation, part: part, path: path, expected: expected, seen: seen,
                        excerpt: value["excerpt"]?.text, isDecisive: value["used"]?.flag == false,
                        count: count),
                    first: Instant(nanoseconds: at), device: DeviceNumber(device),
                    scan: scan.map { ScanNumber($0) } ?? .none,
                    causes: CauseCounts(reading: value["causes"])))
        }
    }
}

extension CauseCounts {
    /// Reads the member `causes` of `summary.json` and of the evidence.
    init(reading array: JSONNode?) {
        self.init()
        for value in array?.elements ?? [] {
            guard let by = value["by"]?.text, let cause = Cause(by: by, fault: value["fault"]?.text),
                let count = value["count"]?.count
            else { continue }
            self.add(cause, count)
        }
    }
}
