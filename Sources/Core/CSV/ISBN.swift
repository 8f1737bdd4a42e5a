internal import SimBase

/// An International Standard Book Number (ISO 2108) with the right check digit. One of ten digits is equal to the one of
/// thirteen digits of the same book.
package struct ISBN: Hashable, Sendable {
    /// Thirteen digits.
    package let digits: String

    /// Reads ten or thirteen digits; hyphens and spaces are ignored, and the last of ten digits may be `X`. Is nil for
    /// anything else, for another prefix than 978 and 979, and for a wrong check digit.
    package init?(_ text: String) {
        let bytes = text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
        guard bytes.count == 10 || bytes.count == 13, let last = bytes.last else { return nil }
        let values = bytes.dropLast().compactMap(Self.value)
        guard values.count == bytes.count - 1 else { return nil }
        if bytes.count == 10 {
            guard Self.check10(values) == (last | 0x20 == UInt8(ascii: "x") ? 10 : Self.value(last)) else {
                return nil
            }
            self.init(body: [9, 7, 8] + values)
        } else {
            guard values[0] == 9, values[1] == 7, values[2] >= 8, Self.check13(values) == Self.value(last)
            else { return nil }
            self.init(body: values)
        }
    }

    /// The number with the prefix 978 and these nine digits, before the check digit.
    package init(number: UInt64) {
        precondition(number < 1_000_000_000, "more than nine digits")
        var (rest, values) = (number, [UInt8](repeating: 0, count: 9))
        for index in values.indices.reversed() {
            values[index] = UInt8(rest % 10)
            rest /= 10
        }
        self.init(body: [9, 7, 8] + values)
    }

    /// `body`: twelve values of 0 to 9.
    private init(body: [UInt8]) {
        let digits = (body + [Self.check13(body)]).map { 0x30 + $0 }
        self.digits = String(decoding: digits, as: UTF8.self)
    }

    /// The form of ten digits. Is nil for a number with the prefix 979, which has none.
    package var tenDigits: String? {
        guard self.digits.hasPrefix("978") else { return nil }
        let body = Array(self.digits.utf8.dropFirst(3).dropLast())
        let check = Self.check10(body.map { $0 - 0x30 })
        return String(decoding: body + [check == 10 ? UInt8(ascii: "X") : 0x30 + check], as: UTF8.self)
    }

    /// The check digit after nine values of 0 to 9, from 0 to 10: weights 10 to 2, sum divisible by 11.
    package static func check10(_ values: [UInt8]) -> UInt8 {
        let sum = values.enumerated().reduce(0) { $0 + (10 - $1.offset) * Int($1.element) }
        return UInt8((11 - sum % 11) % 11)
    }

    /// The check digit after twelve values of 0 to 9: weights 1 and 3, sum divisible by 10.
    package static func check13(_ values: [UInt8]) -> UInt8 {
        let sum = values.enumerated().reduce(0) {
            $0 + Int($1.element) * ($1.offset.isMultiple(of: 2) ? 1 : 3)
        }
        return UInt8((10 - sum % 10) % 10)
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        (0x30...0x39).contains(byte) ? byte - 0x30 : nil
    }
}
