import SimBase
import Testing

/// Digits that are made eight at a time must be those of the number.
@Suite struct DecimalTests {
    private static func texts(_ value: Int64) -> [String] {
        var array: [UInt8] = []
        Decimal.append(value, to: &array)
        return [String(decoding: array, as: UTF8.self), ByteBuilder.text { Decimal.append(value, to: &$0) }]
    }

    @Test func `every number of digits is written whole, next to each power of ten`() {
        var power: Int64 = 1
        for _ in 0..<19 {
            for value in [power - 1, power, power + 1, -power, power / 7 * 3] {
                #expect(Self.texts(value) == [String(value), String(value)])
            }
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
        for value in [Int64.min, .max] { #expect(Self.texts(value) == [String(value), String(value)]) }
    }

    @Test func `every group of four digits is written as it is`() {
        for value in 0..<10_000 as Range<UInt64> {
            let text = String(value)
            let padded = String(repeating: "0", count: 4 - text.count) + text
            let written = ByteBuilder.text { Decimal.append(value * 10_000 + value, digits: 8, to: &$0) }
            #expect(written == padded + padded)
        }
    }

    @Test func `a width leaves digits out in front, or brings zeros`() {
        let value: UInt64 = 12_345_678_901_234_567
        let whole = "012345678901234567"
        for width in 0...16 {
            var array: [UInt8] = []
            Decimal.append(value, digits: width, to: &array)
            let draft = ByteBuilder.text { Decimal.append(value, digits: width, to: &$0) }
            #expect(String(decoding: array, as: UTF8.self) == whole.suffix(width))
            #expect(draft == whole.suffix(width))
        }
        #expect(ByteBuilder.text { Decimal.append(42, digits: 12, to: &$0) } == "000000000042")
    }
}
