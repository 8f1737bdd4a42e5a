import SimBase
package import Talaria

/// A digest of observations in their order: the same in every process and on every machine, and another one when a single field
/// differs.
package struct ObservationDigest: Hashable, Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    /// The number of observations so far.
    package private(set) var count: UInt64 = 0

    package init() {}

    /// The digest so far.
    package var value: UInt64 {
        let z = (self.state ^ self.count ^ (self.state >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        return z ^ (z >> 33)
    }

    package mutating func absorb(_ observation: borrowing Observation) {
        self.count += 1
        self.word(UInt64(bitPattern: observation.at.nanoseconds))
        self.word(UInt64(observation.device.raw) << 32 | UInt64(observation.scan.raw))
        observation.what.write(to: &self)
    }

    private mutating func word(_ word: UInt64) {
        let sum = (self.state ^ word) &* 0xBF58_476D_1CE4_E5B9
        self.state = sum ^ (sum >> 29)
    }

    /// A text's last word never has all of its bits set: nil is not a text.
    private mutating func string(_ text: String?) {
        guard let text else { return self.word(.max) }
        let rest = text.eachWord { self.word($0) }
        let count = text.utf8.count
        self.word(UInt64(count) << UInt64(8 * (count % 8)) | rest)
    }
}

extension ObservationDigest: FieldCodec {
    package var isReader: Bool { false }

    package mutating func begin(_ side: Side, _ name: StaticString) {
        let rest = name.eachWord { self.word($0) }
        self.word(rest ^ UInt64(side.ordinal) << 56)
    }

    package mutating func number(_ key: StaticString, _ value: Int64?) -> Int64? {
        self.word(UInt64(bitPattern: value ?? .min))
        return value
    }

    package mutating func identifier(_ key: StaticString, _ value: UInt64) -> UInt64 {
        self.word(value)
        return value
    }

    package mutating func flag(_ key: StaticString, _ value: Bool?) -> Bool? {
        self.word(value.map { $0 ? 1 : 0 } ?? 2)
        return value
    }

    package mutating func text(_ key: StaticString, _ value: String?) -> String? {
        self.string(value)
        return value
    }

    package mutating func details(of book: inout Book) {
        self.word(book.confidence?.bitPattern ?? .max)
        self.string(book.coverUrl)
    }
}
