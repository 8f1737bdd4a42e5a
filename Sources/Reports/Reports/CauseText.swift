import Observations
import RunArchive
import SimBase

extension Cause {
    /// `injected by http-error-1`, `by the target`.
    var words: String {
        switch self {
        case .injected(let fault): "injected by \(Printable.line(fault))"
        case .target: "by the target"
        case .phone: "by the phone"
        case .path: "by the network"
        case .harness: "by this program"
        }
    }
}

extension CauseCounts {
    /// Causes that are named; the others are counted.
    private static let namesMax = 3

    /// `17 injected by http-error-1, 17 by the target`; of one cause, the cause alone.
    var words: String {
        let entries = self.byCount
        guard entries.count > 1 else { return entries.first?.cause.words ?? "" }
        let named = entries.count <= Self.namesMax + 1 ? entries[...] : entries.prefix(Self.namesMax)
        var words = named.map { "\(Figures.count($0.count)) \($0.cause.words)" }
        let others = entries.dropFirst(named.count)
        if !others.isEmpty {
            let sum = others.reduce(0) { $0 + $1.count }
            words.append("\(Figures.count(sum)) by \(Figures.count(others.count)) other causes")
        }
        return words.joined(separator: ", ")
    }

    var json: JSONValue {
        .array(
            self.entries.map { entry in
                var members: [String: JSONValue] = [
                    "by": .string(entry.cause.by), "count": .integer(entry.count),
                ]
                if let fault = entry.cause.fault { members["fault"] = .string(Printable.bounded(fault)) }
                return .object(members)
            })
    }
}
