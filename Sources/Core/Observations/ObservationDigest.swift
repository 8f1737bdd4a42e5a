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

    private mutating func text(_ text: String) {
        let rest = text.eachWord { self.word($0) }
        let count = text.utf8.count
        self.word(UInt64(count) << UInt64(8 * (count % 8)) | rest)
    }
}

extension ObservationDigest: FieldWriter {
    package mutating func begin(_ side: Side, _ name: StaticString) {
        let rest = name.eachWord { self.word($0) }
        self.word(rest ^ UInt64(side.ordinal) << 56)
    }

    package mutating func number(_ key: StaticString, _ value: Int64?) {
        self.word(UInt64(bitPattern: value ?? .min))
    }

    package mutating func identifier(_ key: StaticString, _ value: UInt64) { self.word(value) }

    package mutating func flag(_ key: StaticString, _ value: Bool?) {
        self.word(value.map { $0 ? 1 : 0 } ?? 2)
    }

    /// A text's last word never has all of its bits set: this is not a text.
    package mutating func text(_ key: StaticString, _ value: String?) {
        if let value { self.text(value) } else { self.word(.max) }
    }

    package mutating func name(_ key: StaticString, _ value: String?) { self.text(key, value) }

    package mutating func fault(_ index: Int) { self.word(UInt64(bitPattern: Int64(index))) }

    package mutating func details(of book: Book) {
        self.word(book.confidence?.bitPattern ?? .max)
        self.text("", book.coverUrl)
    }
}
