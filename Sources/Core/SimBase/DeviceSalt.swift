/// What sets the device ids of one run against a target apart from those of every other, so that a backend that counts by
/// device does not take its phones for those of an earlier run. It is drawn at the edge, once a run.
package struct DeviceSalt: Hashable, Sendable {
    /// The option that gives a run the ids of another one.
    package static let option = "--same-devices"

    package let bits: UInt64

    package init(bits: UInt64) { self.bits = bits }

    /// Reads up to 16 hexadecimal digits.
    package init?(_ text: String) {
        guard let bits = Hexadecimal.value(text) else { return nil }
        self.bits = bits
    }

    /// 16 hexadecimal digits.
    package var text: String { Hexadecimal.text(self.bits, digits: 16) }
}
