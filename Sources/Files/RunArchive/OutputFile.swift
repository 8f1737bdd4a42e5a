import Foundation
import JSON

/// A file that grows as the run goes: writes are gathered, and the first failure is kept and ends the writing.
struct OutputFile {
    /// Bytes gathered until they are written.
    static let bufferBytesMax = 64 * 1_024

    let path: String
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    /// Bytes taken so far.
    private(set) var bytes = 0
    /// The system's words for the first failure.
    private(set) var failure: String?

    /// Makes the file, or empties it.
    init(creating path: String) throws(OutputError.Failure) {
        self.path = path
        self.handle = try Self.open(path, flags: O_CREAT | O_TRUNC)
        self.buffer.reserveCapacity(Self.bufferBytesMax)
    }

    mutating func append(_ bytes: [UInt8]) {
        guard self.failure == nil else { return }
        self.buffer.append(contentsOf: bytes)
        self.appended(bytes.count)
    }

    mutating func append(_ line: borrowing JSONWriter) {
        guard self.failure == nil else { return }
        line.copy(to: &self.buffer)
        self.appended(line.count)
    }

    private mutating func appended(_ count: Int) {
        self.bytes += count
        if self.buffer.count >= Self.bufferBytesMax { self.flush() }
    }

    /// Flushes buffered data to the system: a kill of this process no longer loses it.
    mutating func flush() {
        guard self.failure == nil, !self.buffer.isEmpty else { return }
        do {
            try self.handle.write(contentsOf: self.buffer)
        } catch {
            self.failure = Self.reason(error)
        }
        self.buffer.removeAll(keepingCapacity: true)
    }

    mutating func close() {
        self.flush()
        do {
            try self.handle.close()
        } catch {
            self.failure = self.failure ?? Self.reason(error)
        }
    }

    /// Writes a whole file so that it is never seen half written: beside its index, then moved there. What is not a file,
    /// as a terminal or a pipe, is written to.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputError.Failure) {
        var status = stat()
        let isOther = unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        guard !isOther else { return try Self.write(bytes, into: path, flags: 0) }
        let fresh = "\(path).\(getpid()).part"
        do throws(OutputError.Failure) {
            try Self.write(bytes, into: fresh, flags: O_CREAT | O_EXCL)
            guard unsafe rename(fresh, path) == 0 else { throw Self.failure(path) }
        } catch {
            _ = unsafe unlink(fresh)
            throw OutputError.Failure(path: path, reason: error.reason)
        }
    }

    private static func write(_ bytes: [UInt8], into path: String, flags: Int32) throws(OutputError.Failure) {
        let handle = try Self.open(path, flags: flags)
        do {
            try handle.write(contentsOf: bytes)
            try handle.close()
        } catch {
            throw OutputError.Failure(path: path, reason: Self.reason(error))
        }
    }

    private static func open(_ path: String, flags: Int32) throws(OutputError.Failure) -> FileHandle {
        let descriptor = unsafe Foundation.open(path, O_WRONLY | O_CLOEXEC | flags, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// The reason why the last system call failed.
    private static func failure(_ path: String) -> OutputError.Failure {
        OutputError.Failure(path: path, reason: Self.reason(code: errno))
    }

    /// The system's words where there are any, else Foundation's.
    static func reason(_ error: any Error) -> String {
        var found: NSError? = error as NSError
        while let error = found {
            if error.domain == NSPOSIXErrorDomain { return Self.reason(code: Int32(error.code)) }
            found = error.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        switch error {
        case CocoaError.fileWriteOutOfSpace: return Self.reason(code: ENOSPC)
        case CocoaError.fileWriteNoPermission: return Self.reason(code: EACCES)
        case CocoaError.fileWriteVolumeReadOnly: return Self.reason(code: EROFS)
        case CocoaError.fileWriteFileExists: return Self.reason(code: EEXIST)
        case CocoaError.fileNoSuchFile: return Self.reason(code: ENOENT)
        default: return (error as NSError).localizedDescription
        }
    }

    /// Why a folder cannot be made: Foundation often keeps the system's words to itself, so the system is asked once more.
    static func reason(_ error: any Error, makingFolder path: String) -> String {
        guard unsafe mkdir(path, 0o777) == 0 else { return Self.reason(code: errno) }
        _ = unsafe rmdir(path)
        return Self.reason(error)
    }

    static func reason(code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)"
    }
}

extension OutputError.Failure: Error {}
