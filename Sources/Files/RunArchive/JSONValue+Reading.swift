import Observations

extension JSONValue {
    /// As deep as anything of ours is, and more.
    private static let depthMax = 32

    /// Reads a document of ours back; nil for what is none. Numbers stay text.
    package init?(reading bytes: some Sequence<UInt8>) {
        var reader = Reader(rest: Array(bytes)[...])
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        guard reader.rest.isEmpty else { return nil }
        self = value
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skipSpace() {
            self.rest = self.rest.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        }

        private mutating func take(_ sign: Unicode.Scalar) -> Bool {
            self.skipSpace()
            guard self.rest.first == UInt8(ascii: sign) else { return false }
            self.rest.removeFirst()
            return true
        }

        mutating func value(depth: Int) -> JSONValue? {
            guard depth < JSONValue.depthMax else { return nil }
            self.skipSpace()
            switch self.rest.first {
            case UInt8(ascii: "{"): return self.object(depth: depth)
            case UInt8(ascii: "["): return self.array(depth: depth)
            case UInt8(ascii: "\""):
                self.rest.removeFirst()
                return FlatLine.text(&self.rest).map { .string($0) }
            case UInt8(ascii: "t"): return FlatLine.word("true", &self.rest) ? .bool(true) : nil
            case UInt8(ascii: "f"): return FlatLine.word("false", &self.rest) ? .bool(false) : nil
            case UInt8(ascii: "n"): return FlatLine.word("null", &self.rest) ? .null : nil
            default:
                let digits = self.rest.prefix { (0x2D...0x2E).contains($0) || (0x30...0x39).contains($0) }
                guard !digits.isEmpty, digits.count < 48 else { return nil }
                self.rest = self.rest[digits.endIndex...]
                return .number(String(decoding: digits, as: UTF8.self))
            }
        }

        private mutating func object(depth: Int) -> JSONValue? {
            guard self.take("{") else { return nil }
            var members: [String: JSONValue] = [:]
            if self.take("}") { return .object(members) }
            repeat {
                guard self.take("\""), let key = FlatLine.text(&self.rest), self.take(":"),
                    let value = self.value(depth: depth + 1)
                else { return nil }
                members[key] = value
            } while self.take(",")
            return self.take("}") ? .object(members) : nil
        }

        private mutating func array(depth: Int) -> JSONValue? {
            guard self.take("[") else { return nil }
            var values: [JSONValue] = []
            if self.take("]") { return .array(values) }
            repeat {
                guard let value = self.value(depth: depth + 1) else { return nil }
                values.append(value)
            } while self.take(",")
            return self.take("]") ? .array(values) : nil
        }
    }

    // MARK: Reading

    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    package var members: [(key: String, value: JSONValue)] {
        guard case .object(let members) = self else { return [] }
        return members.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
    }

    package var elements: [JSONValue] {
        guard case .array(let values) = self else { return [] }
        return values
    }

    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var flag: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    /// The digits of a whole number.
    package func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        guard case .number(let digits) = self else { return nil }
        return Number(digits)
    }

    package var integer: Int? { self.integer(Int.self) }

    /// More than any run can count, and little enough that sums and products of what was read fit.
    package static let countMax = 1 << 50

    /// The number as a count of things; nil for one that no run can have counted.
    package var count: Int? {
        self.integer.flatMap { (0...Self.countMax).contains($0) ? $0 : nil }
    }

    /// The number as a moment or length in nanoseconds that a run can reach. `decimals`: of the text, see `scaled`.
    package func nanoseconds(_ decimals: Int) -> Int64? {
        self.scaled(decimals).flatMap { ObservationRange.time.contains($0) ? $0 : nil }
    }

    /// Whether every whole number in it is one that a run can have counted, but for those of these keys.
    package func holdsCounts(except keys: Set<String>) -> Bool {
        switch self {
        case .number(let digits):
            let whole = Int64(digits.prefix { $0 != "." })
            return whole.map { $0.magnitude <= UInt64(Self.countMax) } ?? false
        case .object(let members):
            return members.allSatisfy { keys.contains($0.key) || $0.value.holdsCounts(except: keys) }
        case .array(let values): return values.allSatisfy { $0.holdsCounts(except: keys) }
        case .string, .bool, .null: return true
        }
    }

    /// The number in units of the last of so many digits after the point; nil where it has more, or does not fit.
    package func scaled(_ decimals: Int) -> Int64? {
        guard case .number(let digits) = self else { return nil }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = parts.count > 1 ? parts[1] : ""
        guard parts.count <= 2, fraction.count <= decimals else { return nil }
        return Int64(parts[0] + fraction + String(repeating: "0", count: decimals - fraction.count))
    }
}
