/// One line of `events.ndjson` in its parts: a JSON object without objects or arrays in it.
///
/// A killed run leaves half a line, a full disk anything at all: whatever is not exactly such an object is nil.
package struct FlatLine {
    package enum Value: Equatable {
        case null
        case flag(Bool)
        case number(Int64)
        case text(String)
    }

    /// More than any line of ours has.
    private static let fieldsMax = 24

    package private(set) var fields: [(key: String, value: Value)] = []

    package init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        self.fields.reserveCapacity(12)
        guard rest.popFirst() == UInt8(ascii: "{") else { return nil }
        repeat {
            guard self.fields.count < Self.fieldsMax, rest.popFirst() == UInt8(ascii: "\""),
                let key = Self.text(&rest), rest.popFirst() == UInt8(ascii: ":"),
                let value = Self.value(&rest)
            else { return nil }
            self.fields.append((key, value))
            guard let sign = rest.popFirst() else { return nil }
            if sign == UInt8(ascii: "}") { break }
            guard sign == UInt8(ascii: ",") else { return nil }
        } while true
        guard rest.isEmpty else { return nil }
    }

    private func value(_ key: String) -> Value? { self.fields.first { $0.key == key }?.value }

    package func number(_ key: String) -> Int64? {
        guard case .number(let number) = self.value(key) else { return nil }
        return number
    }

    package func text(_ key: String) -> String? {
        guard case .text(let text) = self.value(key) else { return nil }
        return text
    }

    package func flag(_ key: String) -> Bool? {
        guard case .flag(let flag) = self.value(key) else { return nil }
        return flag
    }

    // MARK: Parsing

    private static func value(_ rest: inout ArraySlice<UInt8>) -> Value? {
        switch rest.first {
        case UInt8(ascii: "\""):
            rest.removeFirst()
            return Self.text(&rest).map { .text($0) }
        case UInt8(ascii: "t"): return Self.word("true", &rest) ? .flag(true) : nil
        case UInt8(ascii: "f"): return Self.word("false", &rest) ? .flag(false) : nil
        case UInt8(ascii: "n"): return Self.word("null", &rest) ? .null : nil
        default: return Self.number(&rest).map { .number($0) }
        }
    }

    package static func word(_ word: StaticString, _ rest: inout ArraySlice<UInt8>) -> Bool {
        let bytes = Array(word.description.utf8)
        guard rest.starts(with: bytes) else { return false }
        rest.removeFirst(bytes.count)
        return true
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        var isNegative = false
        if rest.first == UInt8(ascii: "-") {
            isNegative = true
            rest.removeFirst()
        }
        var number: UInt64 = 0
        var digits = 0
        while let byte = rest.first, (0x30...0x39).contains(byte) {
            let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(byte - 0x30))
            guard !overflow, !carry else { return nil }
            number = sum
            digits += 1
            rest.removeFirst()
        }
        guard digits > 0 else { return nil }
        // Ids of connections use all 64 bits.
        guard isNegative else { return Int64(bitPattern: number) }
        return Int64(exactly: number).map { -$0 }
    }

    /// The opening quote has been read.
    package static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
        else { return nil }
        if rest[end] == UInt8(ascii: "\"") {
            let text = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            return text
        }
        return Self.escapedText(&rest)
    }

    private static func escapedText(_ rest: inout ArraySlice<UInt8>) -> String? {
        var units: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = Self.escape(&rest) else { return nil }
                units.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
            default: units.append(byte)
            }
        }
        return nil
    }

    private static func escape(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        switch rest.popFirst() {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "u"):
            // Our own writer has no use for surrogates.
            let digits = rest.prefix(4)
            rest = rest.dropFirst(4)
            return UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap { Unicode.Scalar($0) }
        default: return nil
        }
    }
}
