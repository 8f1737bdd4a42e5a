import Foundation

/// Files that are read. A device or a pipe has no end that could be waited for, and a file may be larger than memory: both
/// are refused before a byte is read.
package enum InputFile {
    package enum Problem: Error, Equatable, CustomStringConvertible {
        case unreadable(String)
        case notAFile(String)
        case tooLarge(String, bytes: Int, bytesMax: Int)

        package var description: String {
            switch self {
            case .unreadable(let path): "cannot read \(path)"
            case .notAFile(let path): "cannot read \(path): it is not a file"
            case .tooLarge(let path, let bytes, let bytesMax):
                "cannot read \(path): it has \(bytes) bytes; the limit is \(bytesMax)"
            }
        }
    }

    /// A scenario that a person wrote, or a run's own documents.
    package static let documentBytesMax = 8 << 20
    /// A saved plan.
    package static let planBytesMax = 64 << 20
    /// A recording, which is played from memory.
    package static let recordingBytesMax = 256 << 20

    /// Whether there is anything of that name.
    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The whole file.
    package static func contents(of path: String, bytesMax: Int) throws(Problem) -> [UInt8] {
        guard let handle = self.open(path) else {
            throw self.exists(path) && !Self.isFile(path) ? .notAFile(path) : .unreadable(path)
        }
        let bytes = self.size(of: handle)
        guard bytes <= bytesMax else { throw .tooLarge(path, bytes: bytes, bytesMax: bytesMax) }
        // A file that grows meanwhile is read as far as it may be.
        guard let data = try? handle.read(upToCount: bytesMax) else {
            guard bytes == 0 else { throw .unreadable(path) }
            return []
        }
        return [UInt8](data)
    }

    /// Opens a file for reading; nil if it does not exist or is not a regular file.
    static func open(_ path: String) -> FileHandle? {
        guard self.isFile(path) else { return nil }
        return FileHandle(forReadingAtPath: path)
    }

    /// Asked before it is opened: to open a pipe waits for its other end.
    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    private static func size(of handle: FileHandle) -> Int {
        var status = stat()
        return unsafe fstat(handle.fileDescriptor, &status) == 0 ? Int(status.st_size) : 0
    }
}
