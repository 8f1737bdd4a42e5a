/// Whose text a book has after its look-up, as it is observed.
package struct TextOutcome: Hashable, Sendable {
    package let title: Reconciliation.Source
    package let author: Reconciliation.Source
    /// Fields whose texts differ.
    package let discrepancies: Int

    package init(title: Reconciliation.Source, author: Reconciliation.Source, discrepancies: Int) {
        self.title = title
        self.author = author
        self.discrepancies = discrepancies
    }

    package init(_ merged: Reconciliation) {
        func source(_ field: Reconciliation.Field) -> Reconciliation.Source {
            merged.discrepancies.first { $0.field == field }?.taken ?? merged.source
        }
        self.init(
            title: source(.title), author: source(.author), discrepancies: merged.discrepancies.count)
    }
}
