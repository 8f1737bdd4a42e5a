import SimBase
import Talaria
import Testing

@testable import Phone

/// The books that wait for their person.
struct ReviewQueueTests {
    private static func book(
        _ title: String, isbn: String? = nil, confidence: Double? = nil
    ) -> Book {
        Book(
            title: title, author: "Jane Austen", isbn: isbn, confidence: confidence, enrichmentStatus: nil,
            coverUrl: nil)
    }

    private static let emma = "9780141439587"
    private static let persuasion = "9780141439686"

    private static func key(_ ordinal: Int, scan: UInt32 = 1) -> ResultKey {
        ResultKey(scan: ScanNumber(scan), ordinal: ordinal)
    }

    private static func entry(
        _ ordinal: Int, _ book: Book, scan: UInt32 = 1, at moment: Interval = .zero
    ) -> ReviewEntry {
        ReviewEntry(key: Self.key(ordinal, scan: scan), book: book, receivedUnixNs: moment.nanoseconds)
    }

    private func queue(_ books: Book...) -> ReviewQueue {
        var queue = ReviewQueue()
        for (ordinal, book) in books.enumerated() {
            #expect(queue.add(Self.entry(ordinal, book), window: nil) == nil)
        }
        return queue
    }

    @Test func `the least sure come first, and a book without a confidence is sure`() {
        let shares: [Double?] = [0.8, nil, 0.49, 0.5, 0.79, 0.49]
        var queue = ReviewQueue()
        for (ordinal, share) in shares.enumerated() {
            _ = queue.add(Self.entry(ordinal, Self.book("\(ordinal)", confidence: share)), window: nil)
        }
        #expect(queue.entries.map(\.key.ordinal) == [2, 5, 3, 4, 0, 1])
        #expect(queue.entries.map(\.tier) == [.low, .low, .medium, .medium, .high, .high])
        #expect(queue.entries.map(\.confidence) == [490, 490, 500, 790, 800, 1_000])
    }

    @Test func `an approved book enters the library with what its person wrote`() {
        var queue = queue(Self.book("Ema"))
        #expect(queue.edit(Self.key(0), title: "Emma", author: nil)?.resolved.title == "Emma")
        _ = queue.edit(Self.key(0), title: nil, author: "J. Austen")
        var due = Self.book("Emma")
        due.author = "J. Austen"
        #expect(queue.approve(Self.key(0), .checked) == [.init(key: Self.key(0), outcome: .approved(due))])
        #expect(queue.entries.isEmpty && queue.approve(Self.key(0), .checked).isEmpty)
        #expect(queue.edit(Self.key(0), title: "x", author: nil) == nil && queue.reject(Self.key(0)) == nil)
    }

    @Test func `a book whose ISBN the library has is merged into that one`() {
        var queue = queue(Self.book("Emma", isbn: Self.emma))
        _ = queue.approve(Self.key(0), .checked)
        _ = queue.add(Self.entry(0, Self.book("Emma", isbn: Self.emma), scan: 2), window: nil)
        let key = Self.key(0, scan: 2)
        #expect(queue.approve(key, .checked) == [.init(key: key, outcome: .merged(into: Self.key(0)))])
    }

