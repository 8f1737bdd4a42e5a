import SystemIO

/// Single photographs on disk.
package enum PhotoFile {
    /// The bytes of a file of at most `PhotoFolder.bytesMax`, whatever they are.
    package static func bytes(of path: String) throws(ImagingError) -> [UInt8] {
        try Self.bytes(of: path, bytesMax: PhotoFolder.bytesMax)
    }

    static func bytes(of path: String, bytesMax: Int) throws(ImagingError) -> [UInt8] {
        do throws(File.Unreadable) {
            return try File.contents(of: path, bytesMax: bytesMax)
        } catch {
            switch error {
            case .failed(_, let error): throw .unreadable(path: path, reason: error.reason)
            case .notAFile: throw .unreadable(path: path, reason: "it is not a file")
            case .tooLarge(_, let bytes, let bytesMax):
                throw .fileTooLarge(path: path, bytes: bytes, bytesMax: bytesMax)
            }
        }
    }
}
