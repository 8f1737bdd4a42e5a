internal import SimBase

/// One picture of a painted corpus.
package struct PaintedShelf: Hashable, Sendable {
    /// The name of its file, without a folder: its number, shape, light and contrast.
    package let name: String
    package let picture: ShelfPicture

    /// The size of the pictures of a corpus.
    package enum Sizes: Hashable, Sendable {
        /// The sizes of phone cameras, mostly 12 megapixels.
        case phones
        /// Half the width and height, painted in a quarter of the time.
        case halved
        /// All alike.
        case exactly(PixelSize)

        fileprivate func size(of kind: Kind) -> PixelSize {
            switch self {
            case .phones: PixelSize(width: kind.width, height: kind.height)
            case .halved: PixelSize(width: kind.width / 2, height: kind.height / 2)
            case .exactly(let size): size
            }
        }
    }

    /// A corpus of `count` pictures, every choice a draw of `seed`.
    ///
    /// In every eight, from the first on, one is dark, one is bright, one is tall and one has low contrast.
    /// None is tall if all have one size.
    package static func corpus(count: Int, seed: UInt64, sizes: Sizes) -> [PaintedShelf] {
        (0..<count).map { PaintedShelf(number: $0, seed: seed, sizes: sizes) }
    }

    private init(number: Int, seed: UInt64, sizes: Sizes) {
        let kind = Self.kinds[number % Self.kinds.count]
        let size = sizes.size(of: kind)
        let shape =
            size.height > size.width * 2 ? "tall" : size.height > size.width ? "portrait" : "landscape"
        let digits = String(number + 1)
        let zeros = String(repeating: "0", count: max(0, 3 - digits.count))
        let contrast = kind.contrast == .low ? "-hazy" : ""
        self.name = "shelf-\(zeros)\(digits)-\(shape)-\(kind.light.rawValue)\(contrast).jpg"
        self.picture = ShelfPicture(
            size: size, light: kind.light, contrast: kind.contrast,
            seed: KeyedRandom(seed: seed).draw(.paint, PaintTrait.picture.rawValue, UInt64(number)))
    }

    fileprivate typealias Kind = (width: Int, height: Int, light: ShelfLight, contrast: ShelfContrast)

    private static let kinds: [Kind] = [
        (4032, 3024, .normal, .normal), (3024, 4032, .dark, .normal), (4032, 3024, .bright, .normal),
        (1816, 4032, .normal, .normal), (3264, 2448, .normal, .low), (3024, 4032, .normal, .normal),
        (4032, 2268, .normal, .normal), (2448, 3264, .normal, .normal),
    ]
}