    @Test func `others that wait with the same ISBN are merged into an approved one, but for edited ones`() {
        let emma = Self.book("Emma", isbn: Self.emma)
        var queue = queue(emma, emma, emma, Self.book("Persuasion", isbn: Self.persuasion), Self.book("Emma"))
        _ = queue.edit(Self.key(2), title: "Emma, annotated", author: nil)
        #expect(
            queue.approve(Self.key(0), .checked) == [
                .init(key: Self.key(0), outcome: .approved(emma)),
                .init(key: Self.key(1), outcome: .merged(into: Self.key(0))),
            ])
        #expect(queue.entries.map(\.key.ordinal) == [2, 3, 4])
    }

    @Test func `the approval of everything adds no book twice, unless it does not look`() {
        let emma = Self.book("Emma", isbn: Self.emma)
        var checked = queue(emma, emma, Self.book("Emma"))
        #expect(
            checked.approveAll(.checked).map(\.outcome) == [
                .approved(emma), .merged(into: Self.key(0)), .approved(Self.book("Emma")),
            ])
        var unchecked = queue(emma, emma, Self.book("Emma"))
        #expect(
            unchecked.approveAll(.unchecked).map(\.outcome) == [
                .approved(emma), .approved(emma), .approved(Self.book("Emma")),
            ])
        #expect(checked.entries.isEmpty && unchecked.entries.isEmpty)
    }

    @Test func `a book that comes within the window of the same one is merged into it`() {
        let window = Interval.seconds(60)
        let emma = Self.book("Emma", isbn: Self.emma)
        for (later, at, isMerged) in [
            (Self.book("Other", isbn: Self.emma), window, true),
            (Self.book("emma"), window, true),
            (Self.book("emma"), window + .nanoseconds(1), false),
            (Self.book("Other"), .zero, false),
        ] {
            var queue = queue(emma)
            let decision = queue.add(Self.entry(0, later, scan: 2, at: at), window: window)
            #expect(
                decision
                    == (isMerged
                        ? .init(key: Self.key(0, scan: 2), outcome: .merged(into: Self.key(0))) : nil))
            #expect(queue.entries.count == (isMerged ? 1 : 2))
        }
    }

    @Test func `a canceled scan takes its books along`() {
        var queue = queue(Self.book("a"))
        _ = queue.add(Self.entry(0, Self.book("b"), scan: 2), window: nil)
        #expect(queue.reject(booksOf: ScanNumber(1)) == [.init(key: Self.key(0), outcome: .rejected)])
        #expect(queue.entries.map(\.book.title) == ["b"])
    }

    @Test func `what is stored of a review continues it`() {
        var state = DurableState()
        let emma = Self.book("Emma", isbn: Self.emma)
        var edited = Self.entry(1, Self.book("b"))
        for change: StoreChange in [
            .pending(Self.entry(0, emma)), .pending(edited), .pending(Self.entry(2, emma)),
            .reviewed(Self.key(0), .approved(emma)),
        ] { state.apply(change) }
        edited.title = "B"
        state.apply(.pending(edited))
        var queue = ReviewQueue(state.review)
        #expect(queue.entries.map(\.key.ordinal) == [1, 2] && queue[Self.key(1)] == edited)
        #expect(queue.approve(Self.key(2), .checked).map(\.outcome) == [.merged(into: Self.key(0))])
        #expect(state.books.values == [emma])
    }

    @Test func `later data never wins over an edit`() {
        for seed in 0..<10_000 as Range<UInt64> {
            let random = KeyedRandom(seed: seed)
            var queue = ReviewQueue()
            var wrote: [Int: (title: String?, author: String?)] = [:]
            for ordinal in 0..<4 { _ = queue.add(Self.entry(ordinal, Self.book("t\(ordinal)")), window: nil) }
            for step in 0..<12 as Range<UInt64> {
                let ordinal = Int(random.below(4, .test, step))
                let words = random.draw(.test, step, 1)
                switch random.below(3, .test, step, 2) {
                case 0:
                    let title = words % 3 == 0 ? nil : "title \(words)"
                    let author = words % 3 == 1 ? nil : "author \(words)"
                    guard queue.edit(Self.key(ordinal), title: title, author: author) != nil else { continue }
                    let before = wrote[ordinal]
                    wrote[ordinal] = (title ?? before?.title, author ?? before?.author)
                default:
                    var later = Self.book("later \(words)", confidence: Double(words % 100) / 100)
                    later.author = "later"
                    _ = queue.enrich(Self.key(ordinal), with: later)
                }
            }
            for decision in queue.approveAll(.checked) {
                guard case .approved(let book) = decision.outcome else {
                    Issue.record("seed \(seed): a book without an ISBN was merged")
                    return
                }
                let due = wrote[decision.key.ordinal]
                guard book.title == due?.title ?? book.title, book.author == due?.author ?? book.author else {
                    Issue.record("seed \(seed): \(book.title) by \(book.author)")
                    return
                }
            }
        }
    }
}
