import Testing

@testable import Imaging

@Suite struct PreprocessorTests {
    private func photograph(_ bitmap: Bitmap) throws -> [UInt8] {
        var encoder = JPEGEncoder()
        return try encoder.encode(bitmap, quality: 90)
    }

    private func photograph(_ width: Int, _ height: Int) throws -> [UInt8] {
        try self.photograph(gradient(width, height))
    }

    private func flat(_ width: Int, _ height: Int, _ level: UInt8) -> Bitmap {
        Bitmap(width: width, height: height, pixels: .init(repeating: level, count: width * height * 3))
    }

    private func decode(_ jpeg: [UInt8]) throws -> Bitmap {
        var decoder = JPEGDecoder()
        return try decoder.decode(jpeg, scale: .full)
    }

    /// What contrast and brightness make of a picture, channel by channel.
    private func toned(_ bitmap: Bitmap, _ brightness: Double) -> Bitmap {
        Bitmap(
            width: bitmap.width, height: bitmap.height,
            pixels: bitmap.pixels.map { level in
                UInt8(min(255, max(0, 1.5 * Double(level) - 63.75 + 255 * brightness + 0.5)))
            })
    }

    // MARK: What comes out

    @Test func `a large photograph becomes a JPEG of 1920 pixels`() throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(2400, 600))
        #expect(photo.size == PixelSize(width: 1920, height: 480))
        #expect(photo.sourceSize == PixelSize(width: 2400, height: 600))
        #expect(photo.wasRotated == false)
        #expect(photo.brightnessAdjustment == 0)
        let picture = try self.decode(photo.jpeg)
        #expect(picture.size == photo.size)
        #expect(difference(picture, self.toned(gradient(1920, 480), 0)) < 3)
    }

    @Test func `a photograph of three times the size is decoded at half of it, and looks the same`() throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(5760, 120))
        #expect(photo.size == PixelSize(width: 1920, height: 40))
        #expect(difference(try self.decode(photo.jpeg), self.toned(gradient(1920, 40), 0)) < 3)
    }

    @Test func `a small photograph keeps its size and is encoded all the same`() throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(320, 240))
        #expect(photo.size == PixelSize(width: 320, height: 240))
        #expect(difference(try self.decode(photo.jpeg), self.toned(gradient(320, 240), 0)) < 3)
    }

    // MARK: Rotation

    @Test(arguments: [
        (100, 200, false, 100, 200), (100, 201, true, 201, 100), (101, 203, true, 203, 101),
        (100, 50, false, 100, 50), (1000, 2500, true, 1920, 768),
    ])
    func `more than twice as high as wide is turned, twice is not`(
        width: Int, height: Int, isTurned: Bool, newWidth: Int, newHeight: Int
    ) throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(width, height))
        #expect(photo.wasRotated == isTurned)
        #expect(photo.size == PixelSize(width: newWidth, height: newHeight))
    }

    @Test func `the turn is clockwise: what was above is on the right`() throws {
        var pixels: [UInt8] = []
        for y in 0..<161 {
            for x in 0..<80 { pixels += y < 40 ? [220, 60, 60] : x < 40 ? [60, 60, 190] : [120, 120, 120] }
        }
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(Bitmap(width: 80, height: 161, pixels: pixels)))
        let picture = try self.decode(photo.jpeg)
        func pixel(_ x: Int, _ y: Int) -> ArraySlice<UInt8> {
            picture.pixels[(y * picture.width + x) * 3..<(y * picture.width + x) * 3 + 3]
        }
        #expect(picture.size == PixelSize(width: 161, height: 80))
        let (right, above, below) = (pixel(140, 40), pixel(40, 10), pixel(40, 70))
        #expect(right.first.map { $0 > 200 } == true, "the red top is on the right")
        #expect(above.last.map { $0 > 200 } == true, "the blue left is above")
        #expect(Set(below.map { Int($0) / 16 }).count == 1, "the grey right is below")
    }

    // MARK: Brightness

    @Test(arguments: [
        (0, 0.2, 0), (60, 0.2, 77), (100, 0.13, 119), (128, 0, 128), (162, 0, 179), (170, -0.122, 160),
        (255, -0.2, 255),
    ])
    func `one color is brightened or darkened by the app's rule`(
        level: UInt8, brightness: Double, expected: Int
    ) throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(self.flat(64, 64, level)))
        #expect(abs(photo.brightnessAdjustment - brightness) < 0.005)
        let picture = try self.decode(photo.jpeg)
        #expect(picture.pixels.allSatisfy { abs(Int($0) - expected) <= 1 })
    }

    // MARK: What else comes in

    @Test func `other ways to store colors give the same picture`() throws {
        // The fixtures' sizes are their own; what counts is that each is taken.
        var preprocessor = Preprocessor()
        for (jpeg, width, height) in [
            (Fixtures.progressive, 24, 16), (Fixtures.greyscale, 3, 2), (Fixtures.onePixel, 1, 1),
        ] {
            let photo = try preprocessor.run(jpeg, noise: .off)
            #expect(photo.size == PixelSize(width: width, height: height))
            let source = try self.decode(jpeg)
            let expected = self.toned(source, photo.brightnessAdjustment)
            #expect(difference(try self.decode(photo.jpeg), expected) < 12, "\(width) x \(height)")
        }
    }

    @Test func `what cannot be decoded passes the filters unchanged, with zeros, and is refused after them`()
        throws
    {
        let good = try self.photograph(50, 100)
        let bad: [([UInt8], ImagingError)] = [
            ([], .empty), (Array(good.prefix(good.count / 2)), .truncated),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D], .notAJPEG(found: [0x89, 0x50, 0x4E, 0x47])),
            (Fixtures.cmyk, .unsupported(reason: "CMYK colors (a print file, not a photograph)")),
        ]
        var preprocessor = Preprocessor()
        for (jpeg, error) in bad {
            let filtered = preprocessor.filter(jpeg)
            #expect(
                filtered
                    == FilteredPhoto(jpeg: jpeg, wasRotated: false, brightnessAdjustment: 0, sizes: nil))
            #expect(throws: error) { try preprocessor.resize(filtered) }
        }
    }

    @Test func `an error leaves the preprocessor usable`() throws {
        var preprocessor = Preprocessor(pixelsMax: 5_000)
        let good = try self.photograph(50, 100)
        let first = try preprocessor.run(good)
        #expect(throws: ImagingError.empty) { try preprocessor.run([]) }
        #expect(throws: ImagingError.truncated) { try preprocessor.run(Array(good.prefix(good.count / 2))) }
        let large = try self.photograph(51, 100)
        #expect(throws: ImagingError.tooLarge(width: 51, height: 100, pixelsMax: 5_000)) {
            try preprocessor.run(large)
        }
        #expect(try preprocessor.run(good) == first)
    }

    @Test(arguments: [(20_000, 2, false, 1920, 1), (2, 20_000, true, 1920, 1), (1, 1, false, 1, 1)])
    func `a ribbon and a dot are pictures`(
        width: Int, height: Int, isTurned: Bool, newWidth: Int, newHeight: Int
    ) throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(width, height))
        #expect(photo.size == PixelSize(width: newWidth, height: newHeight))
        #expect(photo.wasRotated == isTurned)
        #expect(try self.decode(photo.jpeg).size == photo.size)
    }

    @Test func `hostile bytes end in an error or an upload, never in a crash`() throws {
        var preprocessor = Preprocessor(pixelsMax: 1_000_000)
        var state: UInt64 = 11
        for source in [try self.photograph(40, 90), Fixtures.progressive, Fixtures.greyscale] {
            for _ in 0..<200 {
                var damaged = source
                for _ in 0..<4 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    damaged[Int((state >> 33) % UInt64(damaged.count))] = UInt8(
                        truncatingIfNeeded: state >> 20)
                }
                if let photo = try? preprocessor.run(damaged) {
                    #expect(photo.jpeg.starts(with: [0xFF, 0xD8]))
                }
            }
        }
    }

    // MARK: Stages

    @Test func `there is a picture for each step`() throws {
        var preprocessor = Preprocessor()
        let jpeg = try self.photograph(self.flat(40, 100, 60))
        let stages = try preprocessor.stages(jpeg, noise: .on)
        #expect(
            stages.map(\.name) == [
                "1-rotated", "2-contrast", "3-brightness", "4-noise", "5-filtered", "6-upload",
            ])
        let pictures = try stages.map { try self.decode($0.jpeg) }
        #expect(pictures.allSatisfy { $0.size == PixelSize(width: 100, height: 40) })
        let levels = pictures.map { Int($0.pixels[0]) }
        for (level, expected) in zip(levels, [60, 26, 77, 77, 77, 77]) { #expect(abs(level - expected) <= 1) }
        #expect(stages.last?.jpeg == (try preprocessor.run(jpeg)).jpeg)
        #expect(try preprocessor.stages(jpeg, noise: .off).map(\.name).contains("4-noise") == false)
    }
}
