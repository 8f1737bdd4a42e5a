import Testing

@testable import Imaging

/// A picture without symmetry: every pixel depends on its position.
func pattern(_ width: Int, _ height: Int) -> Bitmap {
    var pixels: [UInt8] = []
    for y in 0..<height {
        for x in 0..<width {
            pixels.append(UInt8((x * 7 + y * 13) % 256))
            pixels.append(UInt8((x * x + y * 31) % 256))
            pixels.append(UInt8(((x * 29) ^ (y * 17)) % 256))
        }
    }
    return Bitmap(width: width, height: height, pixels: pixels)
}

/// A picture that survives JPEG almost unchanged: slow gradients.
func gradient(_ width: Int, _ height: Int) -> Bitmap {
    var pixels: [UInt8] = []
    for y in 0..<height {
        for x in 0..<width { pixels += [UInt8(x * 255 / width), UInt8(y * 255 / height), 128] }
    }
    return Bitmap(width: width, height: height, pixels: pixels)
}

func difference(_ left: Bitmap, _ right: Bitmap) -> Double {
    guard left.size == right.size else { return .infinity }
    let total = zip(left.pixels, right.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    return Double(total) / Double(left.pixels.count)
}

/// The variance of the green levels: the square of a picture's contrast.
func spread(_ bitmap: Bitmap) -> Double {
    let greens = stride(from: 1, to: bitmap.pixels.count, by: 3).map { Double(bitmap.pixels[$0]) }
    let mean = greens.reduce(0, +) / Double(greens.count)
    return greens.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(greens.count)
}

private func decode(_ jpeg: [UInt8], scale: DecodeScale = .full) throws(ImagingError) -> Bitmap {
    var decoder = JPEGDecoder()
    return try decoder.decode(jpeg, scale: scale)
}

private func encode(_ bitmap: Bitmap, quality: Int = 85) throws(ImagingError) -> [UInt8] {
    var encoder = JPEGEncoder()
    return try encoder.encode(bitmap, quality: quality)
}

/// The JPEG with another size written into its frame header (SOF0: FF C0, length, precision, height, width).
private func claiming(_ width: Int, _ height: Int, _ jpeg: [UInt8]) throws -> [UInt8] {
    let frame = try #require(jpeg.indices.dropLast().first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
    var patched = jpeg
    patched[frame + 5] = UInt8(height >> 8)
    patched[frame + 6] = UInt8(height & 0xFF)
    patched[frame + 7] = UInt8(width >> 8)
    patched[frame + 8] = UInt8(width & 0xFF)
    return patched
}

@Suite struct JPEGTests {
    @Test func `what was encoded is decoded`() throws {
        let picture = gradient(160, 120)
        #expect(difference(try decode(encode(picture, quality: 95)), picture) < 2)
    }

    @Test func `one encoder and one decoder serve many pictures of any size`() throws {
        var encoder = JPEGEncoder()
        var decoder = JPEGDecoder()
        for (width, height) in [(64, 64), (300, 200), (1, 1), (17, 500), (300, 200)] {
            let jpeg = try encoder.encode(gradient(width, height), quality: 85)
            #expect(try jpeg == encode(gradient(width, height)), "a used encoder writes what a new one would")
            #expect(throws: ImagingError.truncated) {
                try decoder.decode(Array(jpeg.dropLast(20)), scale: .full)
            }
            #expect(try decoder.decode(jpeg, scale: .full).size == PixelSize(width: width, height: height))
        }
    }

    @Test func `quality sets the size`() throws {
        let picture = pattern(200, 200)
        let low = try encode(picture, quality: 40).count
        let high = try encode(picture, quality: 95).count
        #expect(low * 2 < high)
    }

    @Test func `chroma is halved both ways`() throws {
        let jpeg = try encode(gradient(32, 32))
        let frame = try #require(jpeg.indices.dropLast().first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        // Component 1, the luma, has sampling factors 2 x 2.
        #expect(Array(jpeg[(frame + 10)..<(frame + 12)]) == [1, 0x22])
    }

    @Test func `no bytes are an empty file`() {
        #expect(throws: ImagingError.empty) { try decode([]) }
    }

    @Test func `a PNG is not a JPEG, and the error shows its bytes`() {
        #expect(throws: ImagingError.notAJPEG(found: [0x89, 0x50, 0x4E, 0x47])) {
            try decode([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A])
        }
        #expect(
            ImagingError.notAJPEG(found: [0x89, 0x05]).description
                == "not a JPEG: it begins with 89 05 instead of FF D8 FF")
    }

    @Test func `every way of cutting a JPEG off is an error`() throws {
        let jpeg = try encode(gradient(48, 32))
        for count in 1..<(jpeg.count - 2) {
            #expect(throws: ImagingError.truncated, "cut to \(count) bytes") {
                try decode(Array(jpeg.prefix(count)))
            }
        }
    }

    @Test func `the header alone of a photograph is not a photograph`() {
        // What a client's own tests upload: a start marker and an empty APP0 (Docs/apps.md section 9).
        let stub: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
        #expect(throws: ImagingError.truncated) { try decode(stub) }
    }

    @Test func `stray bytes between markers, which some cameras write, are passed over`() throws {
        let picture = gradient(48, 32)
        let jpeg = try encode(picture, quality: 95)
        let strayed = jpeg.dropLast(2) + [0x12, 0x34, 0xFF, 0xD9]
        #expect(difference(try decode(Array(strayed)), picture) < 2)
    }

    @Test func `a header that announces too many pixels is refused before anything is decoded`() throws {
        let bomb = try claiming(65_500, 65_500, encode(gradient(16, 16)))
        #expect(throws: ImagingError.tooLarge(width: 65_500, height: 65_500, pixelsMax: 64_000_000)) {
            try decode(bomb)
        }
    }

    @Test func `the limit of pixels is itself allowed`() throws {
        let jpeg = try encode(gradient(20, 10))
        var decoder = JPEGDecoder(pixelsMax: 200)
        #expect(try decoder.decode(jpeg, scale: .full).size == PixelSize(width: 20, height: 10))
        var stricter = JPEGDecoder(pixelsMax: 199)
        #expect(throws: ImagingError.tooLarge(width: 20, height: 10, pixelsMax: 199)) {
            try stricter.decode(jpeg, scale: .full)
        }
    }

    @Test func `a size of zero is refused`() throws {
        let jpeg = try encode(gradient(16, 16))
        #expect(throws: ImagingError.self) { try decode(claiming(0, 16, jpeg)) }
        #expect(throws: ImagingError.self) { try decode(claiming(16, 0, jpeg)) }
    }

    @Test func `one pixel is a picture`() throws {
        let picture = try decode(Fixtures.onePixel)
        #expect(picture.size == PixelSize(width: 1, height: 1))
        #expect(zip(picture.pixels, [200, 100, 50]).allSatisfy { abs(Int($0) - $1) <= 3 })
    }

    @Test func `greyscale becomes three equal channels`() throws {
        let picture = try decode(Fixtures.greyscale)
        #expect(picture.size == PixelSize(width: 3, height: 2))
        for pixel in 0..<6 {
            #expect(Set(picture.pixels[(pixel * 3)..<(pixel * 3 + 3)]).count == 1)
        }
        #expect(
            difference(
                picture,
                Bitmap(width: 3, height: 2, pixels: [0, 80, 160, 200, 220, 255].flatMap { [$0, $0, $0] })) < 4
        )
    }

    @Test func `CMYK is refused by name`() {
        #expect(throws: ImagingError.unsupported(reason: "CMYK colors (a print file, not a photograph)")) {
            try decode(Fixtures.cmyk)
        }
    }

    @Test func `a progressive JPEG is decoded`() throws {
        let picture = try decode(Fixtures.progressive)
        let expected = Bitmap(
            width: 24, height: 16,
            pixels: (0..<16).flatMap { y in (0..<24).flatMap { x in [UInt8(x * 10), UInt8(y * 15), 128] } })
        #expect(difference(picture, expected) < 6)
    }

    @Test func `twelve bits a sample are refused`() throws {
        var jpeg = try encode(gradient(16, 16))
        let frame = try #require(jpeg.indices.dropLast().first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        jpeg[frame + 4] = 12
        #expect(throws: ImagingError.unsupported(reason: "Unsupported JPEG data precision 12")) {
            try decode(jpeg)
        }
    }

    @Test func `a side longer than JPEG allows is not encoded`() {
        let ribbon = Bitmap(width: 65_501, height: 1, pixels: [UInt8](repeating: 0, count: 65_501 * 3))
        #expect(
            throws: ImagingError.notEncodable(reason: "65501 x 1 pixels; a side has at most 65500 (sideMax)")
        ) {
            try encode(ribbon)
        }
    }

    @Test(arguments: [
        (400, PixelSize(width: 400, height: 200)), (201, PixelSize(width: 400, height: 200)),
        (200, PixelSize(width: 200, height: 100)), (100, PixelSize(width: 100, height: 50)),
        (50, PixelSize(width: 50, height: 25)), (1, PixelSize(width: 50, height: 25)),
    ])
    func `a covering decode is the smallest that still covers`(longSide: Int, expected: PixelSize) throws {
        let picture = try decode(encode(gradient(400, 200)), scale: .covering(longSide: longSide))
        #expect(picture.size == expected)
        #expect(difference(picture, gradient(400, 200).resized(to: expected)) < 3)
    }

    @Test func `hostile bytes end in an error or a picture, never in a crash`() throws {
        let jpeg = try encode(gradient(40, 40))
        var decoder = JPEGDecoder(pixelsMax: 1_000_000)
        var state: UInt64 = 7
        for _ in 0..<600 {
            var damaged = jpeg
            for _ in 0..<4 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                damaged[Int((state >> 33) % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: state >> 20)
            }
            if let picture = try? decoder.decode(damaged, scale: .full) {
                #expect(picture.pixels.count == picture.width * picture.height * 3)
            }
        }
    }
}
