import Observations
import SimBase

/// What became of the books of one scan, by what its phone observed: how a reading was looked up, and what the review made of each
/// book.
struct BookWay {
    /// `enriched by its text`; nil for what the phone has not read, or not yet.
    private var reading: String?
    private var came = 0
    /// The numbers of the books that wait for their person.
    private(set) var waiting: Set<Int> = []
    /// Those of them that no storage is known to have, since the process was killed.
    private var inDoubt: Set<Int> = []
    private var edited: Set<Int> = []
    private var approved = 0
    private var rejected = 0
    private var merged = 0
    private var lost = 0
    private var discarded = 0
    /// The last time at which it was known that books were gone with the app.
    private(set) var goneAt: Instant?

    /// - Parameter observations: Those of the phone, in the order of time.
    init(_ observations: [Observation], of scan: ScanNumber) {
        for observation in observations {
            guard case .phone(let payload) = observation.what else { continue }
            if observation.scan == scan {
                self.record(payload)
            } else if observation.scan == .none {
                self.record(ofApp: payload, at: observation.at)
            }
        }
        self.lose(at: nil)
    }

    private mutating func record(_ payload: PhoneObservation) {
        switch payload {
        case .enriched: self.reading = "enriched by its text"
        case .readingKept: self.reading = "kept as it was read"
        case .photoInstead: self.reading = "looked up by its photo"
        case .bookPending(_, let entry, _): self.comes(entry)
        case .bookKept(let entry, _):
            if self.inDoubt.remove(entry) == nil { self.comes(entry) }
        case .bookEdited(let entry, _, _): self.edited.insert(entry)
        case .bookApproved(let entry, _): self.approved += self.leaves(entry)
        case .bookRejected(let entry): self.rejected += self.leaves(entry)
        case .bookMerged(let entry, _, _): self.merged += self.leaves(entry)
        default: break  // It says nothing about what becomes of a book.
        }
    }

    private mutating func record(ofApp payload: PhoneObservation, at moment: Instant) {
        switch payload {
        case .killed: self.inDoubt = self.waiting
        case .launched: self.lose(at: moment)
        case .reinstalled:
            guard !self.waiting.isEmpty else { return }
            self.discarded += self.waiting.count
            (self.waiting, self.inDoubt, self.goneAt) = ([], [], moment)
        default: break
        }
    }

    private mutating func comes(_ entry: Int) {
        if self.waiting.insert(entry).inserted { self.came += 1 }
    }

    private mutating func leaves(_ entry: Int) -> Int { self.waiting.remove(entry) == nil ? 0 : 1 }

    private mutating func lose(at moment: Instant?) {
        guard !self.inDoubt.isEmpty else { return }
        self.lost += self.inDoubt.count
        self.waiting.subtract(self.inDoubt)
        (self.inDoubt, self.goneAt) = ([], moment ?? self.goneAt)
    }

    /// `5 books came to be reviewed: 3 in the library, 2 rejected; 1 edited`; nil for a scan without a reading or a review.
    var words: String? {
        let ends = [
            (self.approved, "in the library"), (self.rejected, "rejected"),
            (self.merged, "merged as duplicates"), (self.waiting.count, "waiting"),
            (self.lost, "lost with a killed process"), (self.discarded, "discarded"),
        ].filter { $0.0 > 0 }.map { "\(Figures.count($0.0)) \($0.1)" }
        let review =
            self.came > 0
            ? "\(Figures.count(self.came, "book", "books")) came to be reviewed: \(ends.joined(separator: ", "))"
            : nil
        let edits = self.edited.isEmpty ? nil : "\(Figures.count(self.edited.count)) edited"
        let parts = [self.reading, review, edits].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
