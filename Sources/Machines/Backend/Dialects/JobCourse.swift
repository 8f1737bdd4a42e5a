internal import Faults
internal import SimBase
internal import Talaria

/// The events of a job before its end, as a table: what they say, and when.
struct JobCourse: Hashable, Sendable {
    /// What `processedCount` and `totalCount` count.
    enum Counted: Hashable, Sendable { case photos, books, rows }

    /// Events of one kind, one after another.
    struct Stage: Hashable, Sendable {
        /// `ticks`: as many as the time asks for.
        enum Count: Hashable, Sendable { case one, photos, books, ticks }
        enum Message: Hashable, Sendable {
            case text(String)
            /// `Starting scan of 2 photos...`
            case starting
            /// `Processing photo 1 of 2...`
            case processing
            /// `Identified 5 books`
            case identified
            /// `Enriching 5 detected books...`
            case enriching
            /// `Enriched book 1 of 5`
            case enriched
            /// `Enriching book 1 of 5...`
            case enrichingBook
        }

        var count = Count.one
        /// The end of the stage before, and of this one, in parts of the job time. Several events are spread evenly.
        var from: Int64 = 0
        var to: Int64
        /// The same for the progress, in thousandths.
        var progressFrom = 0
        var progressTo: Int
        var status: String
        var message: Message
        var phase: ScanPhase?
        var counts: Counted
        /// The first event has the number of books in `count_detected`.
        var tellsBooks = false
        /// The events, or for each photo or book these.
        var events = [Said.progress]
        /// The name and the id of the events; nil for those of the dialect.
        var form: EventForm?
        /// The event as it was captured, instead of one that is made up.
        var captured: Capture.Event?

        var hasResults: Bool { self.events.contains { $0.kind == .result } }
    }

    /// What an event says (Docs/contract.md section 2.1).
    enum Said: Hashable, Sendable {
        case progress
        case result(ResultForm)
        /// The preview of the photo.
        case segmented
        /// The book comes next that the events after it are about.
        case bookProgress

        var kind: EventKind {
            switch self {
            case .progress: .progress
            case .result: .result
            case .segmented: .segmented
            case .bookProgress: .bookProgress
            }
        }
    }

    /// The data of a `result` event.
    enum ResultForm: Hashable, Sendable {
        /// The members of a `progress` event, and the book under the key `book`.
        case nested(BookForm)
        /// The members of the book.
        case flat(BookForm)
    }

    /// The job time, in the unit of the stages.
    var length: Int64
    var stages: [Stage]
    /// What is counted at the end.
    var counted = Counted.books

    var hasResults: Bool { self.stages.contains { $0.hasResults } }

    /// The same course with progressive results: a preview as soon as the books are identified, and each book by itself. A
    /// captured stream is as it was.
    var progressive: JobCourse {
        guard let identified = self.stages.firstIndex(where: { $0.phase == .identifying }) else {
            return self
        }
        var course = self
        for index in course.stages.indices where course.stages[index].count == .books {
            course.stages[index].events.insert(.bookProgress, at: 0)
            guard !self.stages[index].hasResults else { continue }
            course.stages[index].events.append(.result(.flat(.contract)))
        }
        var preview = self.stages[identified]
        (preview.events, preview.phase, preview.tellsBooks) = ([.segmented], nil, false)
        course.stages.insert(preview, at: identified + 1)
        return course
    }

    /// The messages are those of Docs/contract.md section 2.1, the progress is B3's curve (section 2.6), the times are
    /// near those of the recorded job in section 2.4: most of the time passes before the books are identified.
    static let contract = JobCourse(
        length: 1_000,
        stages: [
            Stage(
                to: 0, progressTo: 0, status: JobStatus.initialized.rawValue, message: .starting,
                counts: .photos),
            Stage(
                to: 20, progressTo: 100, status: ScanStage.analyzingImage.rawValue, message: .processing,
                phase: .analyzing, counts: .photos),
            Stage(
                to: 600, progressTo: 500, status: ScanStage.identifyingBooks.rawValue, message: .identified,
                phase: .identifying, counts: .books),
            Stage(
                count: .books, from: 600, to: 980, progressFrom: 500, progressTo: 950,
                status: ScanStage.enrichingMetadata.rawValue, message: .enriched, phase: .enriching,
                counts: .books),
        ])
}
