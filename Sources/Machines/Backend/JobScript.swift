internal import Faults
internal import SimBase
internal import Talaria

/// The events of a job with their times: a pure function of the numbers of photos and books and the duration.
///
/// The messages are those of Docs/contract.md section 2.1, the shares those of B3's progress curve
/// (section 2.6), the times those of the recorded job in section 2.4: most of the time passes before the
/// books are identified.
struct JobScript: Hashable, Sendable {
    /// One event.
    enum Step: Hashable, Sendable {
        case initialized, analyzing, identified
        /// The n-th book was looked up, from 1.
        case enriched(Int)
        case completed
    }

    let photos: Int
    let books: Int
    let time: Interval

    /// The number of events.
    var count: Int { self.books + 4 }

    func step(at position: Int) -> Step {
        switch position {
        case ...0: .initialized
        case 1: .analyzing
        case 2: .identified
        case 3..<(3 + self.books): .enriched(position - 2)
        default: .completed
        }
    }

    /// The position of the first event that waits for this part of the work.
    func first(of phase: ScanPhase) -> Int {
        switch phase {
        case .analyzing: 1
        case .identifying: 2
        case .enriching: 3
        }
    }

    /// Returns the time of the event at a position, from the acceptance of the job.
    func offset(at position: Int) -> Interval {
        let thousandths: Int64
        switch self.step(at: position) {
        case .initialized: thousandths = 0
        case .analyzing: thousandths = 20
        case .identified: thousandths = 600
        case .enriched(let book): thousandths = 600 + 380 * Int64(book) / Int64(self.books)
        case .completed: thousandths = 1_000
        }
        let time = self.time.nanoseconds
        return Interval(nanoseconds: time / 1_000 * thousandths + time % 1_000 * thousandths / 1_000)
    }

    /// Returns the progress after the event at a position.
    func thousandths(at position: Int) -> Int {
        switch self.step(at: position) {
        case .initialized: 0
        case .analyzing: 100
        case .identified: 500
        case .enriched(let book): 500 + 450 * book / self.books
        case .completed: 1_000
        }
    }

    /// Returns `processedCount` and `totalCount`: photos until the books are identified, then books.
    func counts(at position: Int) -> (processed: Int, total: Int) {
        switch self.step(at: position) {
        case .initialized, .analyzing: (0, self.photos)
        case .identified: (0, self.books)
        case .enriched(let book): (book, self.books)
        case .completed: (self.books, self.books)
        }
    }

    /// The status of a `progress` event: a job status at first, then the stage.
    func status(at position: Int) -> String {
        switch self.step(at: position) {
        case .initialized: JobStatus.initialized.rawValue
        case .analyzing: ScanStage.analyzingImage.rawValue
        case .identified: ScanStage.identifyingBooks.rawValue
        case .enriched: ScanStage.enrichingMetadata.rawValue
        case .completed: ScanStage.complete.rawValue
        }
    }

    func append(messageAt position: Int, to text: inout ByteBuilder) {
        switch self.step(at: position) {
        case .initialized:
            text.append(literal: "Starting scan of ")
            Decimal.append(Int64(self.photos), to: &text)
            text.append(literal: " photos...")
        case .analyzing:
            text.append(literal: "Processing photo 1 of ")
            Decimal.append(Int64(self.photos), to: &text)
            text.append(literal: "...")
        case .identified:
            text.append(literal: "Identified ")
            Decimal.append(Int64(self.books), to: &text)
            text.append(literal: " books")
        case .enriched(let book):
            text.append(literal: "Enriched book ")
            Decimal.append(Int64(book), to: &text)
            text.append(literal: " of ")
            Decimal.append(Int64(self.books), to: &text)
        case .completed: text.append(literal: "Finalizing...")
        }
    }
}
