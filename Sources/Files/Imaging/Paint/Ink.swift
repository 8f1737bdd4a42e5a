/// A color as light: linear red, green and blue, 0 to 1 for a surface, more for a lamp.
///
/// The picture's gamma is taken as 2, so that light and bytes convert by squaring and by square roots: exact
/// operations, the same on every machine.
struct Ink {
    var red: Float
    var green: Float
    var blue: Float

    init(red: Float, green: Float, blue: Float) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// A color as it is written in style sheets: 0xRRGGBB.
    init(_ hexadecimal: UInt32) {
        func channel(_ shift: UInt32) -> Float {
            let value = Float((hexadecimal >> shift) & 0xFF) / 255
            return value * value
        }
        self.init(red: channel(16), green: channel(8), blue: channel(0))
    }

    static let black = Ink(red: 0, green: 0, blue: 0)

    var luma: Float { 0.299 * self.red + 0.587 * self.green + 0.114 * self.blue }

    func scaled(_ factor: Float) -> Ink {
        Ink(red: self.red * factor, green: self.green * factor, blue: self.blue * factor)
    }

    func tinted(_ tint: Ink) -> Ink {
        Ink(red: self.red * tint.red, green: self.green * tint.green, blue: self.blue * tint.blue)
    }

    /// `share` 0 is this color, 1 the other.
    func mixed(_ other: Ink, _ share: Float) -> Ink {
        Ink(
            red: self.red + (other.red - self.red) * share,
            green: self.green + (other.green - self.green) * share,
            blue: self.blue + (other.blue - self.blue) * share)
    }
}

/// 0 below `low`, 1 above `high`, smooth between.
func smoothstep(_ low: Float, _ high: Float, _ value: Float) -> Float {
    let share = min(1, max(0, (value - low) / (high - low)))
    return share * share * (3 - 2 * share)
}

/// The colors of a book: its cloth or paper, what is lettered on it, and what sets off bands and labels.
struct BookColors {
    let cover: Ink
    let letters: Ink
    let accent: Ink

    /// Publishers' combinations, dark and light ones about as often as on a real shelf.
    static let all: [BookColors] = [
        .init(0x1B1B1F, 0xE9E4D8, 0xB3202C), .init(0x23262B, 0xD8B45A, 0x5A6470),
        .init(0x12223F, 0xE3C878, 0x8FA6C4), .init(0x1D3A63, 0xF2EFE6, 0xD97B29),
        .init(0x2F5D8C, 0xF6F3EA, 0xF2C14E), .init(0x6F9FC0, 0x14222E, 0xF4F1E8),
        .init(0x0F4C4A, 0xEFE3BE, 0xC9A24B), .init(0x1E4D2B, 0xE8D9A0, 0x8C1C13),
        .init(0x55683A, 0xF1EBD8, 0x26301A), .init(0x8A9A5B, 0x20261A, 0xF3EFDC),
        .init(0x6B1420, 0xE2C37B, 0x2A0A0E), .init(0x9E1B1E, 0xF7F1E3, 0x1A1A1A),
        .init(0xC23B22, 0xFBF4E4, 0xF0C34A), .init(0xD9692B, 0x231710, 0xFBF1DE),
        .init(0xE0A526, 0x1E1A14, 0x9B2C1F), .init(0xEBD57A, 0x3A2A18, 0x2E5A7C),
        .init(0x5A3A22, 0xE5C98C, 0x2B1A0E), .init(0x7C5433, 0xF3E3C2, 0x3A2312),
        .init(0xA98659, 0x2A1C10, 0x6B1B1B), .init(0xC9B38A, 0x3B2A1B, 0x1F3F5B),
        .init(0xE9E2D0, 0x1F1F1F, 0xA4262C), .init(0xF3F0E7, 0x22354F, 0xC98B2B),
        .init(0xF5F3EE, 0x151515, 0x2F6F73), .init(0xDAD6CC, 0x5B1A22, 0x3D3D3D),
        .init(0x8E8F8C, 0x16181A, 0xE9E6DD), .init(0x575C60, 0xEFEDE6, 0xD9A441),
        .init(0x4A2A55, 0xEBD9A8, 0xB79BC4), .init(0x7D5A8C, 0xF8F2E6, 0x2D1B35),
        .init(0xB4607A, 0xFBF2EA, 0x42202B), .init(0xE3B7B0, 0x3A2226, 0x8C3A40),
        .init(0x2C7A7B, 0xFAF6EA, 0xF0A35A), .init(0xA7C4BC, 0x1D3330, 0xD4593A),
    ]

    private init(_ cover: UInt32, _ letters: UInt32, _ accent: UInt32) {
        self.cover = Ink(cover)
        self.letters = Ink(letters)
        self.accent = Ink(accent)
    }
}
