package import SimBase

/// The review of books: what an app keeps of it and looks for (Docs/apps.md section 4.10), and the person who makes it.
package struct ReviewPolicy: Hashable, Sendable {
    /// Whether books wait for their person. Off, they enter the library as they come.
    package var isMade = false
    /// Of each book, what its person does with it: nothing for the rest.
    package var approve = Odds.never
    /// Corrects it, and approves it then.
    package var edit = Odds.never
    package var reject = Odds.never
    /// The time from the moment at which the person sees a book to the decision on it. Drawn for each book.
    package var after = Interval.seconds(2)...Interval.seconds(20)
    /// The sessions that the person ends by approving everything at once.
    package var approveAll = Odds.never
    /// The photos of a shelf that was photographed before.
    package var again = Odds.never

    package var storage = ReviewStorage.durable
    package var approvesAll = ApprovalOfAll.checked
    /// The time for which a book that came is the same as one that has its ISBN, or its title and author; nil if the app does not
    /// look for such.
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
