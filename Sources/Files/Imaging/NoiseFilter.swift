/// The app's light noise reduction, level 0.02 and sharpness 0.4, as far as it is known
/// (Docs/apps.md section 9, step 4): small differences in luminance are noise and are blurred, larger
/// ones are edges and are sharpened.
///
/// An approximation of Core Image's filter, whose formula is not published. Of luma only:
///
///     d = Y - mean of the 3 x 3 neighborhood, weighted 1 2 1 both ways, edges repeated
///     |d| < level:  Y - d (1 - |d| / level)
///     otherwise:    Y + 0.4 (|d| - level) with d's sign, at most 40
///
/// with the level 0.02 x 255. It has no jumps. Decision 0080 says where it is near the app's and where not.
enum NoiseFilter {
    /// 0.02 x 255 in sixteenths, which is what the weights leave.
    static let level: Int16 = 82
    /// The largest detail that is sharpened: 100 levels.
    static let detailMax: Int16 = 1_600

    /// Filters in place. The last column and row of odd sides are repeated into the padding.
    static func apply(to planes: borrowing PhotoPlanes) {
        Self.smooth(planes.luma, columns: planes.size.width, rows: planes.size.height)
        planes.padLuma()
    }

    private static func smooth(_ luma: borrowing ByteRows, columns: Int, rows: Int) {
        // The two rows that were overwritten already, or are about to be, are kept here; then the sums of three rows,
        // with a column more on either side.
        var memory = [UInt8](repeating: 0, count: columns * 2)
        var sums = [Int16](repeating: 0, count: columns + 2)
        unsafe memory.withUnsafeMutableBufferPointer { memory in
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                guard let memory = memory.baseAddress, let sums = sums.baseAddress else { return }
                var above = unsafe memory
                var here = unsafe memory + columns
                unsafe above.update(from: luma.row(0), count: columns)
                for row in 0..<rows {
                    let target = unsafe luma.row(row)
                    let below = unsafe luma.row(min(row + 1, rows - 1))
                    unsafe here.update(from: target, count: columns)
                    unsafe Self.sum(above, here, below, into: sums, count: columns)
                    unsafe Self.smoothRow(here, sums, into: target, count: columns)
                    unsafe swap(&above, &here)
                }
            }
        }
    }

    private static func sum(
        _ above: UnsafePointer<UInt8>, _ here: UnsafePointer<UInt8>, _ below: UnsafePointer<UInt8>,
        into sums: UnsafeMutablePointer<Int16>, count: Int
    ) {
        let inner = unsafe sums + 1
        for index in 0..<count {
            unsafe inner[index] = Int16(above[index]) &+ Int16(here[index]) &* 2 &+ Int16(below[index])
        }
        unsafe sums[0] = sums[1]
        unsafe sums[count + 1] = sums[count]
    }

    private static func smoothRow(
        _ source: UnsafePointer<UInt8>, _ sums: UnsafePointer<Int16>,
        into target: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        let (level, detailMax) = (Self.level, Self.detailMax)
        for index in 0..<count {
            let center = unsafe Int16(source[index])
            let around = unsafe sums[index] &+ sums[index &+ 1] &* 2 &+ sums[index &+ 2]
            let detail = center &* 16 &- around
            let noise = min(max(detail, 0 &- level), level)
            let edge = min(max(detail &- noise, 0 &- detailMax), detailMax)
            // In 32nds of a level: 2 / 82 is 12.5 / 512, and 2 x 0.4 is 13 / 16. No product leaves 16 bits.
            let removed = (noise &* (level &- max(noise, 0 &- noise)) &* 12) >> 9
            let added = (edge &* 13) >> 4
            let level = (center &* 32 &- removed &+ added &+ 16) >> 5
            unsafe target[index] = UInt8(truncatingIfNeeded: min(max(level, 0), 255))
        }
    }
}
