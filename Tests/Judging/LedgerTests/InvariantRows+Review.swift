import Histories
import Ledger
import Observations
import SimBase
import Talaria

// The books that wait for their person.

extension InvariantRow {
    static let reviewBookAccounted = InvariantRow(
        broken: .reviewed("the next process finds a book less") {
            $0.phone(.killed)
            $0.keep([0, 1, 2])
            $0.launch()
            $0.phone(.reviewRestored(entries: 2))
        },
        kept: .reviewed("the next process finds all that waited") {
            $0.phone(.killed)
            $0.keep([0, 1, 2])
            $0.launch()
            $0.phone(.reviewRestored(entries: 3))
        },
        excuses: [
            Excuse(
                name: "kill, after the decision was durable",
                inside: .reviewed("killed after a rejection") {
                    $0.phone(.bookRejected(entry: 0))
                    $0.phone(.killed)
                    $0.keep([1, 2])
                    $0.launch()
                    $0.phone(.reviewRestored(entries: 2))
                },
                outside: .reviewed("killed before it") {
                    $0.phone(.killed)
                    $0.keep([1, 2])
                    $0.launch()
                    $0.phone(.reviewRestored(entries: 2))
                    $0.phone(.bookRejected(entry: 1))
                }),
            Excuse(
                name: "the same ISBN",
                inside: .reviewed("merged into an approved book with its ISBN", leaving: 1) {
                    $0.approve(0)
                    $0.phone(.bookMerged(entry: 3, intoScan: 1, intoEntry: 0))
                },
                outside: .reviewed("merged into an approved book with another one", leaving: 1) {
                    $0.approve(1)
                    $0.phone(.bookMerged(entry: 3, intoScan: 1, intoEntry: 1))
                }),
            Excuse(
                name: "reinstallation",
                inside: .reviewed("its user deletes the app") {
                    $0.phone(.killed)
                    $0.keep([0, 1, 2])
                    $0.phone(.reinstalled(discarded: 0))
                    $0.launch()
                    $0.phone(.reviewRestored(entries: 0))
                },
                outside: .reviewed("the app is killed") {
                    $0.phone(.killed)
                    $0.launch()
                    $0.phone(.reviewRestored(entries: 0))
                }),
        ],
        scenario: ShippedScenario(name: "review-under-kill"))

    static let reviewEditKept = InvariantRow(
        broken: .reviewed("later data wins over the title that the person wrote") {
            $0.phone(.bookEdited(entry: 0, title: "Emma", author: nil))
            $0.approve(0)
        },
        kept: .reviewed("a book is approved with the title that the person wrote") {
            $0.phone(.bookEdited(entry: 0, title: "Emma", author: nil))
            $0.approve(0) { $0.title = "Emma" }
        },
        excuses: [
            Excuse(
                name: "a field that nobody has edited has what came later",
                inside: .reviewed("the author that came later") {
                    $0.phone(.bookEdited(entry: 0, title: "Emma", author: nil))
                    var later = $0.book(0)
                    later.author = "J. Austen"
                    $0.phone(.bookRepeated(ordinal: 0, book: later))
                    $0.approve(0) {
                        $0.title = "Emma"
                        $0.author = "J. Austen"
                    }
                },
                outside: .reviewed("an author that never came") {
                    $0.phone(.bookEdited(entry: 0, title: "Emma", author: nil))
                    $0.approve(0) {
                        $0.title = "Emma"
                        $0.author = "J. Austen"
                    }
                }),
            Excuse(
                name: "kill, before the edit was durable: it was not seen",
                inside: .reviewed("the storage has what came") {
                    $0.phone(.killed)
                    $0.keep([0, 1, 2])
                    $0.launch()
                    $0.phone(.reviewRestored(entries: 3))
                },
                outside: .reviewed("it was seen, and the storage has what came") {
                    $0.phone(.bookEdited(entry: 0, title: nil, author: "J. Austen"))
                    $0.phone(.killed)
                    $0.keep([0, 1, 2])
                    $0.launch()
                    $0.phone(.reviewRestored(entries: 3))
                }),
        ],
        scenario: ShippedScenario(name: "review-under-kill"))

    static let reviewNoDuplicate = InvariantRow(
        broken: .reviewed("a book is approved whose ISBN the library has") {
            $0.approve(0)
            let isbn = $0.book(0).isbn
            $0.approve(1) { $0.isbn = isbn }
        },
        kept: .reviewed("books with different ISBNs are approved") {
            $0.approve(0)
            $0.approve(1)
        },
        excuses: [
            Excuse(
                name: "the first one is not in the library",
                inside: .reviewed("it was rejected", leaving: 1) {
                    $0.phone(.bookRejected(entry: 0))
                    $0.approve(3, as: 0)
                },
                outside: .reviewed("it was approved", leaving: 1) {
                    $0.approve(0)
                    $0.approve(3, as: 0)
                })
        ],
        scenario: ShippedScenario(name: "review-under-kill"))
}

extension Example {
    /// What becomes of three books that wait for their person. `left`: those that an earlier run has left waiting, which are
    /// the first book once more.
    fileprivate static func reviewed(
        _ name: String, leaving left: Int = 0, _ script: @escaping @Sendable (inout History) -> Void
    ) -> Example {
        Example(name) {
            for _ in 0..<left { $0.phone(.bookKept(entry: 3, book: $0.book(0))) }
            $0.launch()
            $0.phone(.reviewRestored(entries: left))
            $0.capture()
            $0.phone(.slotTaken)
            $0.upload()
            $0.open()
            $0.event(0)
            $0.event(1)
            $0.terminal(2)
            for entry in 0..<3 { $0.phone(.bookPending(ordinal: entry, entry: entry, book: $0.book(entry))) }
            $0.complete()
            $0.clean()
            $0.phone(.slotGiven)
            script(&$0)
        }
    }
}

extension History {
    fileprivate mutating func keep(_ entries: [Int]) {
        for entry in entries { self.phone(.bookKept(entry: entry, book: self.book(entry))) }
    }

    /// `ordinal`: of the book on the shelf.
    fileprivate mutating func approve(
        _ entry: Int, as ordinal: Int? = nil, _ change: (inout Book) -> Void = { _ in }
    ) {
        var book = self.book(ordinal ?? entry)
        change(&book)
        self.phone(.bookApproved(entry: entry, book: book))
    }
}
