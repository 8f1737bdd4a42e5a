import SimBase

/// A link that scenario files know by name.
package struct LinkPreset: Hashable, Sendable {
    package enum Confidence: String, Hashable, Sendable {
        /// Two independent sources agree.
        case high
        /// One source, or sources that agree except for rounding.
        case medium
        /// Guessed or contradictory; the choice made is in `source`.
        case low
    }

    package var name: String
    package var profile: LinkProfile
    /// The source of the values.
    package var source: String
    package var confidence: Confidence

    /// The preset of that name.
    package static func named(_ name: String) -> LinkPreset? {
        self.all.first { $0.name == name }
    }

    /// Every preset, from the best link to the worst. Delays are one way, for each direction, as Apple's Network Link
    /// Conditioner (NLC) and Augmented Traffic Control (ATC) state them; what they lose is lost both ways, as stalls.
    package static let all: [LinkPreset] = [
        preset("perfect", down: (nil, 0), up: (nil, 0), .high, "nothing between phone and backend"),
        preset(
            "wifi-ac", down: (nil, 1), up: (nil, 1), .low,
            "NLC 'Wi-Fi 802.11ac'; published rates run from 250 to 1,100 Mbps, so it is left without limit"),
        preset(
            "wifi", down: (40_000, 1), up: (33_000, 1), .medium, "NLC 'Wi-Fi', two public lists of presets"),
        preset("cable", down: (6_000, 2), up: (1_000, 2), .medium, "ATC Cable.json, after an older NLC"),
        preset("dsl", down: (2_000, 5), up: (256, 5), .high, "NLC 'DSL' and ATC DSL.json"),
        preset(
            "lte", down: (50_000, 50), up: (10_000, 65), .medium,
            "NLC 'LTE' in a public list: 50 Mbps and 65 ms; the download delay and the upload rate are unconfirmed"
        ),
        preset(
            "3g-good", down: (850, 90), up: (420, 100), .medium,
            "ATC 3G-Good.json; a port of NLC has 100 ms for the download delay"),
        preset("3g", down: (780, 100), up: (330, 100), .high, "NLC '3G' and ATC 3G-Average.json"),
        preset("edge-good", down: (250, 350), up: (200, 370), .medium, "a port of NLC 'Edge, Good'"),
        preset("edge", down: (240, 400), up: (200, 440), .high, "NLC 'Edge' and ATC Edge-Average.json"),
        preset(
            "3g-lossy", down: (780, 100), up: (330, 100), loss: .percent(1), .medium,
            "a port of NLC '3G, Lossy'; the loss of the upload is by analogy with 'Edge, Lossy'"),
        preset(
            "edge-lossy", down: (240, 400), up: (200, 440), loss: .percent(1), .medium,
            "ATC Edge-Lossy.json"),
        preset(
            "very-bad", down: (1_000, 500), up: (1_000, 500), loss: .percent(10), .medium,
            "NLC 'Very Bad Network' in a public list: 1 Mbps, 500 ms, 10 %; the upload is unconfirmed"),
        preset(
            "high-latency-dns", down: (nil, 0), up: (nil, 0), nameLookup: .seconds(3), .medium,
            "NLC 'High Latency DNS': 3 s a lookup, as another emulator's profile of that name has it"),
    ]

    /// Rates in kbps, delays in milliseconds.
    private static func preset(
        _ name: String, down: (kbps: Int64?, delay: Int64), up: (kbps: Int64?, delay: Int64),
        loss: Odds = .never, nameLookup: Interval = .zero, _ confidence: Confidence, _ source: String
    ) -> LinkPreset {
        LinkPreset(
            name: name,
            profile: LinkProfile(
                up: LinkDirection(
                    delay: .milliseconds(up.delay), bitsPerSecond: up.kbps.map { $0 * 1_000 }, loss: loss),
                down: LinkDirection(
                    delay: .milliseconds(down.delay), bitsPerSecond: down.kbps.map { $0 * 1_000 }, loss: loss),
                nameLookup: nameLookup),
            source: source, confidence: confidence)
    }
}
