package import SimBase

/// What an app keeps of the review of its books, and what it takes for the same book (Docs/apps.md section 4.10).
package struct ReviewPolicy: Hashable, Sendable {
    package var storage = ReviewStorage.durable
    package var approvalOfAll = ApprovalOfAll.checked
    /// The time for which a book that comes is taken for one that waits with its ISBN, or with its title and author; nil if the
    /// app does not look for such.
    package var duplicateWindow: Interval?

    package init() {}
}

/// What is left of a review when the process ends.
package enum ReviewStorage: String, CaseIterable, Hashable, Sendable {
    /// Each book that waits, with its edits.
    case durable
    /// Nothing.
    case memory
}

/// Whether a book that is approved with all others is looked for in the library, as one that is approved alone.
package enum ApprovalOfAll: String, CaseIterable, Hashable, Sendable {
    case checked
    case unchecked
}

/// The person who reviews the books of a phone (Docs/design.md section 6).
package struct ReviewerPolicy: Hashable, Sendable {
    /// Whether there is one. Otherwise books enter the library as they come.
    package var isMade = false
    /// What the person does with a book. The rest waits for good.
    package var approve = Odds.percent(80)
    /// Corrects it, and approves it then.
    package var edit = Odds.percent(15)
    package var reject = Odds.percent(5)
    /// The time from the moment at which the person sees a book to the decision on it. Drawn for each book.
    package var after = Interval.seconds(2)...Interval.seconds(20)
    /// The sessions that end with the approval of everything at once.
    package var approveAll = Odds.never
    /// The photos of a shelf that was photographed before.
    package var again = Odds.never

    package init() {}
}
