import Ledger
import SimBase

extension RunResult {
    /// Notes parts of the fleet of which nothing is known, as a shard that died: what held for the others is not known of the
    /// whole. What was broken stays broken.
    package mutating func lack(_ parts: [String]) {
        guard !parts.isEmpty else { return }
        for part in parts {
            self.generator.complaints.append(
                "no evidence of \(Printable.line(part)): what these phones did is not known")
        }
        self.verdicts = self.verdicts.map(\.notKnownOfAll)
        for index in self.groups.indices {
            self.groups[index].verdicts = self.groups[index].verdicts.map(\.notKnownOfAll)
        }
        self.exit = self.judgement(failures: Set([self.exit.failure].compactMap { $0 })).exit
    }
}

extension Verdict {
    fileprivate var notKnownOfAll: Verdict {
        var verdict = self
        switch self.standing {
        case .held: verdict.standing = .notAvailable
        case .broken, .brokenAsExpected, .notAvailable: break
        }
        return verdict
    }
}
