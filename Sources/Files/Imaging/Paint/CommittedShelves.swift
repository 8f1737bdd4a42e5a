/// A painted shelf that lies in Images/shelves.
package struct CommittedShelf: Hashable, Sendable {
    /// The file's name, without its folder.
    package let name: String
    package let picture: ShelfPicture

    private init(
        _ name: String, _ width: Int, _ height: Int, _ light: ShelfLight, _ contrast: ShelfContrast,
        _ seed: UInt64
    ) {
        self.name = name
        self.picture = ShelfPicture(
            size: PixelSize(width: width, height: height), light: light, contrast: contrast, seed: seed)
    }

    /// All of them, in the order of their names. Images/README.md tells of each.
    package static let all: [CommittedShelf] = [
        CommittedShelf("shelf-1-landscape-normal.jpg", 2016, 1512, .normal, .normal, 1),
        CommittedShelf("shelf-2-portrait-normal.jpg", 1512, 2016, .normal, .normal, 2),
        CommittedShelf("shelf-3-landscape-dark.jpg", 1280, 960, .dark, .normal, 3),
        CommittedShelf("shelf-4-landscape-bright.jpg", 1600, 1200, .bright, .normal, 4),
        CommittedShelf("shelf-5-tall-hazy.jpg", 900, 2000, .normal, .low, 5),
    ]
}
