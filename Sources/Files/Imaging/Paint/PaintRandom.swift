internal import SimBase

/// The draws of one thing in a picture: a book, a row, the camera. Each trait of it has its own key, so a
/// change to one trait leaves the others as they were.
struct PaintRandom {
    private let random: KeyedRandom
    private let thing: UInt64

    /// The picture as a whole.
    init(seed: UInt64) {
        self.random = KeyedRandom(seed: seed)
        self.thing = 0
    }

    private init(_ random: KeyedRandom, thing: UInt64) {
        self.random = random
        self.thing = thing
    }

    /// Another thing of the same picture.
    func thing(_ kind: Thing, _ number: Int) -> PaintRandom {
        PaintRandom(self.random, thing: kind.rawValue << 32 | UInt64(number))
    }

    /// The things of a picture. The raw values are part of what a seed paints.
    enum Thing: UInt64 {
        case row = 1, book = 2, design = 3, camera = 4, wood = 5
    }

    func bits(_ trait: Trait, _ index: Int = 0) -> UInt64 {
        self.random.draw(.paint, self.thing, trait.rawValue, UInt64(index))
    }

    func whole(_ range: ClosedRange<Int>, _ trait: Trait, _ index: Int = 0) -> Int {
        let bound = UInt64(range.upperBound - range.lowerBound + 1)
        return range.lowerBound
            + Int(self.random.below(bound, .paint, self.thing, trait.rawValue, UInt64(index)))
    }

    /// Uniform; 24 bits, so exact in a Float.
    func real(_ range: ClosedRange<Float>, _ trait: Trait, _ index: Int = 0) -> Float {
        let share = Float(self.bits(trait, index) >> 40) / 16_777_216
        return range.lowerBound + (range.upperBound - range.lowerBound) * share
    }

    func happens(percent: UInt32, _ trait: Trait, _ index: Int = 0) -> Bool {
        Odds.percent(percent).happens(self.bits(trait, index))
    }

    func one<Element>(of choices: [Element], _ trait: Trait, _ index: Int = 0) -> Element {
        choices[self.whole(0...(choices.count - 1), trait, index)]
    }
}

/// The property that a draw decides. The raw values are part of the meaning of a seed: append, never
/// renumber.
enum Trait: UInt64 {
    case format = 1, width, height, depth, setback, gap, colors, binding, design, typeface, capHeight, title,
        author
    case volume, wear, gloss, logo, crease, event, count, lean, leanSide, stackWidth, texture
    case furniture, panel, tilt, keystone, offset, distance, light, tint, grain
    case picture
}

/// Grain without a stream: a hash of a position, and noise made of it.
struct Grain {
    private let seed: UInt32

    init(_ bits: UInt64) { self.seed = UInt32(truncatingIfNeeded: bits) }

    /// 32 bits of a position.
    func bits(_ x: Int32, _ y: Int32) -> UInt32 {
        var hash = self.seed &+ UInt32(bitPattern: x) &* 0x9E37_79B1
        hash = (hash ^ (hash >> 15)) &* 0x85EB_CA77
        hash = (hash &+ UInt32(bitPattern: y) &* 0xC2B2_AE3D) ^ (hash >> 13)
        hash = hash &* 0x27D4_EB2F
        return hash ^ (hash >> 16)
    }

    /// 0 to 1 at a position.
    func value(_ x: Int32, _ y: Int32) -> Float { Float(self.bits(x, y) >> 8) / 16_777_216 }

    /// -1 to 1, smooth over a lattice of whole numbers.
    func smooth(_ x: Float, _ y: Float) -> Float {
        let column = Self.whole(x)
        let row = Self.whole(y)
        let across = Self.eased(x - Float(column))
        let down = Self.eased(y - Float(row))
        let above = self.value(column, row) * (1 - across) + self.value(column + 1, row) * across
        let below = self.value(column, row + 1) * (1 - across) + self.value(column + 1, row + 1) * across
        return (above * (1 - down) + below * down) * 2 - 1
    }

    /// Rounded down, without a call of the mathematics library: most of the time of painting is spent here.
    @inline(__always) private static func whole(_ value: Float) -> Int32 {
        let truncated = Int32(value)
        return Float(truncated) > value ? truncated - 1 : truncated
    }

    /// `smoothstep` from 0 to 1 of a share.
    @inline(__always) private static func eased(_ share: Float) -> Float { share * share * (3 - 2 * share) }

    /// Three octaves of `smooth`.
    func cloud(_ x: Float, _ y: Float) -> Float {
        self.smooth(x, y) * 0.55 + self.smooth(x * 2.1, y * 2.1) * 0.3 + self.smooth(x * 4.3, y * 4.3) * 0.15
    }
}
