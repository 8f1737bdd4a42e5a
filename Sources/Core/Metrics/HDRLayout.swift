/// The mapping between a value in nanoseconds and an index in the counts array of an HdrHistogram.
///
/// The layout is that of the published HdrHistogram (Gil Tene; the V2 encoding writes exactly this array) for a lowest
/// discernible value of 1 µs, a highest trackable value of 1 h and 3 significant decimal digits: buckets double in
/// width, every bucket has 2,048 equal sub-buckets, and the lower half of every bucket but the first is
/// already covered by the bucket below it and takes no space.
package enum HDRLayout {
    /// Nanoseconds. Values below it are distinguished in steps of `1 << unitMagnitude`, 512 ns.
    package static let lowestDiscernible: Int64 = 1_000
    /// Nanoseconds: one hour.
    package static let highestTrackable: Int64 = 3_600_000_000_000
    package static let significantDigits = 3

    /// The largest power of two not above the lowest discernible value.
    package static let unitMagnitude = 9
    /// The first power of two that holds 2 × 10^3 values, so that the upper half of a bucket is fine enough.
    package static let subBucketCount = 2_048
    package static let subBucketHalfCount = 1_024
    package static let subBucketHalfCountMagnitude = 10
    private static let subBucketMask: Int64 = 2_047 << 9
    /// The first bucket reaches 2^20 ns; 22 doublings pass one hour.
    package static let bucketCount = 23
    /// The number of indexes in a full counts array.
    package static let countsLength = (23 + 1) * 1_024

    /// The index of a value from 0 to `highestTrackable`. No logarithm: the bucket is the count of leading zeros.
    package static func index(of value: Int64) -> Int {
        let bucket =
            64 - Self.unitMagnitude - (Self.subBucketHalfCountMagnitude + 1)
            - (value | Self.subBucketMask).leadingZeroBitCount
        let subBucket = Int(value >> Int64(bucket + Self.unitMagnitude))
        return (bucket + 1) << Self.subBucketHalfCountMagnitude + (subBucket - Self.subBucketHalfCount)
    }

    /// The lowest value that is counted at this index.
    package static func lowestValue(at index: Int) -> Int64 {
        let (bucket, subBucket) = Self.bucket(index)
        return Int64(subBucket) << Int64(bucket + Self.unitMagnitude)
    }

    /// The highest value that is counted at this index.
    package static func highestValue(at index: Int) -> Int64 {
        Self.lowestValue(at: index) + Self.width(at: index) - 1
    }

    /// The value in the middle of this index, which represents all of its values if no exact one is known.
    package static func middleValue(at index: Int) -> Int64 {
        Self.lowestValue(at: index) + Self.width(at: index) / 2
    }

    /// Returns the number of nanoseconds that share this index.
    package static func width(at index: Int) -> Int64 {
        1 << Int64(Self.bucket(index).bucket + Self.unitMagnitude)
    }

    private static func bucket(_ index: Int) -> (bucket: Int, subBucket: Int) {
        let half = index >> Self.subBucketHalfCountMagnitude
        let within = index & (Self.subBucketHalfCount - 1)
        // The first bucket owns both of its halves; every other only its upper one.
        return half == 0 ? (0, within) : (half - 1, within + Self.subBucketHalfCount)
    }
}
