import Foundation
import SimTestSupport
import SystemIO
import Testing

@testable import Imaging

/// The painted shelves in Images/shelves. `SWIFTWING_SIM_REPAINT=1` paints them all again.
@Suite struct CommittedShelvesTests {
    private static let folder = Checkout.root
        .appendingPathComponent("Images/shelves").path

    @Test(.enabled(if: ProcessInfo.processInfo.environment["SWIFTWING_SIM_REPAINT"] == "1"))
    func `the shelves are painted again on demand`() throws {
        try FileManager.default.createDirectory(atPath: Self.folder, withIntermediateDirectories: true)
        var encoder = JPEGEncoder()
        for shelf in CommittedShelf.all {
            let jpeg = try ShelfPainter.jpeg(shelf.picture, encoder: &encoder)
            try File.write(jpeg, to: "\(Self.folder)/\(shelf.name)", .replace)
        }
    }

    @Test func `the folder holds what the list names, whole and small`() throws {
        let folder = try PhotoFolder.load(path: Self.folder)
        #expect(folder.problems == [])
        #expect(folder.photos.map(\.name) == CommittedShelf.all.map(\.name))
        #expect(folder.photos.map(\.size) == CommittedShelf.all.map(\.picture.size))
        #expect(folder.photos.allSatisfy { $0.jpeg.count <= 400_000 })
        #expect(folder.photos.reduce(0) { $0 + $1.jpeg.count } <= 1_500_000)
    }

    @Test func `a shelf is what its seed paints`() throws {
        let shelf = try #require(CommittedShelf.all.min { Self.pixels($0) < Self.pixels($1) })
        let bytes = try File.contents(of: "\(Self.folder)/\(shelf.name)", bytesMax: PhotoFolder.bytesMax)
        var encoder = JPEGEncoder()
        var decoder = JPEGDecoder()
        let painted = try ShelfPainter.jpeg(shelf.picture, encoder: &encoder)
        // Not byte for byte: another release of libturbojpeg may round otherwise.
        let off = difference(
            try decoder.decode(bytes, scale: .covering(longSide: 320)),
            try decoder.decode(painted, scale: .covering(longSide: 320)))
        #expect(off < 0.5, "repaint with SWIFTWING_SIM_REPAINT=1 if the painter was meant to change")
    }

    @Test func `every light, a portrait and low contrast are among them`() {
        let pictures = CommittedShelf.all.map(\.picture)
        #expect(Set(pictures.map(\.light)) == Set(ShelfLight.allCases))
        #expect(Set(pictures.map(\.contrast)) == Set(ShelfContrast.allCases))
        #expect(pictures.contains { $0.size.height > $0.size.width })
        #expect(pictures.contains { $0.size.height > $0.size.width * 2 }, "what the app would rotate")
    }

    private static func pixels(_ shelf: CommittedShelf) -> Int {
        shelf.picture.size.width * shelf.picture.size.height
    }
}
