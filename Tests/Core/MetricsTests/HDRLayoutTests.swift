import Metrics
import Testing

struct HDRLayoutTests {
    @Test func `the constants follow from the range and the digits as in HdrHistogram`() {
        #expect(1 << HDRLayout.unitMagnitude <= HDRLayout.lowestDiscernible)
        #expect(2 << HDRLayout.unitMagnitude > HDRLayout.lowestDiscernible)
        #expect(HDRLayout.subBucketCount >= 2 * 1_000 && HDRLayout.subBucketCount / 2 < 2 * 1_000)
        #expect(HDRLayout.subBucketHalfCount * 2 == HDRLayout.subBucketCount)
        #expect(1 << HDRLayout.subBucketHalfCountMagnitude == HDRLayout.subBucketHalfCount)
        let reach = Int64(HDRLayout.subBucketCount) << Int64(HDRLayout.unitMagnitude)
        #expect(reach << Int64(HDRLayout.bucketCount - 1) > HDRLayout.highestTrackable)
        #expect(reach << Int64(HDRLayout.bucketCount - 2) <= HDRLayout.highestTrackable)
        #expect(HDRLayout.countsLength == (HDRLayout.bucketCount + 1) * HDRLayout.subBucketHalfCount)
    }

    /// (value, index, lowest, highest), as the published Python and Java implementations give them for
    /// (1,000, 3,600,000,000,000, 3).
    @Test(
        arguments: [
            (0, 0, 0, 511),
            (511, 0, 0, 511),
            (512, 1, 512, 1_023),
            (1_000, 1, 512, 1_023),
            (1_024, 2, 1_024, 1_535),
            (524_287, 1_023, 523_776, 524_287),
            (524_288, 1_024, 524_288, 524_799),
            (1_048_575, 2_047, 1_048_064, 1_048_575),
            (1_048_576, 2_048, 1_048_576, 1_049_599),
            (2_097_151, 3_071, 2_096_128, 2_097_151),
            (2_097_152, 3_072, 2_097_152, 2_099_199),
            (1_000_000_000, 12_147, 999_817_216, 1_000_341_503),
            (3_600_000_000_000, 24_204, 3_599_182_594_048, 3_601_330_077_695),
        ] as [(Int64, Int, Int64, Int64)])
    func `a value has its published index`(value: Int64, index: Int, lowest: Int64, highest: Int64) {
        #expect(HDRLayout.index(of: value) == index)
        #expect(HDRLayout.lowestValue(at: index) == lowest)
        #expect(HDRLayout.highestValue(at: index) == highest)
    }

    @Test func `indexes follow one another without a gap or an overlap`() {
        var expected: Int64 = 0
        for index in 0..<HDRLayout.countsLength {
            guard
                HDRLayout.lowestValue(at: index) == expected,
                HDRLayout.index(of: HDRLayout.lowestValue(at: index)) == index,
                HDRLayout.index(of: HDRLayout.highestValue(at: index)) == index,
                HDRLayout.index(of: HDRLayout.middleValue(at: index)) == index
            else {
                Issue.record("place \(index) does not begin where the one before ends, or is not its own")
                return
            }
            expected = HDRLayout.highestValue(at: index) + 1
        }
    }

    @Test func `a bucket is never wider than a thousandth of its values or one unit`() {
        for index in 0..<HDRLayout.countsLength {
            let width = HDRLayout.width(at: index)
            guard width == 512 || width * 1_000 <= HDRLayout.lowestValue(at: index) else {
                Issue.record("place \(index) is \(width) ns wide")
                return
            }
        }
    }

    /// The checksums were made with the published Python implementation (hdrhistogram 0.10.8) from the same values.
    @Test func `twenty thousand values lie where the published implementation puts them`() {
        var histogram = HDRHistogram()
        var state: UInt64 = 1
        var indexes: UInt64 = 0
        for number in 0..<20_000 as Range<UInt64> {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let value = Int64(((state >> 20) >> (number % 44)) % 3_600_000_000_001)
            let index = HDRLayout.index(of: value)
            for word in [Int64(index), HDRLayout.lowestValue(at: index), HDRLayout.highestValue(at: index)] {
                indexes = indexes &* 31 &+ UInt64(word)
            }
            histogram.record(value)
        }
        #expect(indexes == 6_088_596_188_549_205_368)
        let counts = (0..<HDRLayout.countsLength).reduce(UInt64(0)) {
            $0 &* 31 &+ UInt64(histogram.count(at: $1))
        }
        #expect(counts == 14_078_145_405_096_722_076)
        let layout = (0..<HDRLayout.countsLength).reduce(UInt64(0)) {
            $0 &* 31 &+ UInt64(HDRLayout.lowestValue(at: $1))
        }
        #expect(layout == 10_750_085_576_024_653_824)
        let percentiles: [UInt32] = [500_000, 750_000, 900_000, 950_000, 990_000, 999_000]
        #expect(
            percentiles.map { histogram.value(at: Percentile(perMillion: $0)) } == [
                2_181_119, 4_617_928_703, 381_983_653_887, 1_204_738_326_527, 3_015_067_041_791,
                3_554_085_437_439,
            ])
    }
}
