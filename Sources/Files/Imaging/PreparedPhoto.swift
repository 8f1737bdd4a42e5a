/// The bytes of a photo ready for upload, shared by every phone and thread that uploads it.
package final class PreparedPhoto: Sendable {
    /// The file's name, without its folder.
    package let name: String
    package let jpeg: [UInt8]
    package let size: PixelSize

    /// `jpeg` must begin with a start-of-image marker, as everything `JPEGEncoder` makes does.
    package init(name: String, jpeg: [UInt8], size: PixelSize) {
        precondition(jpeg.starts(with: [0xFF, 0xD8]), "an upload is a JPEG")
        self.name = name
        self.jpeg = jpeg
        self.size = size
    }

    package convenience init(name: String, _ photo: PreprocessedPhoto) {
        self.init(name: name, jpeg: photo.jpeg, size: photo.size)
    }

    /// This photograph as the upload of one scan: `head`, then `jpeg` from `tailOffset` on, is a JPEG of the
    /// same picture whose bytes no other scan's upload has. `jpeg` itself is neither copied nor changed.
    package func uploadParts(scanName: String) -> UploadParts {
        UploadParts(head: JPEGHead.make(scanName: scanName), tailOffset: JPEGHead.startOfImageBytes)
    }
}

/// The data of one upload: its own `head`, then the shared bytes from `tailOffset` on.
package struct UploadParts: Hashable, Sendable {
    package let head: [UInt8]
    package let tailOffset: Int

    /// The length of the upload when the shared photograph is `jpegCount` bytes long.
    package func count(jpegCount: Int) -> Int { self.head.count + jpegCount - self.tailOffset }
}

/// The first bytes of an upload: the start of image and a comment that carries the scan's name.
///
/// A decoder passes over a comment (ITU-T T.81, B.2.4.5), so the picture stays what it was.
package enum JPEGHead {
    package static let scanNameBytesMax = 1024
    /// FF D8, which a head brings itself and a photo's own bytes begin with.
    package static let startOfImageBytes = 2

    package static func make(scanName: String) -> [UInt8] {
        let name = Array(scanName.utf8)
        precondition(name.count <= Self.scanNameBytesMax, "a scan's name is short")
        // The segment's length counts its own two bytes.
        let length = UInt16(name.count + 2)
        return [0xFF, 0xD8, 0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)] + name
    }

    /// The scan's name in an upload made with `make`, or nil if there is no such comment.
    package static func scanName(in jpeg: [UInt8]) -> String? {
        guard jpeg.count >= 6, jpeg.starts(with: [0xFF, 0xD8, 0xFF, 0xFE]) else { return nil }
        let end = 4 + (Int(jpeg[4]) << 8 | Int(jpeg[5]))
        guard (6...jpeg.count).contains(end) else { return nil }
        return String(validating: jpeg[6..<end], as: UTF8.self)
    }
}
