internal import SimBase

/// What a draw of a picture decides. The raw values are part of what a seed paints.
enum PaintTrait: UInt64 {
    case picture = 1, lamp, width, height, color, gap, letter, space, noise
}

/// A plain drawing of a bookshelf: boards, and on them books as rectangles with blocks in place of letters.
///
/// The blocks are there for the size of the JPEG: a photo of a shelf has the edges of its titles.
struct ShelfDrawing {
    private typealias Color = (red: Int, green: Int, blue: Int)

    private(set) var bitmap: Bitmap
    private let random: KeyedRandom
    private let isLitFromRight: Bool
    private let wall: Color

    private static let wood: Color = (205, 165, 115)
    private static let covers: [Color] = [
        (27, 27, 31), (29, 58, 99), (47, 93, 140), (111, 159, 192), (30, 77, 43), (138, 154, 91),
        (158, 27, 30), (217, 105, 43), (224, 165, 38), (124, 84, 51), (201, 179, 138), (243, 240, 231),
        (142, 143, 140), (125, 90, 140),
    ]

    init(_ picture: ShelfPicture) {
        let (width, height) = (picture.size.width, picture.size.height)
        self.bitmap = Bitmap(
            width: width, height: height,
            pixels: [UInt8](repeating: 0, count: width * height * Bitmap.bytesPerPixel))
        self.random = KeyedRandom(seed: picture.seed)
        // A wall near the mean of the picture leaves little to do for the exposure, which costs contrast.
        self.wall =
            switch picture.light {
            case .dark: (60, 52, 44)
            case .normal: (165, 145, 120)
            case .bright: (250, 248, 240)
            }
        self.isLitFromRight = self.random.below(2, .paint, PaintTrait.lamp.rawValue) == 1
        let shelves = width >= height ? 1 : height >= width * 2 ? 3 : 2
        for shelf in 0..<shelves {
            self.drawShelf(shelf, rows: (height * shelf / shelves)..<(height * (shelf + 1) / shelves))
        }
    }

    /// All sizes are thousandths of the shelf's height, so a seed shows the same books at every scale.
    private mutating func drawShelf(_ shelf: Int, rows: Range<Int>) {
        let room = rows.count
        let floor = rows.upperBound - room / 14
        self.fill(0..<self.bitmap.width, rows.lowerBound..<floor, self.wall)
        self.fill(0..<self.bitmap.width, floor..<rows.upperBound, Self.wood)
        var left = 0
        // No shelf has a million books: a picture has at most 250,000 columns.
        var book = shelf * 1_000_000
        while left < self.bitmap.width {
            let right = left + 1 + room * self.draw(26...80, .width, book) / 1_000
            let height = room * self.draw(550...880, .height, book) / 1_000
            self.drawBook(book, left..<min(right, self.bitmap.width), (floor - height)..<floor)
            left = right + room * self.draw(0...6, .gap, book) / 1_000
            book += 1
        }
    }

    private mutating func drawBook(_ book: Int, _ columns: Range<Int>, _ rows: Range<Int>) {
        let cover = Self.covers[self.draw(0...(Self.covers.count - 1), .color, book)]
        self.fill(columns, rows, cover, isRound: true)
        let ink: Color = cover.green > 100 ? (35, 30, 28) : (235, 225, 200)
        let (width, height) = (columns.count, rows.count)
        let print = (columns.lowerBound + width * 3 / 10)..<(columns.lowerBound + width * 7 / 10)
        var top = rows.lowerBound + height / 10
        var letter = 0
        while top < rows.upperBound - height / 6 {
            let bottom = top + 1 + width * self.draw(8...24, .letter, book, letter) / 100
            let isSpace = self.draw(0...5, .space, book, letter) == 0
            if !isSpace { self.fill(print, top..<bottom, ink) }
            top = bottom + 1 + width / 14
            letter += 1
        }
    }

    private func draw(_ range: ClosedRange<Int>, _ trait: PaintTrait, _ book: Int, _ letter: Int = 0) -> Int {
        let bound = UInt64(range.upperBound - range.lowerBound + 1)
        return range.lowerBound
            + Int(self.random.below(bound, .paint, trait.rawValue, UInt64(book), UInt64(letter)))
    }

    /// Fills a rectangle. The light falls off downwards and away from the lamp; what is round is darker at
    /// its left and right edges as well.
    private mutating func fill(
        _ columns: Range<Int>, _ rows: Range<Int>, _ color: Color, isRound: Bool = false
    ) {
        let (width, height) = (self.bitmap.width, self.bitmap.height)
        let across = columns.map { column in
            let fromEdge = min(column - columns.lowerBound, columns.upperBound - 1 - column)
            let roundness = isRound ? min(256, 130 + 500 * fromEdge / columns.count) : 256
            let away = self.isLitFromRight ? width - column : column
            return roundness * (256 - 56 * away / width)
        }
        for row in rows {
            let down = 256 - 40 * row / height
            var index = (row * width + columns.lowerBound) * Bitmap.bytesPerPixel
            for shade in across {
                let light = shade * down
                self.bitmap.pixels[index] = UInt8((color.red * light) >> 24)
                self.bitmap.pixels[index + 1] = UInt8((color.green * light) >> 24)
                self.bitmap.pixels[index + 2] = UInt8((color.blue * light) >> 24)
                index += Bitmap.bytesPerPixel
            }
        }
    }
}
