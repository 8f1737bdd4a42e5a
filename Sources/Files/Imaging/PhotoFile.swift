/// Single photographs on disk.
package enum PhotoFile {
    /// The bytes of a file of at most `PhotoFolder.bytesMax`, whatever they are.
    package static func bytes(of path: String) throws(ImagingError) -> [UInt8] {
        try FileBytes.contents(of: path, bytesMax: PhotoFolder.bytesMax)
    }
}
