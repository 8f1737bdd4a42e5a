import Foundation
import SimTestSupport
import Testing

@testable import Imaging

/// The photos in Images/shelves are what their names and Images/README.md say. Nothing makes them again.
@Suite struct CommittedShelvesTests {
    private static let folder = Checkout.root.appending(path: "Images/shelves").path

    private static func photos(named word: String) throws -> [SourcePhoto] {
        try PhotoFolder.load(path: Self.folder).photos.filter { $0.name.contains(word) }
    }

    /// At an eighth of the size: brightness and contrast are seen there as well.
    private func small(_ photo: SourcePhoto) throws -> Bitmap {
        var decoder = JPEGDecoder()
        return try decoder.decode(photo.jpeg, scale: .covering(longSide: 320))
    }

    @Test func `the folder holds what the list names, whole and small`() throws {
        let folder = try PhotoFolder.load(path: Self.folder)
        #expect(folder.problems == [])
        #expect(folder.photos.count == 5)
        #expect(folder.photos.allSatisfy { $0.jpeg.count <= 400_000 })
        #expect(folder.photos.reduce(0) { $0 + $1.jpeg.count } <= 1_500_000)
        let list = try String(
            contentsOf: Checkout.root.appending(path: "Images/README.md"), encoding: .utf8)
        for photo in folder.photos {
            #expect(list.contains("| [\(photo.name)](shelves/\(photo.name)) | \(photo.size) |"))
        }
    }

    @Test(arguments: [("landscape", 0.5..<1.0), ("portrait", 1.0..<2.0), ("tall", 2.001..<3.0)])
    func `a photo has the shape of its name`(shape: String, heights: Range<Double>) throws {
        let photos = try Self.photos(named: shape)
        #expect(!photos.isEmpty)
        for photo in photos {
            #expect(heights.contains(Double(photo.size.height) / Double(photo.size.width)), "\(photo.name)")
        }
    }

    @Test(arguments: [("dark", 50.0..<70.0), ("-normal", 109.2..<140.0), ("bright", 165.0..<195.0)])
    func `a photo has the light of its name`(light: String, means: Range<Double>) throws {
        let photos = try Self.photos(named: light)
        #expect(!photos.isEmpty)
        for photo in photos { #expect(means.contains(try self.small(photo).meanLuma), "\(photo.name)") }
    }

    @Test func `the hazy one has half the contrast of the others`() throws {
        let hazy = try #require(Self.photos(named: "hazy").first)
        let bitmap = try self.small(hazy)
        #expect((109.2..<140.0).contains(bitmap.meanLuma))
        for photo in try Self.photos(named: "shelf") where photo != hazy {
            #expect(spread(bitmap) * 2 < spread(try self.small(photo)), "\(photo.name)")
        }
    }
}
