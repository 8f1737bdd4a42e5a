import Ledger
package import RunJudge
import SimBase

/// What a search keeps of one seed. A worker hands it to its parent as one line of text.
package struct SeedResult: Hashable, Sendable {
    package var seed: UInt64
    package var digest: UInt64
    package var events: Int
    package var scans: Int
    package var kinds: [FailureKind]
    /// An error of the simulation itself.
    package var failure: String?
    package var reached: [CoverageGoal]
    /// Names of the kinds of faults that fired, in alphabetical order.
    package var fired: [String]

    package init(
        seed: UInt64, digest: UInt64, events: Int, scans: Int, kinds: [FailureKind], failure: String?,
        reached: [CoverageGoal], fired: [String]
    ) {
        self.seed = seed
        self.digest = digest
        self.events = events
        self.scans = scans
        self.kinds = kinds
        self.failure = failure
        self.reached = reached
        self.fired = fired
    }

    package var isFailing: Bool { !self.kinds.isEmpty }

    // MARK: Lines

    /// The fields, separated by tabs, without the end of the line.
    package var line: String {
        let failure = String((self.failure ?? "").map { $0 == "\t" || $0.isNewline ? " " : $0 })
        return [
            String(self.seed), Hexadecimal.text(self.digest, digits: 16), String(self.events),
            String(self.scans), self.kinds.map(\.line).joined(separator: ","),
            self.reached.map(\.rawValue).joined(separator: ","), self.fired.joined(separator: ","), failure,
        ].joined(separator: "\t")
    }

    /// Reads a line; nil if it is none.
    package init?(line: String) {
        let fields = line.split(separator: "\t" as Character, omittingEmptySubsequences: false).map(
            String.init)
        guard fields.count == 8, let seed = UInt64(fields[0]), let digest = UInt64(fields[1], radix: 16),
            let events = Int(fields[2]), let scans = Int(fields[3])
        else { return nil }
        func list<Value>(_ text: String, _ read: (String) -> Value?) -> [Value]? {
            let words = text.split(separator: ",").map(String.init)
            let values = words.compactMap(read)
            return values.count == words.count ? values : nil
        }
        guard let kinds = list(fields[4], { FailureKind(line: $0) }),
            let reached = list(fields[5], { CoverageGoal(rawValue: $0) })
        else { return nil }
        self.init(
            seed: seed, digest: digest, events: events, scans: scans, kinds: kinds,
            failure: fields[7].isEmpty ? nil : fields[7], reached: reached,
            fired: fields[6].split(separator: ",").map(String.init))
    }
}

extension FailureKind {
    /// `book.never-lost/contract`.
    fileprivate var line: String { self.client.map { "\(self.name)/\($0)" } ?? self.name }

    fileprivate init?(line: String) {
        let parts = line.split(separator: "/", maxSplits: 1).map(String.init)
        if parts == [Self.simulation.name] {
            self = .simulation
        } else if let name = parts.first, let invariant = Invariant(rawValue: name) {
            self = .invariant(invariant, client: parts.count > 1 ? parts[1] : nil)
        } else {
            return nil
        }
    }
}
