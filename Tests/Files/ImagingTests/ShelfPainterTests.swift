import Testing

@testable import Imaging

@Suite struct ShelfPainterTests {
    private func picture(
        _ light: ShelfLight = .normal, _ contrast: ShelfContrast = .normal, width: Int = 160,
        height: Int = 120,
        seed: UInt64 = 1
    ) -> ShelfPicture {
        ShelfPicture(
            size: PixelSize(width: width, height: height), light: light, contrast: contrast, seed: seed)
    }

    /// How far the tones are from their mean, squared.
    private func spread(_ bitmap: Bitmap) -> Double {
        let mean = bitmap.meanLuma
        let squares = stride(from: 0, to: bitmap.pixels.count, by: 3).reduce(0.0) { sum, start in
            let off = Double(bitmap.pixels[start + 1]) - mean
            return sum + off * off
        }
        return squares / Double(bitmap.width * bitmap.height)
    }

    @Test func `a seed paints the same picture every time`() {
        #expect(ShelfPainter.paint(self.picture()) == ShelfPainter.paint(self.picture()))
    }

    @Test func `another seed paints another shelf`() {
        let first = ShelfPainter.paint(self.picture(seed: 1))
        #expect(difference(first, ShelfPainter.paint(self.picture(seed: 2))) > 15)
    }

    @Test(arguments: ShelfLight.allCases)
    func `each light falls on its side of the app's thresholds`(light: ShelfLight) {
        for seed in 1...4 as ClosedRange<UInt64> {
            let mean = ShelfPainter.paint(self.picture(light, seed: seed)).meanLuma
            switch light {
            case .dark: #expect((40..<80).contains(mean), "seed \(seed)")
            case .normal: #expect((109.2..<140).contains(mean), "seed \(seed)")
            case .bright: #expect((165..<200).contains(mean), "seed \(seed)")
            }
        }
    }

    @Test func `haze halves the contrast and keeps the mean`() {
        let clear = ShelfPainter.paint(self.picture())
        let hazy = ShelfPainter.paint(self.picture(.normal, .low))
        #expect(self.spread(hazy) < self.spread(clear) * 0.35)
        #expect(abs(hazy.meanLuma - clear.meanLuma) < 8)
    }

    @Test(arguments: [(64, 64), (65, 400), (400, 65), (97, 131)])
    func `any shape can be painted`(width: Int, height: Int) {
        let bitmap = ShelfPainter.paint(self.picture(width: width, height: height, seed: 9))
        #expect(bitmap.size == PixelSize(width: width, height: height))
        #expect(self.spread(bitmap) > 200, "a shelf is not one color")
    }

    @Test func `many seeds paint without trouble`() {
        for seed in 100..<116 as Range<UInt64> {
            let light = ShelfLight.allCases[Int(seed % 3)]
            #expect(ShelfPainter.paint(self.picture(light, width: 64, height: 72, seed: seed)).width == 64)
        }
    }

    @Test func `every sign of a title can be drawn`() {
        for number in 0..<400 {
            let random = PaintRandom(seed: 5).thing(.book, number)
            for character in BookTitles.title(random) + BookTitles.author(random) where character != " " {
                #expect(StrokeFont.all[0].glyph(character).strokes.isEmpty == false, "\(character)")
            }
        }
    }

    @Test func `a row is filled from left to right and its books do not overlap`() {
        for seed in 0..<30 as Range<UInt64> {
            let row = BookRow(row: 0, from: -30, to: 30, in: PaintRandom(seed: seed))
            var right: Float = -30
            for placed in row.books {
                if case .lying(let above) = placed.pose, above > 0 { continue }
                #expect(placed.left >= right, "seed \(seed), book \(placed.book.number)")
                right = max(right, placed.right)
            }
            #expect(right >= 25, "seed \(seed)")
        }
    }
}
