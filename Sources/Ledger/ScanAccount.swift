import SimBase

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
    /// An answer or a terminal error came that may be a reason to refuse the scan.
    var hadCause = false
    /// The backend finished a job of the scan, and so found its books.
    var isFound = false
    /// The backend said that it could not look up some book: it may come degraded, and no other way.
    var isDegraded = false
    /// Ordinals of the books that entered the library, and of those that came again and were not added.
    var added = NumberRanges<Int>()
    var repeated = NumberRanges<Int>()

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
