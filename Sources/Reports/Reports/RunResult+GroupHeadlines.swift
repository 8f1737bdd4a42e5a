import Ledger
import RunJudge
import SimBase

// What the phones of one group cost their users, in one sentence for each group with something to report.
extension RunResult {
    struct GroupHeadline {
        let group: String
        let text: String
        /// Whether scans or books were lost or doubled.
        let isLoss: Bool
        /// Whether the profile broke what it is known for.
        let isKnown: Bool
    }

    /// The only group of a run has one where its profile broke what it is known for; the rest is the headline of the run.
    var groupHeadlines: [GroupHeadline] {
        let headlines = self.groups.compactMap(self.headline)
        return self.groups.count > 1 ? headlines : headlines.filter(\.isKnown)
    }

    /// Nil for a group that lost nothing and whose profile broke nothing that it is known for.
    func headline(of group: GroupResult) -> GroupHeadline? {
        let loss = self.part(group.name)?.lossSentence
        let known = self.knownViolations(group)
        guard loss != nil || known != nil else { return nil }
        return GroupHeadline(
            group: Printable.line(group.name), text: [loss, known].compactMap { $0 }.joined(separator: "; "),
            isLoss: loss != nil, isKnown: known != nil)
    }

    /// `25 violations of 5 invariants are expected for this profile`. What the scenario expects is not the profile's.
    private func knownViolations(_ group: GroupResult) -> String? {
        let known = group.verdicts.filter {
            $0.expected > 0 && !self.expectations.covers($0.invariant, of: group.name)
        }
        guard !known.isEmpty else { return nil }
        let count = known.reduce(0) { $0 + $1.expected }
        return "\(Figures.count(count, "violation", "violations")) of "
            + "\(Figures.count(known.count, "invariant", "invariants")) \(count == 1 ? "is" : "are") expected for this profile"
    }
}
