/// Titles and authors, all invented. They are drawn, never compared: whose books a scan holds is decided
/// elsewhere.
enum BookTitles {
    static func title(_ random: PaintRandom) -> String {
        let first = random.one(of: Self.nouns, .title, 1)
        let other = random.one(of: Self.nouns, .title, 2)
        let second = other == first ? "SKY" : other
        let kind = random.one(of: Self.kinds, .title, 3)
        switch random.whole(0...9, .title) {
        case 0: return "THE \(kind) \(first)"
        case 1: return "\(first) AND \(second)"
        case 2: return "A HISTORY OF \(first)"
        case 3: return "\(kind) \(first)"
        case 4: return "THE \(first) OF \(second)"
        case 5: return first
        case 6: return "\(first) & \(second)"
        case 7: return "THE \(first)"
        case 8: return "LETTERS FROM THE \(first)"
        default: return "\(kind) \(first)S"
        }
    }

    static func author(_ random: PaintRandom) -> String {
        let name = random.one(of: Self.names, .author, 1)
        let initials = Array("ABCDEFGHJKLMPRSTV")
        let first = random.one(of: initials, .author, 2)
        switch random.whole(0...3, .author) {
        case 0: return name
        case 1: return "\(first). \(name)"
        case 2: return "\(first). \(random.one(of: initials, .author, 3)). \(name)"
        default: return "\(random.one(of: Self.givenNames, .author, 4)) \(name)"
        }
    }

    private static let nouns = [
        "HARBOR", "ORCHARD", "WINTER", "MERIDIAN", "LANTERN", "RIVER", "GARDEN", "MAPMAKER", "SALT", "TIDE",
        "MOUNTAIN", "CLOCK", "ATLAS", "SHADOW", "GLASS", "COMET", "FOREST", "ISLAND", "ENGINE", "SPARROW",
        "NIGHT", "BRIDGE", "LIBRARY", "STONE", "WIND", "EMPIRE", "KITCHEN", "NUMBER", "SIGNAL", "OCEAN",
        "STATION", "VOYAGE", "MACHINE", "FIELD", "WEATHER", "LIGHT",
    ]
    private static let kinds = [
        "QUIET", "LAST", "HIDDEN", "NORTHERN", "SECOND", "BROKEN", "GOLDEN", "COMMON", "DISTANT", "MODERN",
        "SMALL", "LONG", "SILVER", "WILD", "EARLY", "FORGOTTEN", "PRACTICAL", "INVISIBLE",
    ]
    private static let names = [
        "ALDERSON", "BRANDT", "CALLOWAY", "DRUMMOND", "ELLERY", "FARROW", "GALLO", "HOLLIS", "IVERS",
        "JANSEN",
        "KESTREL", "LINDQVIST", "MARLOW", "NORDEN", "OKAFOR", "PELLETIER", "QUILL", "ROSSITER", "SANDOVAL",
        "TREVOR", "UNWIN", "VASQUEZ", "WHITLOCK", "YARDLEY", "ZELLER",
    ]
    private static let givenNames = [
        "ANNA", "BRUNO", "CLARA", "DAVID", "ELENA", "FELIX", "GRETA", "HUGO", "IRIS", "JONAS", "LENA", "MILO",
        "NORA", "OSCAR", "PETRA", "RUTH", "SIMON", "THEA",
    ]
}
