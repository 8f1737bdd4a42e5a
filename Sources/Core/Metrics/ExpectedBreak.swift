/// Something that must break for a run to pass: a scenario whose point is a broken client names what it breaks
/// (`expect-broken`).
package enum ExpectedBreak: Hashable, Sendable {
    /// An invariant, by its id in reports.
    case invariant(id: String)
    /// The objectives on a metric: those of its scope, or of any scope where it names no group.
    case objectives(MetricSelector)

    /// The name in scenario files.
    package var name: String {
        switch self {
        case .invariant(let id): id
        case .objectives(let selector): selector.description
        }
    }

    /// Whether it speaks of an objective on this metric and scope.
    package func covers(_ selector: MetricSelector) -> Bool {
        guard case .objectives(let mine) = self, mine.metric == selector.metric else { return false }
        return mine.scope == .fleet || mine.scope == selector.scope
    }
}
