import SimBase

/// Something that must break for a run to pass: a scenario whose point is a broken client names what it breaks
/// (`expect-broken`).
///
/// An entry belongs to the group that it names. One without a group is about the groups that `Scenario.groupsExpectedToBreak`
/// lists; `groups` of the queries is that list, nil for all groups.
package enum ExpectedBreak: Hashable, Sendable {
    /// An invariant, by its id in reports, broken by phones of this scope.
    case invariant(id: String, scope: MetricScope)
    /// The objectives on a metric.
    case objectives(MetricSelector)

    /// The name in scenario files.
    package var name: String {
        switch self {
        case .invariant(let id, let scope): id + scope.suffix
        case .objectives(let selector): selector.description
        }
    }

    package var scope: MetricScope {
        switch self {
        case .invariant(_, let scope): scope
        case .objectives(let selector): selector.scope
        }
    }

    /// Whether it is about an objective on this metric and scope.
    package func covers(_ selector: MetricSelector, groups: [String]?) -> Bool {
        guard case .objectives(let mine) = self, mine.metric == selector.metric else { return false }
        return switch selector.scope {
        case .fleet: mine.scope == .fleet
        case .group(let name): self.covers(group: name, groups)
        }
    }

    /// Whether it is about the violations of an invariant by the phones of one group, or by no single phone.
    package func covers(invariant: String, group: String?, groups: [String]?) -> Bool {
        guard case .invariant(let id, let scope) = self, id == invariant else { return false }
        return group.map { self.covers(group: $0, groups) } ?? (scope == .fleet)
    }

    private func covers(group: String, _ groups: [String]?) -> Bool {
        switch self.scope {
        case .fleet: groups?.contains(group) ?? true
        case .group(let name): name == group
        }
    }
}

extension ExpectedBreak {
    /// Reads `invariant` or `invariant{group:name}`; nil if the name is none of `invariants`. Those of the whole fleet take no
    /// group.
    package init?(
        parsing text: String, invariants: [String], ofWholeFleet: [String], vocabulary: SLOVocabulary
    ) throws(SLOError) {
        var scanner = try SLOScanner(text)
        let name = scanner.takeName()
        guard invariants.contains(name) else { return nil }
        let scope = try MetricScope(
            &scanner, of: name, ofWholeFleet: ofWholeFleet.contains(name) ? "judged" : nil,
            after: "the invariant", vocabulary)
        self = .invariant(id: name, scope: scope)
    }
}
