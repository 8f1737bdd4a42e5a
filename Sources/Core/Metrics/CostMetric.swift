/// The costs of a run, in dollars. They need the prices of a scenario (Docs/design.md section 7).
package enum CostMetric: String, CaseIterable, Sendable {
    case total = "cost.total"
    case perBook = "cost.per-book"
    case perMonth = "cost.per-month"
}

extension CostMetric: MetricCase {
    package var ordinal: Int {
        switch self {
        case .total: 0
        case .perBook: 1
        case .perMonth: 2
        }
    }

    package var better: Better { .lower }

    /// The phone sees for itself by which way a book came.
    package var needsBackend: Bool { false }

    /// What it is, as text.
    package var meaning: String {
        switch self {
        case .total: "books that came by a photo and books whose text was looked up, each at its price"
        case .perBook: "`cost.total` divided by the number of these books"
        case .perMonth: "`cost.per-book` times `books-per-month` of the scenario"
        }
    }
}
