import SimBase

/// A digest of everything that has happened, in order, with a value for every so many events: two runs that
/// agree in the last value agree in all, and the first value that differs shows where two runs diverge.
package struct Chain: Hashable, Sendable {
    /// Events from one checkpoint to the next.
    package static let interval = 1_024

    package private(set) var events = 0
    package private(set) var checkpoints: [UInt64] = []
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    init() {}

    /// The digest of everything so far.
    package var value: UInt64 { Self.mixed(self.state ^ UInt64(self.events)) }

    mutating func absorb(_ word: UInt64) {
        let sum = (self.state ^ word) &* 0xBF58_476D_1CE4_E5B9
        self.state = sum ^ (sum >> 29)
    }

    mutating func absorb(_ number: Int) { self.absorb(UInt64(bitPattern: Int64(number))) }

    mutating func absorb(_ moment: Instant?) {
        self.absorb(UInt64(bitPattern: moment?.nanoseconds ?? .min))
    }

    /// Eight bytes at a time, the first the least, so that the value does not depend on the machine.
    mutating func absorb(_ bytes: ArraySlice<UInt8>) {
        let rest = bytes.eachWord { self.absorb($0) }
        self.absorb(UInt64(bytes.count) << UInt64(8 * (bytes.count % 8)) | rest)
    }

    mutating func absorb(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        for byte in text.utf8 { self.absorb(UInt64(byte)) }
        self.absorb(text.utf8.count)
    }

    /// An event with all that it brought about is over.
    mutating func endEvent() {
        self.events += 1
        if self.events % Self.interval == 0 { self.checkpoints.append(self.value) }
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let z = (value ^ (value >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        return z ^ (z >> 33)
    }
}
