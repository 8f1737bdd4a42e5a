import Foundation
package import Metrics
import SimBase

/// A histogram as HdrHistogram's V2 compressed encoding, in Base64: what a line of a `.hlog` holds.
package enum HistogramCode {
    /// Cookies of the format: encoding V2, word size 1.
    private static let cookie: UInt32 = 0x1C84_9303 | 0x10
    private static let packedCookie: UInt32 = 0x1C84_9304 | 0x10
    /// The lowest discernible value, 1 µs: the unit of 512 ns follows from it.
    private static let lowest: UInt64 = 1_000
    private static let headBytes = 40
    private static let bytesMax = Self.headBytes + HDRLayout.countsLength * 9

    /// Nil when memory is short.
    package static func text(_ histogram: HDRHistogram) -> String? {
        var counts: [UInt8] = []
        var zeros: Int64 = 0
        if let indexes = histogram.occupied {
            zeros = Int64(indexes.lowerBound)
            for index in indexes {
                let count = histogram.count(at: index)
                guard count != 0 else {
                    zeros += 1
                    continue
                }
                if zeros > 0 { PackedNumbers.append(-zeros, to: &counts) }
                zeros = 0
                PackedNumbers.append(count, to: &counts)
            }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headBytes + counts.count)
        Self.append(Self.cookie, to: &bytes)
        Self.append(UInt32(counts.count), to: &bytes)
        Self.append(UInt32(0), to: &bytes)  // normalizing index offset
        Self.append(UInt32(HDRLayout.significantDigits), to: &bytes)
        Self.append(Self.lowest, to: &bytes)
        Self.append(UInt64(HDRLayout.highestTrackable), to: &bytes)
        Self.append((1.0).bitPattern, to: &bytes)  // ratio of integers to doubles
        bytes += counts
        guard let packed = Deflate.packed(bytes) else { return nil }
        var whole: [UInt8] = []
        Self.append(Self.packedCookie, to: &whole)
        Self.append(UInt32(packed.count), to: &whole)
        return Base64.text(whole + packed)
    }

    /// Nil for what is not a histogram of our layout.
    package static func histogram(_ text: ArraySlice<UInt8>) -> HDRHistogram? {
        guard let whole = Data(base64Encoded: Data(text)).map({ Array($0) }), whole.count > 8,
            Self.number(whole, at: 0) == Self.packedCookie,
            Int(Self.number(whole, at: 4)) == whole.count - 8,
            let bytes = Deflate.unpacked(Array(whole[8...]), bytesMax: Self.bytesMax),
            bytes.count >= Self.headBytes, Self.number(bytes, at: 0) == Self.cookie,
            Int(Self.number(bytes, at: 4)) == bytes.count - Self.headBytes,
            Self.number(bytes, at: 8) == 0, Int(Self.number(bytes, at: 12)) == HDRLayout.significantDigits,
            Self.number(bytes, at: 16) == 0, UInt64(Self.number(bytes, at: 20)) == Self.lowest
        else { return nil }
        var rest = bytes[Self.headBytes...]
        var indexes: [(index: Int, count: Int64)] = []
        // Most of a histogram is empty: its zeros are skipped, not made.
        var index = 0
        while !rest.isEmpty {
            guard let number = PackedNumbers.takeNumber(&rest) else { return nil }
            if number >= 0 {
                if number > 0 { indexes.append((index: index, count: number)) }
                index += 1
            } else {
                guard number >= -Int64(HDRLayout.countsLength - index) else { return nil }
                index += Int(-number)
            }
            guard index <= HDRLayout.countsLength else { return nil }
        }
        return HDRHistogram(indexes: indexes)
    }

    // MARK: Numbers

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    private static func number(_ bytes: [UInt8], at index: Int) -> UInt32 {
        bytes[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
