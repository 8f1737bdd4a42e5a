/// A book of a painted shelf, in centimeters.
struct Book {
    enum Binding {
        /// A hard cover with a rounded spine, in a jacket or in cloth.
        case hard
        /// A paperback: a flat spine, creased when read.
        case paper
        /// Leather with raised bands.
        case leather
    }

    /// Its position in the picture; what its own draws are keyed by.
    let number: Int
    /// Books of a series share a design.
    let design: Int
    /// Its position in its series, from 1.
    let volume: Int?
    let binding: Binding
    let width: Float
    let height: Float
    let depth: Float
    /// The distance of its spine from the shelf's front edge.
    let setback: Float

    /// A single book.
    init(number: Int, in picture: PaintRandom) {
        self.init(number: number, design: number, volume: nil, in: picture)
    }

    /// A book of the series that began with book `design`.
    init(number: Int, design: Int, volume: Int?, in picture: PaintRandom) {
        let own = picture.thing(.book, number)
        let shared = picture.thing(.design, design)
        self.number = number
        self.design = design
        self.volume = volume

        // Formats as shops sell them: pocket, trade, hardback, large.
        let format = shared.whole(0...99, .format)
        let unevenness = volume == nil ? own.real(-0.5...0.5, .height) : own.real(-0.03...0.03, .height)
        let bulk = own.real(0...1, .width)
        switch format {
        case ..<26:
            self.height = 17.9 + unevenness * 0.4
            self.width = 1.2 + bulk * 1.5
            self.depth = 11
        case ..<58:
            self.height = 20.8 + unevenness * 1.4
            self.width = 1.2 + bulk * bulk * 2.3
            self.depth = 13.5
        case ..<86:
            self.height = 23.7 + unevenness * 1.2
            self.width = 1.7 + bulk * bulk * 2.5
            self.depth = 16
        default:
            self.height = 26.4 + unevenness * 2
            self.width = 1.2 + bulk * bulk * 3
            self.depth = 19
        }
        let leather = shared.happens(percent: 9, .binding)
        self.binding =
            leather ? .leather : format < 58 && shared.happens(percent: 78, .binding, 1) ? .paper : .hard
        self.setback =
            volume == nil
            ? 1.1 + own.real(-0.35...0.55, .setback) + (own.happens(percent: 9, .setback, 1) ? 1.4 : 0)
            : 1.1 + own.real(-0.1...0.1, .setback)
    }
}

/// The position of a book in its row.
struct PlacedBook {
    enum Pose {
        case upright
        /// Its top leans to the left; the tangent of its angle.
        case leaning(slope: Float)
        /// On its side, its spine's head to the left; how high above the board it lies.
        case lying(above: Float)
    }

    let book: Book
    /// The left edge of the lower left corner it stands on.
    let left: Float
    /// The left edge of its stack; its own left edge for any other book.
    let groupLeft: Float
    let pose: Pose

    /// Its extent along the shelf.
    var right: Float {
        switch self.pose {
        case .upright: self.left + self.book.width
        case .leaning(let slope): self.left + self.book.width / (1 + slope * slope).squareRoot()
        case .lying: self.left + self.book.height
        }
    }

    /// The sort key within its row, painted from the outside in. All books of a stack share it; a stack is
    /// painted upwards.
    var groupCenter: Float {
        if case .lying = self.pose { self.groupLeft + 12 } else { (self.left + self.right) / 2 }
    }

    var isUpright: Bool {
        if case .upright = self.pose { true } else { false }
    }
}
