package import Observations
package import SimBase
package import Talaria

/// What is left of a scan at the end of a run, by what both sides observed of it.
package struct ScanRemains: Sendable {
    private var isCompleted = false
    private var refusal: String?
    private var isCanceled = false
    /// The books that the backend found in the last job; nil without a job.
    private var expected: Int?
    private var added: Set<BookKey> = []
    private var created = 0
    private var deleted: Set<String> = []
    /// Times that a provider was asked for its book; nil for what is not a look-up.
    private var billed: Int?

    /// - Parameter observations: Those of one scan, in the order of time.
    package init(_ observations: some Sequence<Observation>) {
        for observation in observations {
            switch observation.what {
            case .phone(.completed): self.isCompleted = true
            case .phone(.refused(let code, _)): self.refusal = code
            case .phone(.canceled): self.isCanceled = true
            case .phone(.bookAdded(_, let book)), .phone(.bookPending(_, _, let book)):
                self.added.insert(BookKey(book))
            case .backend(.accepted(_, let books)):
                self.expected = books
                self.created += 1
            case .backend(.bookLookedUp(let lookup)):
                self.expected = lookup.isFound ? 1 : 0
                self.billed = (self.billed ?? 0) + (lookup.isBilled ? 1 : 0)
            case .backend(.cleaned(let job, effective: true)), .backend(.canceled(let job)):
                self.deleted.insert(job)
            case .phone, .backend, .fault, .network, .control: break
            }
        }
    }

    /// `scan 1 is not finished; 0 of 1 book in the library; 1 job created, 0 deleted`.
    package func text(_ scan: ScanNumber, _ noun: WorkNoun) -> String {
        let open = self.isCanceled ? "is canceled" : "is not finished"
        let state = self.isCompleted ? "is completed" : self.refusal.map { "is refused (\($0))" } ?? open
        let books = self.expected.map {
            "\(self.added.count) of \(Figures.count($0, "book", "books")) in the library"
        }
        let jobs =
            self.billed.map { "\(Figures.count($0, "look-up", "look-ups")) billed" }
            ?? "\(Figures.count(self.created, "job", "jobs")) created, \(self.deleted.count) deleted by the phone"
        return ["\(noun.one) \(scan.raw) \(state)", books, jobs].compactMap(\.self).joined(separator: "; ")
    }
}
