import Testing

@testable import Imaging

@Suite struct UploadPartsTests {
    private func photo() throws -> PreparedPhoto {
        var encoder = JPEGEncoder()
        let picture = gradient(64, 48)
        return PreparedPhoto(
            name: "a.jpg", jpeg: try encoder.encode(picture, quality: 85), size: picture.size)
    }

    private func upload(_ photo: PreparedPhoto, _ parts: UploadParts) -> [UInt8] {
        parts.head + photo.jpeg[parts.tailOffset...]
    }

    @Test func `head and tail together are the same picture`() throws {
        let photo = try self.photo()
        let parts = photo.uploadParts(scanName: "phone-17/scan-3")
        let upload = self.upload(photo, parts)
        #expect(upload.count == parts.count(jpegCount: photo.jpeg.count))

        var decoder = JPEGDecoder()
        #expect(try decoder.decode(upload, scale: .full) == decoder.decode(photo.jpeg, scale: .full))
        #expect(JPEGHead.scanName(in: upload) == "phone-17/scan-3")
    }

    @Test func `a head is a start of image and a comment`() {
        #expect(JPEGHead.make(scanName: "a/1") == [0xFF, 0xD8, 0xFF, 0xFE, 0, 5, 0x61, 0x2F, 0x31])
    }

    @Test func `two scans of one photograph have different bytes`() throws {
        let photo = try self.photo()
        let first = self.upload(photo, photo.uploadParts(scanName: "phone-1/scan-1"))
        let second = self.upload(photo, photo.uploadParts(scanName: "phone-1/scan-2"))
        #expect(first != second)
    }

    @Test(arguments: [0, 1, 255, 256, 1024])
    func `a name of any length comes back`(length: Int) throws {
        let name = String(repeating: "n", count: length)
        #expect(JPEGHead.scanName(in: JPEGHead.make(scanName: name)) == name)
    }

    @Test func `bytes without a name have none`() throws {
        #expect(JPEGHead.scanName(in: try self.photo().jpeg) == nil)
        #expect(JPEGHead.scanName(in: []) == nil)
        #expect(JPEGHead.scanName(in: [0xFF, 0xD8, 0xFF, 0xFE, 0, 9, 0x61]) == nil, "cut off")
        #expect(
            JPEGHead.scanName(in: [0xFF, 0xD8, 0xFF, 0xFE, 0, 1, 0x61]) == nil, "shorter than its own length")
        #expect(JPEGHead.scanName(in: [0xFF, 0xD8, 0xFF, 0xFE, 0, 3, 0xFF]) == nil, "not UTF-8")
    }
}
