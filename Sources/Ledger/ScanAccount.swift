import SimBase
import Talaria

/// One scan that is still followed: it is not settled, or a job of it is not.
struct ScanAccount: Sendable {
    enum State: Hashable, Sendable {
        /// In the phone's care. Leaves to any other.
        case open
        /// The phone said that all its books are in the library, which may have been wrong. Final.
        case completed
        /// Final.
        case refused
        /// Gone by something that has a name, and that the user did or saw. Final.
        case discarded
        /// A record on disk after the run. Final.
        case waiting
        /// Nowhere after the run. Final.
        case lost
    }

    let number: ScanNumber
    /// An earlier run left it in the state folder.
    let isInherited: Bool
    var state = State.open
    /// The phone's process was started again while the scan was open: it may find books of before in its library.
    var sawRelaunch = false
    /// It was seen in the durable queue: from then on it may not be lost by a kill.
    var isRecorded: Bool
    /// The process was killed before its record was known to be durable: the next one may have it or not.
    var isInDoubt = false
    var isPrepared = false
    /// Its storage was full when it was captured.
    var isCapturedWithoutRoom = false
    /// An answer or a terminal error came that may be a reason to refuse the scan.
    var hadCause = false
    /// The last final answer or event was one that a fired fault had delivered.
    var isRefusalExplained = false
    /// Attempts at which a fault fired that delivers a final answer or event.
    private(set) var refusingAttempts: [RefusingAttempt] = []
    /// The backend finished a job of the scan, and so found its books.
    var isFound = false
    /// The backend said that it could not look up some book: it may come degraded, and no other way.
    var isDegraded = false
    /// Ordinals of the books that entered the library, and of those that came again and were not added.
    var added = NumberRanges<Int>()
    var repeated = NumberRanges<Int>()

    /// One exchange.
    struct RefusingAttempt: Hashable, Sendable {
        var operation: Operation
        var attempt: UInt32
    }

    private static let refusingAttemptsMax = 8

    /// Keeps the latest few: a phone gives a scan up at the first final answer that reaches it.
    mutating func refusingFaultFired(_ operation: Operation, attempt: UInt32) {
        if self.refusingAttempts.count == Self.refusingAttemptsMax { self.refusingAttempts.removeFirst() }
        self.refusingAttempts.append(RefusingAttempt(operation: operation, attempt: attempt))
    }

    func isUploadRefused(attempt: UInt32) -> Bool {
        self.refusingAttempts.contains { $0.operation == .upload && $0.attempt == attempt }
    }

    /// Any of a job's streams: an error that ends the job comes again to whoever asks again.
    func isStreamRefused(attempts: ClosedRange<UInt32>) -> Bool {
        self.refusingAttempts.contains { $0.operation == .stream && attempts.contains($0.attempt) }
    }

    init(number: ScanNumber, isInherited: Bool) {
        self.number = number
        self.isInherited = isInherited
        self.isRecorded = isInherited
    }

    /// How many of the first `count` books the library is known to hold. What was there before this run, or before a
    /// kill, shows only when it comes again.
    func held(of count: Int) -> Int {
        guard self.isInherited || self.sawRelaunch else { return self.added.count(below: count) }
        var both = self.added
        for range in self.repeated.ranges where range.upperBound >= 0 && range.lowerBound < count {
            for ordinal in max(0, range.lowerBound)...min(count - 1, range.upperBound) {
                _ = both.insert(ordinal)
            }
        }
        return both.count(below: count)
    }
}
