import Foundation
import SimBase

/// Whole numbers in few bytes: ZigZag LEB128, packed by zlib, as Base64.
enum PackedNumbers {
    private static let bytesOfNumberMax = 9

    /// Nil when memory is short.
    static func text(_ numbers: [Int64]) -> String? {
        var bytes: [UInt8] = []
        for number in numbers { Self.append(number, to: &bytes) }
        return Deflate.packed(bytes).map { Base64.text($0) }
    }

    /// Nil for what is not such a text, or has more than `countMax` numbers.
    static func numbers(_ text: String, countMax: Int) -> [Int64]? {
        guard let packed = Data(base64Encoded: text),
            let bytes = Deflate.unpacked(Array(packed), bytesMax: max(1, countMax * Self.bytesOfNumberMax))
        else { return nil }
        var rest = bytes[...]
        var numbers: [Int64] = []
        while !rest.isEmpty {
            guard numbers.count < countMax, let number = Self.takeNumber(&rest) else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    // MARK: One number

    /// ZigZag LEB128, of nine bytes at most: the ninth holds eight bits.
    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
        for _ in 0..<8 {
            guard rest > 0x7F else {
                bytes.append(UInt8(rest))
                return
            }
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    static func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
        var zigzag: UInt64 = 0
        for index in 0..<9 {
            guard let byte = bytes.popFirst() else { return nil }
            let bits = index == 8 ? byte : byte & 0x7F
            zigzag |= UInt64(bits) << UInt64(7 * index)
            if index == 8 || byte & 0x80 == 0 { break }
        }
        return Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
    }
}
