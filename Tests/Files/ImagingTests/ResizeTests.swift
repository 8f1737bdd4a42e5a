import SimBase
import Testing

@testable import Imaging

@Suite struct ResizeTests {
    // What Pillow 13's Image.resize(size, BILINEAR) makes of `pattern(37, 23)`.
    @Test(
        arguments: [
            (PixelSize(width: 10, height: 17), 0x73c5_ae2b_21c9_b51d),
            (PixelSize(width: 36, height: 22), 0x3980_8d77_92bd_5811),
            (PixelSize(width: 1, height: 1), 0x0f82_5c37_a859_281c),
            (PixelSize(width: 37, height: 5), 0xa555_bc52_0eba_9672),
            (PixelSize(width: 74, height: 46), 0x63d2_4e8e_cf88_b066),
        ] as [(PixelSize, UInt64)])
    func `resizing gives Pillow's bytes`(size: PixelSize, expected: UInt64) {
        var digest = Digest()
        digest.absorb(pattern(37, 23).resized(to: size).pixels)
        #expect(digest.value == expected)
    }

    @Test func `a small picture by hand`() {
        var pixels: [UInt8] = []
        for y in 0..<3 { for x in 0..<5 { pixels += [UInt8(x * 50), UInt8(y * 100), UInt8(10 * x + y)] } }
        let resized = Bitmap(width: 5, height: 3, pixels: pixels).resized(to: PixelSize(width: 2, height: 2))
        #expect(resized.pixels == [50, 38, 10, 150, 38, 30, 50, 163, 12, 150, 163, 32])
    }

    @Test func `the same size is the same picture`() {
        #expect(pattern(9, 7).resized(to: PixelSize(width: 9, height: 7)) == pattern(9, 7))
    }

    @Test(arguments: [1, 7, 64, 255])
    func `one color stays that color`(level: Int) {
        let flat = Bitmap(width: 41, height: 33, pixels: [UInt8](repeating: UInt8(level), count: 41 * 33 * 3))
        for (width, height) in [(1, 1), (40, 32), (13, 33), (5, 90)] {
            let resized = flat.resized(to: PixelSize(width: width, height: height))
            #expect(Set(resized.pixels) == [UInt8(level)])
        }
    }

    // Docs/apps.md section 9: the examples of "Resize", then its corners.
    @Test(arguments: [
        (4032, 3024, 1920, 1440), (3024, 4032, 1440, 1920), (1920, 1080, 1920, 1080), (2500, 1000, 1920, 768),
        (1921, 1921, 1920, 1920), (100, 50, 100, 50), (1, 1, 1, 1), (1, 5000, 1, 1920), (60_000, 1, 1920, 1),
        (2016, 1512, 1920, 1440), (900, 2000, 864, 1920), (1000, 1921, 999, 1920),
    ])
    func `an upload fits 1920 pixels and is never enlarged`(
        width: Int, height: Int, fittedWidth: Int, fittedHeight: Int
    ) {
        #expect(
            PixelSize(width: width, height: height).fitted(longSideMax: 1920)
                == PixelSize(width: fittedWidth, height: fittedHeight))
    }
}
