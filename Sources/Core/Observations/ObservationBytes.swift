import SimBase
package import Talaria

/// Observations as bytes, little-endian, for a pipe between two processes of one build.
package struct ObservationBytesWriter: ~Copyable {
    package var bytes: [UInt8]

    package init(appendingTo bytes: consuming [UInt8]) { self.bytes = bytes }

    package mutating func observation(_ observation: borrowing Observation) {
        self.word(observation.at.nanoseconds)
        self.word(Int64(observation.device.raw) << 32 | Int64(observation.scan.raw))
        observation.what.write(to: &self)
    }

    package mutating func byte(_ value: UInt8) { self.bytes.append(value) }

    package mutating func word(_ value: Int64) {
        var rest = UInt64(bitPattern: value)
        for _ in 0..<8 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}

/// The length of a text is one byte.
private enum TextLength {
    static let none: UInt8 = .max
    static let most = 254
}

extension ObservationBytesWriter: FieldCodec {
    package var isReader: Bool { false }

    package mutating func begin(_ side: Side, _ name: StaticString) {
        self.byte(side.ordinal)
        _ = self.text("", name.description)
    }

    package mutating func number(_ key: StaticString, _ value: Int64?) -> Int64? {
        self.word(value ?? .min)
        return value
    }

    package mutating func identifier(_ key: StaticString, _ value: UInt64) -> UInt64 {
        self.word(Int64(bitPattern: value))
        return value
    }

    package mutating func flag(_ key: StaticString, _ value: Bool?) -> Bool? {
        self.byte(value.map { $0 ? 1 : 0 } ?? 2)
        return value
    }

    package mutating func text(_ key: StaticString, _ value: String?) -> String? {
        guard let value else {
            self.byte(TextLength.none)
            return nil
        }
        let utf8 = value.utf8.prefix(TextLength.most)
        self.byte(UInt8(utf8.count))
        self.bytes.append(contentsOf: utf8)
        return value
    }

    package mutating func details(of book: inout Book) {
        self.word(Int64(bitPattern: book.confidence?.bitPattern ?? .max))
        _ = self.text("", book.coverUrl)
    }
}

/// Reads what an `ObservationBytesWriter` wrote.
package struct ObservationBytesReader: ~Copyable {
    private var bytes: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    package var isAtEnd: Bool { self.bytes.isEmpty }

    package mutating func observation() throws(MalformedObservation) -> Observation {
        let at = Instant(nanoseconds: try self.word())
        let phone = UInt64(bitPattern: try self.word())
        let side = Side(ordinal: try self.byte())
        guard let side, let name = try self.text("", nil) else { throw MalformedObservation() }
        return Observation(
            at: at, device: DeviceNumber(UInt32(truncatingIfNeeded: phone >> 32)),
            scan: ScanNumber(UInt32(truncatingIfNeeded: phone)),
            what: try ObservationPayload(side, name, from: &self))
    }

    package mutating func byte() throws(MalformedObservation) -> UInt8 {
        guard let byte = self.bytes.popFirst() else { throw MalformedObservation() }
        return byte
    }

    package mutating func word() throws(MalformedObservation) -> Int64 {
        guard self.bytes.count >= 8 else { throw MalformedObservation() }
        var value: UInt64 = 0
        for byte in self.bytes.prefix(8).reversed() { value = value << 8 | UInt64(byte) }
        self.bytes.removeFirst(8)
        return Int64(bitPattern: value)
    }
}

extension ObservationBytesReader: FieldCodec {
    package var isReader: Bool { true }

    package mutating func number(_ key: StaticString, _ value: Int64?) throws(MalformedObservation) -> Int64?
    {
        let word = try self.word()
        return word == .min ? nil : word
    }

    package mutating func identifier(_ key: StaticString, _ value: UInt64) throws(MalformedObservation)
        -> UInt64
    {
        UInt64(bitPattern: try self.word())
    }

    package mutating func flag(_ key: StaticString, _ value: Bool?) throws(MalformedObservation) -> Bool? {
        switch try self.byte() {
        case 0: return false
        case 1: return true
        case 2: return nil
        default: throw MalformedObservation()
        }
    }

    package mutating func text(_ key: StaticString, _ value: String?) throws(MalformedObservation) -> String?
    {
        let length = try self.byte()
        guard length != TextLength.none else { return nil }
        guard self.bytes.count >= Int(length),
            let text = String(validating: self.bytes.prefix(Int(length)), as: UTF8.self)
        else { throw MalformedObservation() }
        self.bytes.removeFirst(Int(length))
        return text
    }

    package mutating func details(of book: inout Book) throws(MalformedObservation) {
        let bits = UInt64(bitPattern: try self.word())
        book.confidence = bits == .max ? nil : Double(bitPattern: bits)
        book.coverUrl = try self.text("", nil)
    }
}
