import SimBase

// The values of the review of books (Docs/apps.md section 4.10). A client whose books nobody reviews needs none of them.

extension ProfileDescription {
    static let review: [ProfileDescription] = [
        ProfileDescription(
            "review.storage", .contract(apps: "section 4.10", design: true), { $0.review.storage.rawValue }
        ) {
            switch $0.review.storage {
            case .durable:
                """
                A book that waits for its person is stored with its scan, number, data and edits before the scan \
                counts as completed. A decision is stored as one write: the book leaves the review and, if it was \
                approved, enters the library. A new process continues with all that waits.
                """
            case .memory:
                "Books that wait for their person are in memory only, with their edits. They go with the process."
            }
        },
        ProfileDescription(
            "review.approval-of-all", .contract(apps: "section 4.10", design: true),
            { $0.review.approvalOfAll.rawValue }
        ) {
            switch $0.review.approvalOfAll {
            case .checked:
                """
                A book whose ISBN the library has is not added when it is approved, alone or with all others: it is \
                merged into that one. Other books that wait with the ISBN of an approved one are merged into it, \
                unless they were edited.
                """
            case .unchecked:
                """
                A book that is approved alone is not added if the library has its ISBN. If all books are approved at \
                once, every one is added.
                """
            }
        },
        ProfileDescription(
            "review.duplicate-window", .contract(apps: "section 4.10", design: true),
            { $0.review.duplicateWindow.map(Self.text) ?? "off" }
        ) {
            $0.review.duplicateWindow.map {
                """
                A book that comes within \(Self.prose($0)) of one that waits with the same ISBN, or the same title and \
                author, is merged into it.
                """
            } ?? "Every book that comes waits, also if another one that waits has its ISBN."
        },
    ]
}
