package import SimBase

/// The value of a phone's `X-Device-ID`: a UUID, version 4 (RFC 9562 section 5.4), uppercase as in the app.
package struct DeviceIdentity: Hashable, Sendable {
    package let text: String

    /// The identity that (seed, salt, device) gives; `installation` counts the installations before it, each
    /// with its own identity.
    package static func draw(
        _ random: KeyedRandom, _ device: DeviceNumber, installation: UInt64 = 0, salt: DeviceSalt? = nil
    ) -> DeviceIdentity {
        let random = Self.salted(random, by: salt)
        return DeviceIdentity(
            high: random.draw(.deviceIdentity, UInt64(device.raw), 0, installation),
            low: random.draw(.deviceIdentity, UInt64(device.raw), 1, installation))
    }

    /// The identity of one scan, of a client that does not keep its own. `ofService`: that of the object that
    /// a client creates in addition.
    static func draw(
        _ random: KeyedRandom, _ device: DeviceNumber, _ scan: ScanNumber, ofService: Bool, salt: DeviceSalt?
    ) -> DeviceIdentity {
        let random = Self.salted(random, by: salt)
        func half(_ index: UInt64) -> UInt64 {
            random.draw(
                .scanIdentity, UInt64(device.raw), UInt64(scan.raw), index + (ofService ? 2 : 0))
        }
        return DeviceIdentity(high: half(0), low: half(1))
    }

    /// Draws of identities alone: everything else that a run draws is the same with any salt.
    private static func salted(_ random: KeyedRandom, by salt: DeviceSalt?) -> KeyedRandom {
        // No phone has this number, and the run's own id has the one above it.
        salt.map { KeyedRandom(seed: random.draw(.deviceIdentity, .max - 1, $0.bits)) } ?? random
    }

    /// Sets version and variant in 128 random bits (RFC 9562 section 5.4).
    private init(high: UInt64, low: UInt64) {
        let versioned = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let variant = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = Array(
            (Hexadecimal.text(versioned, digits: 16) + Hexadecimal.text(variant, digits: 16)).utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digit >= UInt8(ascii: "a") ? digit - 32 : digit)
        }
        self.text = String(decoding: text, as: UTF8.self)
    }

    /// An identity from a state folder; nil unless it is the text of a version 4 UUID. Lowercase is raised.
    package init?(text: String) {
        let bytes = Array(text.uppercased().utf8)
        guard bytes.count == 36, bytes[14] == UInt8(ascii: "4"),
            [UInt8(ascii: "8"), UInt8(ascii: "9"), UInt8(ascii: "A"), UInt8(ascii: "B")].contains(bytes[19])
        else { return nil }
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "-"):
                guard [8, 13, 18, 23].contains(index) else { return nil }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"):
                guard ![8, 13, 18, 23].contains(index) else { return nil }
            default:
                return nil
            }
        }
        self.text = String(decoding: bytes, as: UTF8.self)
    }
}
