import Testing

@testable import Imaging

@Suite struct PreprocessorTests {
    private func photograph(_ width: Int, _ height: Int) throws -> [UInt8] {
        var encoder = JPEGEncoder()
        return try encoder.encode(gradient(width, height), quality: 90)
    }

    @Test func `a large photograph becomes a JPEG of 1920 pixels`() throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(2400, 600))
        #expect(photo.size == PixelSize(width: 1920, height: 480))
        #expect(photo.sourceSize == PixelSize(width: 2400, height: 600))

        var decoder = JPEGDecoder()
        let picture = try decoder.decode(photo.jpeg, scale: .full)
        #expect(picture.size == photo.size)
        #expect(difference(picture, gradient(1920, 480)) < 3)
    }

    @Test func `a small photograph keeps its size`() throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(320, 240))
        #expect(photo.size == PixelSize(width: 320, height: 240))
    }

    @Test func `a photograph of twice the size is decoded at half of it`() throws {
        var preprocessor = Preprocessor()
        let photo = try preprocessor.run(self.photograph(3841, 12))
        #expect(photo.size == PixelSize(width: 1920, height: 6))
    }

    @Test func `the filters are not there yet, and the result says so`() throws {
        var preprocessor = Preprocessor()
        #expect(try preprocessor.run(self.photograph(64, 64)).filtersApplied == false)
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
}
