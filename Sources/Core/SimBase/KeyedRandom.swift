/// The purpose of a draw. The raw values are part of the meaning of a seed: append, never renumber.
public enum DrawDomain: UInt64, Sendable {
    case deviceIdentity = 1
    case arrival = 2
    case arrivalDevice = 3
    case photo = 4
    case shelf = 5
    case backoff = 6
    case jobTime = 7
    case token = 8
    case faultChance = 9
    case faultTrigger = 10
    case faultScope = 11
    case cut = 12
    case link = 13
    case paint = 14
    case uploadRetry = 15
    case pathReturn = 16
    case jobIdentity = 17
    case network = 18
    /// The think time before the next capture of a phone in a closed group.
    case think = 19
    /// The number of pending writes that survive a kill or a full storage.
    case kill = 23
    /// The positions at which the bytes of a simulated connection are split.
    case split = 24
    /// The duration of a write of a simulated storage.
    case storage = 25
    /// Sizes of photos that are only sizes.
    case photoSize = 26
    /// Which phones stay broken after all faults have ended.
    case staysOffline = 27
    /// The order of simultaneous events.
    case ties = 28
    /// The line ending of an event stream.
    case lineEnds = 29
    /// A device id of one scan.
    case scanIdentity = 30
    /// The number of photos of a scan.
    case photosPerScan = 31
    /// The number of regions of a photo that the app segments.
    case regionsPerCapture = 32
    /// What a search draws from a seed.
    case swarm = 33
    /// A generated library file.
    case library = 40
    /// The id and the token of an import.
    case importIdentity = 41
    /// Whether a book can be enriched.
    case enrichment = 42
    /// Whether a provider has the book of a scanned barcode.
    case unknownBook = 43
    /// Whether the user cancels a scan, and when.
    case cancel = 44
    /// Whether a barcode is scanned again, and which.
    case repeatedBarcode = 45
    /// The blocks of time in a resample of two runs that are compared.
    case resample = 46
    /// Whether a scan is in the sample of a run with many.
    case scanSample = 47
    /// What a phone reads on the spine of a book.
    case spineReading = 48
    /// How sure a look-up by text is.
    case textConfidence = 49
    /// What a person does with a book that waits for a review, and when.
    case review = 60
    /// The nonce and the masking keys of a WebSocket.
    case socket = 61
    /// The size of the preview of a photo.
    case preview = 50
    /// Whether a phone belongs to the cohort of a rollout.
    case rollout = 62
    case test = 99
}

/// Randomness as a function: the same key gives the same draw, whatever was drawn before.
///
/// Nothing is consumed, so removing one fault or one phone leaves every other draw as it was.
public struct KeyedRandom: Hashable, Sendable {
    /// The seed of all draws.
    public let seed: UInt64

    /// Creates the randomness of a seed.
    public init(seed: UInt64) { self.seed = seed }

    /// 64 uniform bits for (seed, domain, entity, count, detail).
    @inlinable public func draw(
        _ domain: DrawDomain, _ entity: UInt64, _ count: UInt64 = 0, _ detail: UInt64 = 0
    )
        -> UInt64
    {
        var state = Self.mix(self.seed &+ 0x9E37_79B9_7F4A_7C15)
        state = Self.mix(state ^ (domain.rawValue &* 0xD1B5_4A32_D192_ED03))
        state = Self.mix(state ^ (entity &+ 0x8CB9_2BA7_2F3D_8DD7))
        state = Self.mix(state ^ (count &* 0xAEF1_7502_108E_F2D9 &+ 1))
        return Self.mix(state ^ (detail &* 0xF135_7AEA_2E62_A9C5 &+ 3))
    }

    /// A uniform whole number below `bound` (multiply-shift; the bias is below 2^-32 for bounds under 2^32).
    @inlinable public func below(
        _ bound: UInt64, _ domain: DrawDomain, _ entity: UInt64, _ count: UInt64 = 0, _ detail: UInt64 = 0
    ) -> UInt64 {
        precondition(bound > 0, "a draw needs at least one outcome")
        return self.draw(domain, entity, count, detail).multipliedFullWidth(by: bound).high
    }

    /// SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014).
    @inlinable static func mix(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A chance in parts per million, so that no decision hangs on a floating point number.
public struct Odds: Hashable, Comparable, Sendable {
    /// The probability in parts per million.
    public let perMillion: UInt32

    /// Creates odds in parts per million.
    public init(perMillion: UInt32) {
        precondition(perMillion <= 1_000_000, "odds above 100 %")
        self.perMillion = perMillion
    }

    /// A certainty.
    public static let always = Odds(perMillion: 1_000_000)
    /// An impossibility.
    public static let never = Odds(perMillion: 0)
    /// Returns odds in percent.
    public static func percent(_ percent: UInt32) -> Odds { Odds(perMillion: percent * 10_000) }

    /// Whether it happens, given 64 uniform bits.
    @inlinable public func happens(_ draw: UInt64) -> Bool {
        draw.multipliedFullWidth(by: 1_000_000).high < UInt64(self.perMillion)
    }

    /// Whether the left happens less often.
    public static func < (left: Odds, right: Odds) -> Bool { left.perMillion < right.perMillion }
}
