import SimBase
import Talaria

/// What the event at the end of a batch said of books that were not found. Each such event replaces the one
/// before.
enum BatchEnd: Hashable, Sendable {
    /// Nothing: all of them have to come.
    case silent
    case counted(BookFailures)
    /// The event could not be read, because a fault of the run had changed it.
    case garbled
}

/// One scan that is still followed: it is not settled, or a job of it is not.
struct ScanAccount: Sendable {
    enum State: Hashable, Sendable {
        /// Unsettled. Leaves to any other.
        case open
        /// The phone said that all its books are in the library, which may have been wrong. Final.
        case completed
        /// Final.
        case refused
        /// Its user has canceled it. Final.
        case canceled
        /// Gone by something that has a name, and that the user did or saw. Final.
        case discarded
        /// A record on disk after the run. Final.
        case waiting
        /// Not found after the run. Final.
        case lost
    }

    let number: ScanNumber
    /// An earlier run left it in the state folder.
    let isInherited: Bool
    var state = State.open
    /// The phone's process was started again while the scan was open: it may find books of before in its library.
    var sawRelaunch = false
    /// Whether it was seen in the durable queue: a kill must not lose it then.
    var isRecorded: Bool
    /// The process was killed before its record was known to be durable: the next one may have it or not.
    var isInDoubt = false
    /// The rows of its file; nil without one that can be read.
    var fileRows: Int? { self.file?.rows }
    /// Its photo was sent: it had to be durable by then.
    var wasUploaded = false
    /// The time at which the upload that is under way was sent.
    var uploadSentAt: Instant?
    /// The time at which the last upload was over.
    private(set) var uploadEndedAt: Instant?
    /// The times of its first and of its last 202.
    private(set) var jobsCame: ClosedRange<Instant>?
    /// The time at which the last request for the status of its job was over; nil if another one may follow
    /// at once.
    var statusEndedAt: Instant?
    /// What its stream brought last was not to be read: its process may know less than the backend has said.
    var isStreamUnreadable = false
    /// Its process has applied an error event that does not allow a retry.
    var hasFailedForGood = false
    /// The process was killed after the scan was settled, and the record did not say so yet.
    var isKeptUndecided = false
    var isPrepared = false
    /// What its file contains; nil without one.
    var file: LibraryContent?
    /// What the results said of them.
    var rowsRead: RowCounts?
    /// The key of its look-up, as its first request had it.
    var lookupKey: String?
    /// The attempt of its last request, until the key of that was heard.
    var keyDue: UInt32?
    /// When a provider was last asked for its book.
    var billedAt: Instant?
    /// The books that came of a batch, until all have.
    var answered: [Book] = []
    /// What the end of its batch said of them.
    var batchEnd = BatchEnd.silent
    /// The photos that the phone said it has.
    var photos = 1
    /// The size of the photo, or of the text, that is ready to be sent.
    var contentBytes = 0
    /// Its storage was full when it was captured.
    var isCapturedWithoutRoom = false
    /// The last final answer or event was one that a fired fault had delivered.
    var isRefusalExplained = false
    /// Exchanges in which a fault fired, the latest few.
    private var firings: [Firing] = []
    /// The last answer from 400 on to an upload, as the phone saw it.
    var uploadReply: Reply?
    /// The last of its jobs that is not followed any more: a refusal may name it.
    var lastEndedJob: EndedJob?
    /// When that was known to be over.
    var lastEndedAt = Instant.zero
    /// The last problem that the backend answered to an upload, and to a DELETE.
    /// Those of its last attempts: an earlier one may be answered after a later one.
    private var uploadProblems: [ProblemReply] = []
    private var cleanupProblem: ProblemReply?
    /// The backend finished a job of the scan, and so found its books.
    var isFound = false
    /// The backend said that it could not look up some book: it may come degraded, and no other way.
    var isDegraded = false
    /// What the event at the end of its last job said of the number of books.
    var promise: BooksPromise?
    /// The books that were shown before the end of its last job, the first of them.
    private(set) var shown: [Book] = []
    static let shownMax = 10_000
    /// Its books that are in the phone's library.
    var library = ScanLibrary()

