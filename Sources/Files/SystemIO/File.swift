import CSystem

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// An open file, closed with it.
package final class File: Sendable {
    package enum Mode: Sendable {
        /// An existing file, for reading.
        case read
        /// An existing file, terminal or pipe, for writing.
        case write
        /// A new file, for writing. It is an error if the name is taken.
        case create
        /// As `create`. Only its owner may read it.
        case createPrivate
        /// A new or emptied file, for writing.
        case replace
        /// A new or existing file, for reading and for writing at its end. Only its owner may read it.
        case append
        /// An existing file, for writing over what it has.
        case update

        fileprivate var flags: Int32 {
            switch self {
            case .read: O_RDONLY
            case .write: O_WRONLY
            case .create, .createPrivate: O_WRONLY | O_CREAT | O_EXCL
            case .replace: O_WRONLY | O_CREAT | O_TRUNC
            case .append: O_RDWR | O_CREAT | O_APPEND
            case .update: O_WRONLY
            }
        }
    }

    package let path: String
    private let descriptor: Descriptor

    package init(_ path: String, _ mode: Mode) throws(SystemError) {
        self.path = path
        let permissions: mode_t = mode == .append || mode == .createPrivate ? 0o600 : 0o666
        let number = unsafe open(path, mode.flags | O_CLOEXEC, permissions)
        guard number >= 0 else { throw SystemError(call: "open \(path)", code: errno) }
        self.descriptor = Descriptor(owning: number)
    }

    package var size: Int {
        var status = stat()
        return unsafe fstat(self.descriptor.number, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Appends `limit` bytes, fewer only at the end of the file. Returns how many.
    package func read(appendingTo bytes: inout [UInt8], limit: Int) throws(SystemError) -> Int {
        let start = bytes.count
        while bytes.count - start < limit {
            let rest = limit - (bytes.count - start)
            switch DescriptorIO.read(self.descriptor.number, appendingTo: &bytes, limit: rest) {
            case .bytes: continue
            case .end, .wouldBlock: return bytes.count - start
            case .failed(let code): throw SystemError(call: "read \(self.path)", code: code)
            }
        }
        return limit
    }

    /// Writes everything or throws.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var start = 0
        while start < bytes.count {
            switch DescriptorIO.write(self.descriptor.number, bytes[start...]) {
            case .bytes(let count): start += count
            case .wouldBlock, .end: DescriptorIO.waitUntilWritable(self.descriptor.number)
            case .failed(let code): throw SystemError(call: "write \(self.path)", code: code)
            }
        }
    }

    /// Writes all bytes at an offset of the file in one call, which the end of this process cannot divide.
    package func write(_ bytes: [UInt8], at place: Int) throws(SystemError) {
        let written = unsafe bytes.withUnsafeBytes {
            unsafe pwrite(self.descriptor.number, $0.baseAddress, $0.count, off_t(place))
        }
        guard written == bytes.count else {
            throw SystemError(call: "write \(self.path)", code: written < 0 ? errno : ENOSPC)
        }
    }

    package func truncate(to bytes: Int) throws(SystemError) {
        guard ftruncate(self.descriptor.number, off_t(bytes)) == 0 else {
            throw SystemError(call: "ftruncate \(self.path)", code: errno)
        }
    }

    /// Throws what a network file system reports only when a descriptor of the file is closed.
    package func checkStored() throws(SystemError) {
        let duplicate = shim_duplicate(self.descriptor.number, 0)
        guard duplicate >= 0 else { return }
        try SystemError.check("close \(self.path)", shim_close(duplicate))
    }
}

/// Whole files.
extension File {
    private static let pieceBytes = 1 << 16

    /// Why a file was not read.
    package enum Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        case failed(String, SystemError)
        /// A folder, a device or a pipe.
        case notAFile(String)
        case tooLarge(String, bytes: Int, bytesMax: Int)

        package var description: String {
            switch self {
            case .failed(let path, _): "cannot read \(path)"
            case .notAFile(let path): "cannot read \(path): it is not a file"
            case .tooLarge(let path, let bytes, let bytesMax):
                "cannot read \(path): it has \(bytes) bytes; the limit is \(bytesMax)"
            }
        }
    }

    /// Reads a file. A device or a pipe has no end that could be waited for, and a file may be larger than memory: both are
    /// refused before a byte is read.
    package static func contents(of path: String, bytesMax: Int) throws(Unreadable) -> [UInt8] {
        let size: Int
        switch FileTree.kind(of: path) {
        case .file(let bytes): size = bytes
        case .other: throw .notAFile(path)
        case .unreachable(let error): throw .failed(path, error)
        }
        guard size <= bytesMax else { throw .tooLarge(path, bytes: size, bytesMax: bytesMax) }
        do throws(SystemError) {
            let file = try File(path, .read)
            var bytes: [UInt8] = []
            var count = 0
            // A file that grows during the reading is read up to the limit.
            repeat {
                let limit = min(bytesMax - bytes.count, max(size, Self.pieceBytes))
                count = try file.read(appendingTo: &bytes, limit: limit)
            } while count > 0
            return bytes
        } catch {
            throw .failed(path, error)
        }
    }

    /// Opens a file, writes everything, and closes it.
    package static func write(_ bytes: [UInt8], to path: String, _ mode: Mode) throws(SystemError) {
        let file = try File(path, mode)
        try file.write(bytes)
        try file.checkStored()
    }

    /// Writes a file so that it is never seen half written: next to its path, then moved there. What is not a
    /// file, such as a terminal or a pipe, is written to.
    package static func save(_ bytes: [UInt8], to path: String) throws(SystemError) {
        if case .other = FileTree.kind(of: path) { return try Self.write(bytes, to: path, .write) }
        let fresh = "\(path).\(getpid()).part"
        do throws(SystemError) {
            try Self.write(bytes, to: fresh, .create)
            try FileTree.replace(path, by: fresh)
        } catch {
            try? FileTree.remove(fresh)
            throw error
        }
    }
}
