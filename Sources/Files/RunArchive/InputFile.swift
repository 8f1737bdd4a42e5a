import SystemIO

/// Files that are read.
package enum InputFile {
    /// A scenario that a person wrote, or a run's own documents.
    package static let documentBytesMax = 8 << 20
    /// A saved plan.
    package static let planBytesMax = 64 << 20
    /// A recording, which is played from memory.
    package static let recordingBytesMax = 256 << 20

    /// Opens a file for reading; nil if it does not exist or is not a regular file.
    static func open(_ path: String) -> File? {
        guard case .file = FileTree.kind(of: path) else { return nil }
        return try? File(path, .read)
    }
}
