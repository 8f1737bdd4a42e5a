import SimBase
import Talaria

/// The stored data of a phone, and its writes that are not known to be durable.
///
/// A flush is a sequence of records: each is durable or not, in the order in which they were written. How many of them a kill leaves,
/// `Phone+TornWrites` says.
struct Storage: Sendable {
    private var durable = DurableState(keepsHistory: false)
    /// The writes in order.
    private(set) var unflushed: [PendingWrite] = []

    /// Unsettled scans that a fresh process finds: what was flushed, and nothing else.
    var scans: [DurableScan] { self.durable.scans.filter { !$0.isVolatile } }

    /// What a fresh process finds of a review.
    var review: DurableReview { self.durable.review }

    mutating func restore(_ scans: [DurableScan], _ review: DurableReview) {
        for scan in scans { self.durable.apply(.put(scan)) }
        self.durable.restore(review)
    }

    /// Whether the outcome of the scan is durable, as a fresh process would find it.
    func isDecided(_ scan: ScanNumber) -> Bool { self.durable.isDecided(scan) }

    /// Whether a fresh process would find the scan with that job.
    func holds(job: String, of scan: ScanNumber) -> Bool { self.durable.job(of: scan) == job }

    mutating func write(_ change: StoreChange, _ writeID: WriteID) {
        self.unflushed.append(PendingWrite(change: change, writeID: writeID))
    }

    /// Everything written is durable from now on, and is passed on in its order.
    mutating func flush(_ handOn: (StoreChange, WriteID) -> Void) {
        for index in self.unflushed.indices {
            self.durable.apply(self.unflushed[index].change)
            handOn(self.unflushed[index].change, self.unflushed[index].writeID)
        }
        self.unflushed.clear()
    }

    /// Takes back what was written after the first `count` writes.
    mutating func takeUnflushed(behind count: Int) -> [PendingWrite] {
        let rest = Array(self.unflushed[count...])
        self.unflushed.removeLast(rest.count)
        return rest
    }

    mutating func wipe() {
        self.durable = DurableState(keepsHistory: false)
        self.unflushed = []
    }
}
