import Testing

@testable import Imaging

@Suite struct ShelfPainterTests {
    private func picture(
        _ light: ShelfLight = .normal, _ contrast: ShelfContrast = .normal, width: Int = 160,
        height: Int = 120, seed: UInt64 = 1
    ) -> ShelfPicture {
        ShelfPicture(
            size: PixelSize(width: width, height: height), light: light, contrast: contrast, seed: seed)
    }

    // MARK: Seeds

    @Test func `a seed paints the same picture every time, on every machine`() {
        let bitmap = ShelfPainter.paint(self.picture())
        #expect(bitmap == ShelfPainter.paint(self.picture()))
        // A change of the painter changes the number.
        #expect(bitmap.pixels.reduce(UInt64(0)) { $0 &* 31 &+ UInt64($1) } == 17_127_177_447_868_256_216)
    }

    @Test func `another seed paints another shelf`() {
        let first = ShelfPainter.paint(self.picture(seed: 1))
        #expect(difference(first, ShelfPainter.paint(self.picture(seed: 2))) > 15)
    }

    // MARK: Light and contrast

    @Test(arguments: ShelfLight.allCases)
    func `each light falls on its side of the app's thresholds`(light: ShelfLight) {
        for seed in 1...4 as ClosedRange<UInt64> {
            let mean = ShelfPainter.paint(self.picture(light, seed: seed)).meanLuma
            switch light {
            case .dark: #expect((55..<70).contains(mean), "seed \(seed)")
            case .normal: #expect((115..<130).contains(mean), "seed \(seed)")
            case .bright: #expect((170..<185).contains(mean), "seed \(seed)")
            }
        }
    }

    @Test(arguments: [
        (ShelfLight.dark, 0.2, 0.3..<0.7, 0..<0.05), (.normal, 0, 0..<0.1, 0..<0.1),
        (.bright, -0.14, 0..<0.1, 0.1..<0.4),
    ])
    func `the app brightens the dark, darkens the bright and clamps a part of both`(
        light: ShelfLight, brightness: Double, black: Range<Double>, white: Range<Double>
    ) throws {
        let bitmap = ShelfPainter.paint(self.picture(light, width: 320, height: 240))
        var encoder = JPEGEncoder()
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(encoder.encode(bitmap, quality: ShelfPainter.quality))
        #expect(abs(photo.brightnessAdjustment - brightness) < 0.01)
        // What contrast clamps (`ToneMap`): 1.5 v - 63.75 outside of a byte.
        let count = Double(bitmap.pixels.count)
        #expect(black.contains(Double(bitmap.pixels.count { $0 < 43 }) / count))
        #expect(white.contains(Double(bitmap.pixels.count { $0 > 212 }) / count))
    }

    @Test func `haze halves the contrast and keeps the mean`() {
        let clear = ShelfPainter.paint(self.picture())
        let hazy = ShelfPainter.paint(self.picture(.normal, .low))
        #expect(spread(hazy) < spread(clear) * 0.35)
        #expect(abs(hazy.meanLuma - clear.meanLuma) < 8)
    }

    @Test(arguments: ShelfLight.allCases)
    func `noise reduction finds noise to blur and edges to sharpen`(light: ShelfLight) {
        let bitmap = ShelfPainter.paint(self.picture(light, width: 320, height: 240))
        let greens = stride(from: 1, to: bitmap.pixels.count, by: 3).map { Int(bitmap.pixels[$0]) }
        let steps = zip(greens, greens.dropFirst()).map { abs($0 - $1) }
        #expect(steps.count { (1...10).contains($0) } * 2 > steps.count)
        #expect(steps.count { $0 > 20 } * 20 > steps.count)
    }

    // MARK: Sizes

    @Test(arguments: [(64, 64), (64, 65), (65, 400), (400, 65), (97, 131), (4096, 64), (64, 4096)])
    func `any shape can be painted`(width: Int, height: Int) {
        let bitmap = ShelfPainter.paint(self.picture(width: width, height: height, seed: 9))
        #expect(bitmap.size == PixelSize(width: width, height: height))
        #expect(spread(bitmap) > 200, "a shelf is not one color")
    }

    @Test func `many seeds paint without trouble`() {
        for seed in 100..<116 as Range<UInt64> {
            let light = ShelfLight.allCases[Int(seed % 3)]
            #expect(ShelfPainter.paint(self.picture(light, width: 64, height: 72, seed: seed)).width == 64)
        }
    }

    @Test func `a JPEG has the bytes of a photo`() throws {
        var encoder = JPEGEncoder()
        let size = PixelSize(width: 640, height: 480)
        for shelf in PaintedShelf.corpus(count: 5, seed: 1, sizes: .exactly(size)) {
            let bytes = try ShelfPainter.jpeg(shelf.picture, encoder: &encoder).count
            #expect((35_000..<75_000).contains(bytes), "\(shelf.name)")
        }
    }

    // MARK: Corpus

    @Test func `a corpus has every kind in the sizes of phone cameras, or half of them`() {
        let shelves = PaintedShelf.corpus(count: 9, seed: 1, sizes: .phones)
        #expect(
            shelves.map { "\($0.name) \($0.picture.size)" } == [
                "shelf-001-landscape-normal.jpg 4032 x 3024", "shelf-002-portrait-dark.jpg 3024 x 4032",
                "shelf-003-landscape-bright.jpg 4032 x 3024", "shelf-004-tall-normal.jpg 1816 x 4032",
                "shelf-005-landscape-normal-hazy.jpg 3264 x 2448",
                "shelf-006-portrait-normal.jpg 3024 x 4032", "shelf-007-landscape-normal.jpg 4032 x 2268",
                "shelf-008-portrait-normal.jpg 2448 x 3264", "shelf-009-landscape-normal.jpg 4032 x 3024",
            ])
        #expect(Set(shelves.map(\.picture.seed)).count == 9)
        let halved = PaintedShelf.corpus(count: 9, seed: 1, sizes: .halved).map(\.picture.size)
        #expect(
            halved
                == shelves.map {
                    PixelSize(width: $0.picture.size.width / 2, height: $0.picture.size.height / 2)
                })
    }
}
