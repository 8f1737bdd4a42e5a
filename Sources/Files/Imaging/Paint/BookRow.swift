/// The books of one row of a shelf, from left to right.
struct BookRow {
    private(set) var books: [PlacedBook] = []

    private let picture: PaintRandom
    private let own: PaintRandom
    private let right: Float
    private var next: Float
    private var number: Int
    private var stacks = 0
    private var leans = 0

    static let booksMax = 400

    /// Fills row `row`, counted from 0 at the top, between two positions in centimeters.
    init(row: Int, from left: Float, to right: Float, in picture: PaintRandom) {
        self.picture = picture
        self.own = picture.thing(.row, row)
        self.right = right
        self.next = left
        self.number = row * Self.booksMax
        var event = 0
        while self.next < right, event < Self.booksMax / 8 {
            self.position(event)
            event += 1
        }
    }

    private mutating func position(_ event: Int) {
        let kind = self.own.whole(0...99, .event, event)
        switch kind {
        case ..<9: self.standSeries(event)
        case ..<19 where self.leans < 2 && event > 1: self.lean(event)
        case ..<23 where self.stacks < 1 && self.right - self.next > 30 && event > 0: self.stack(event)
        default: self.stand(self.newBook())
        }
    }

    private mutating func newBook() -> Book {
        self.number += 1
        return Book(number: self.number, in: self.picture)
    }

    private mutating func stand(_ book: Book) {
        // Most stand close; a few are loose.
        let gap =
            self.own.real(0.01...0.06, .gap, book.number)
            + (self.own.happens(percent: 12, .gap, book.number + 100_000) ? 0.25 : 0)
        self.books.append(
            PlacedBook(book: book, left: self.next + gap, groupLeft: self.next + gap, pose: .upright))
        self.next += gap + book.width
    }

    private mutating func standSeries(_ event: Int) {
        let design = self.number + 1
        for volume in 1...self.own.whole(2...4, .count, event) {
            self.number += 1
            self.stand(Book(number: self.number, design: design, volume: volume, in: self.picture))
        }
    }

    /// One or two books that lean against the last one.
    private mutating func lean(_ event: Int) {
        guard let support = self.books.last, support.isUpright else { return self.stand(self.newBook()) }
        self.leans += 1
        let slope = self.own.real(0.1...0.24, .lean, event)
        let cosine = 1 / (1 + slope * slope).squareRoot()
        for position in 0..<self.own.whole(1...2, .leanSide, event) {
            let book = self.newBook()
            if position == 0 {
                self.next += min(book.height * cosine, support.book.height) * slope + 0.05
            }
            self.books.append(
                PlacedBook(book: book, left: self.next, groupLeft: self.next, pose: .leaning(slope: slope)))
            self.next += book.width / cosine + 0.02
        }
    }

    /// Books that lie on each other, the longest below.
    private mutating func stack(_ event: Int) {
        self.stacks += 1
        let stacked = (0..<self.own.whole(4...7, .stackWidth, event)).map { _ in self.newBook() }
            .sorted { $0.height > $1.height }
        var above: Float = 0
        var widest: Float = 0
        for book in stacked {
            let shift = self.own.real(0...1.6, .leanSide, book.number)
            self.books.append(
                PlacedBook(
                    book: book, left: self.next + 0.4 + shift, groupLeft: self.next,
                    pose: .lying(above: above)))
            above += book.width + 0.02
            widest = max(widest, book.height + shift)
        }
        self.next += widest + 0.9
    }
}