    private struct Firing: Hashable, Sendable {
        var operation: Operation
        var attempt: UInt32
        /// The fault delivers a final answer or event.
        var refuses: Bool
    }

    struct EndedJob: Hashable, Sendable {
        var id: String
        var isInherited: Bool
        /// Whether the phone applied an error event of it.
        var isErrorSeen: Bool
        /// The backend's word on a retry.
        var isErrorRetryable: Bool?
    }

    struct Reply: Hashable, Sendable {
        var attempt: UInt32
        var status: Int
    }

    struct ProblemReply: Hashable, Sendable {
        var attempt: UInt32
        var status: Int
        var isRetryable: Bool
        var retryAfter: Interval?
    }

    /// The fault that took books of it first.
    var bookFault: String?
    /// Of a book that the phone has read: whether its look-up has come, and what the library has of it.
    var isEnriched = false
    var lookup = TextLookup()
    /// Whether its photo is uploaded instead.
    var isPhotoInstead = false
    var finalText: Book?

    private static let firingsMax = 8
    private static let problemsMax = 4

    /// Whether a process may not have it: it was killed before the record was known to be durable.
    var mayBeGone: Bool { self.isInDoubt && !self.isRecorded && !self.wasUploaded }

    mutating func uploadEnded(at moment: Instant) {
        guard self.uploadSentAt != nil else { return }
        self.uploadSentAt = nil
        self.uploadEndedAt = moment
    }

    mutating func showed(_ book: Book) {
        if self.shown.count < Self.shownMax { self.shown.append(book) }
    }

    /// A 202 was read.
    mutating func jobCame(at moment: Instant) {
        self.shown = []
        self.uploadEnded(at: moment)
        self.jobsCame = min(self.jobsCame?.lowerBound ?? moment, moment)...moment
        self.statusEndedAt = nil
    }

    mutating func faultFired(_ operation: Operation, attempt: UInt32, refuses: Bool) {
        self.firings.append(
            Firing(operation: operation.counted, attempt: attempt, refuses: refuses), max: Self.firingsMax)
    }

    func wasFired(_ operation: Operation, attempt: UInt32) -> Bool {
        self.firings.contains { $0.operation == operation && $0.attempt == attempt }
    }

    func isUploadRefused(attempt: UInt32) -> Bool {
        self.firings.contains { $0.refuses && $0.operation == .upload && $0.attempt == attempt }
    }

    /// Any of a job's streams: an error that ends the job comes again to whoever asks again.
    func isStreamRefused(attempts: ClosedRange<UInt32>) -> Bool {
        self.firings.contains { $0.refuses && $0.operation == .stream && attempts.contains($0.attempt) }
    }

    mutating func problemAnswered(_ operation: Operation, _ problem: ProblemReply) {
        switch operation {
        case .upload:
            self.uploadProblems.append(problem, max: Self.problemsMax)
        case .cleanup, .cancel: self.cleanupProblem = problem
        case .stream, .results, .status, .refresh: break
        }
    }

    func uploadProblem(attempt: UInt32) -> ProblemReply? {
        self.uploadProblems.last { $0.attempt == attempt }
    }

    func cleanupProblem(attempt: UInt32) -> ProblemReply? {
        self.cleanupProblem?.attempt == attempt ? self.cleanupProblem : nil
    }

    init(number: ScanNumber, isInherited: Bool) {
        self.number = number
        self.isInherited = isInherited
        self.isRecorded = isInherited
    }

    /// Returns the number of the books of the shelf that the library is known to hold. Books from before this run or before a
    /// kill are only seen when they are received again.
    var held: Int {
        self.isInherited || self.sawRelaunch ? self.library.places.count : self.library.added.count
    }
}
