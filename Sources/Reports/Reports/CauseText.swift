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

    var json: JSONValue { .object(self.members) }

    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["by": .string(self.by)]
        if let fault = self.fault { members["fault"] = .string(Printable.bounded(fault)) }
        return members
    }
}

extension CauseCounts {
    /// Causes that are named; the others are counted.
    private static let namesMax = 3

    /// `17 injected by http-error-1, 17 by the target`; of one cause, the cause alone.
    var words: String {
        self.entries.count > 1 ? self.countedWords : self.entries.first?.cause.words ?? ""
    }

    /// The same, with its number for a single cause as well.
    var countedWords: String {
        let entries = self.byCount
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
                var members = entry.cause.members
                members["count"] = .integer(entry.count)
                return .object(members)
            })
    }
}
