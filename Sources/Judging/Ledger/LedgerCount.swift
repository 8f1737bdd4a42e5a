package import Metrics
import Talaria

/// One count of the ledger. The sum of parts of a run, `summary.json` in both directions and the table of metrics are made
/// from `all`: a new count is a property of the totals, a row here and, if it has a metric, a row in `CountMetric`.
package struct LedgerCount: Sendable {
    package typealias Path = any WritableKeyPath<LedgerTotals, Int> & Sendable

    /// The section of `summary.json`.
    package enum Section: String, CaseIterable, Sendable {
        case scans, books, rows, lookups, texts, cost, jobs
    }

    /// When `summary.json` has the count.
    package enum Presence: Sendable {
        case always
        /// `n/a` where the backend is not observed.
        case observed
        /// Only if this count is not 0.
        case ifAny(Path)
        /// If it is not 0, or the journey of a group may keep jobs.
        case ifKept
        /// Where the run has a `BookFlow` to show.
        case withFlow
    }

    package let section: Section
    package let name: String
    package let path: Path
    package let metric: CountMetric?
    package let presence: Presence

    private init(
        _ section: Section, _ name: String, _ path: Path, _ metric: CountMetric? = nil,
        _ presence: Presence = .always
    ) {
        self.section = section
        self.name = name
        self.path = path
        self.metric = metric
        self.presence = presence
    }

    package static let all: [Self] = [
        Self(.scans, "captured", \.scans.captured, .scansCaptured),
        Self(.scans, "restored", \.scans.restored),
        Self(.scans, "completed", \.scans.completed, .scansCompleted),
        Self(.scans, "refused", \.scans.refused, .scansRefused),
        Self(.scans, "refused_unexplained", \.scans.refusedUnexplained, .scansRefusedUnexplained),
        Self(.scans, "canceled", \.scans.canceled, .scansCanceled, .ifAny(\.scans.canceled)),
        Self(.scans, "lost", \.scans.lost, .scansLost),
        Self(.scans, "open", \.scans.open),
        Self(.books, "expected", \.books.expected, .booksExpected, .observed),
        Self(.books, "received", \.books.received, .booksReceived),
        Self(.books, "pending", \.books.pending, .booksPending, .observed),
        Self(.books, "missing", \.books.missing, .booksMissing, .observed),
        Self(.books, "duplicated", \.books.duplicated, .booksDuplicated),
        Self(.books, "repeated", \.books.repeated),
        Self(.books, "shown", \.books.shown, nil, .ifAny(\.books.shown)),
        Self(.books, "withdrawn", \.books.withdrawn, nil, .withFlow),
        Self(.books, "refused", \.books.refused, nil, .withFlow),
        Self(.books, "canceled", \.books.canceled, nil, .withFlow),
        Self(.books, "discarded", \.books.discarded, nil, .withFlow),
        Self(.books, "scans", \.books.finds, nil, .ifAny(\.books.finds)),
        Self(.books, "promised_scans", \.books.promises, nil, .ifAny(\.books.finds)),
        Self(.books, "promised_none", \.books.emptyPromises, nil, .ifAny(\.books.finds)),
        Self(.books, "asked", \.books.asked, nil, .ifAny(\.books.asked)),
        Self(.books, "unknown", \.books.unknown, .booksUnknown, .ifAny(\.books.asked)),
        Self(.books, "unjudged", \.books.unjudged, nil, .ifAny(\.books.asked)),
        Self(.books, "reviewed", \.books.review.came, nil, .ifAny(\.books.review.came)),
        Self(.books, "review_pending", \.books.review.pending, .reviewPending, .ifAny(\.books.review.came)),
        Self(.books, "review_approved", \.books.review.approved, nil, .ifAny(\.books.review.came)),
        Self(.books, "review_rejected", \.books.review.rejected, nil, .ifAny(\.books.review.came)),
        Self(.books, "review_merged", \.books.review.merged, nil, .ifAny(\.books.review.came)),
        Self(.books, "review_discarded", \.books.review.discarded, nil, .ifAny(\.books.review.discarded)),
        Self(.books, "review_lost", \.books.review.lost, .reviewLost, .ifAny(\.books.review.came)),
        Self(.books, "review_edited", \.books.review.edited, nil, .ifAny(\.books.review.came)),
        Self(.rows, "sent", \.rows.sent),
        Self(.rows, "created", \.rows.counts.created, .rowsCreated),
        Self(.rows, "updated", \.rows.counts.updated, .rowsUpdated),
        Self(.rows, "skipped", \.rows.counts.skipped, .rowsSkipped),
        Self(.rows, "failed", \.rows.counts.failed, .rowsFailed),
        Self(.rows, "pending", \.rows.counts.pending),
        Self(.rows, "missing", \.rows.missing, .rowsMissing),
        Self(.rows, "withdrawn", \.rows.withdrawn),
        Self(.rows, "unsettled", \.rows.unsettled),
        Self(.rows, "unread", \.rows.unread, nil, .observed),
        Self(.rows, "canceled", \.rows.canceled, nil, .ifAny(\.rows.canceled)),
        Self(.rows, "imports", \.rows.imports, nil, .ifAny(\.rows.imports)),
        Self(.rows, "failed_whole", \.rows.failedWhole, nil, .ifAny(\.rows.imports)),
        Self(.rows, "skipped_whole", \.rows.skippedWhole, nil, .ifAny(\.rows.imports)),
        Self(.lookups, "billed", \.lookups.billed, .lookupsBilled),
        Self(.lookups, "unknown", \.lookups.unknown),
        Self(.lookups, "repeated", \.lookups.repeated, .lookupsRepeated),
        Self(.texts, "enriched", \.texts.enriched, .textsEnriched),
        Self(.texts, "kept", \.texts.kept, .textsKept),
        Self(.texts, "photos", \.texts.photos, .textsPhotos),
        Self(.texts, "right", \.texts.right, nil, .observed),
        Self(.texts, "wrong", \.texts.wrong, nil, .observed),
        Self(.cost, "photo_books", \.costs.photo.books),
        Self(.cost, "photo_requests", \.costs.photo.requests),
        Self(.cost, "photo_bytes", \.costs.photo.bytes),
        Self(.cost, "text_books", \.costs.text.books),
        Self(.cost, "text_requests", \.costs.text.requests),
        Self(.cost, "text_bytes", \.costs.text.bytes),
        Self(.cost, "other_books", \.costs.otherBooks),
        Self(.jobs, "accepted", \.jobs.accepted, .jobsAccepted),
        Self(.jobs, "cleaned", \.jobs.cleaned, .jobsCleaned),
        Self(.jobs, "abandoned", \.jobs.abandoned, .jobsAbandoned),
        Self(.jobs, "orphaned", \.jobs.orphaned, .jobsOrphaned, .observed),
        Self(.jobs, "expired", \.jobs.expired, nil, .observed),
        Self(.jobs, "kept", \.jobs.kept, nil, .ifKept),
        Self(.jobs, "cleanup_unfinished", \.jobs.unfinishedCleanups, .cleanupUnfinished),
        Self(.jobs, "circuits_opened", \.jobs.circuitsOpened, nil, .ifAny(\.jobs.circuitsOpened)),
    ]
}
