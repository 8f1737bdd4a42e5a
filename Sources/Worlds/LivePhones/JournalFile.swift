package import EventLoop

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// An append-only file of lines. A line that a dying process did not finish is cut off when the file is opened again.
///
/// What was appended survives the end of the process (it is the kernel's by then); `sync` also makes it survive the
/// end of the machine.
final class JournalFile {
    let path: String
    private let descriptor: Int32
    private var isFailed = false

    /// Opens or makes the file, readable by its owner alone, and gives out the whole lines that it holds.
    init(path: String) throws(SystemError) {
        self.path = path
        self.descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw SystemError(call: "open \(path)", code: errno) }
    }

    deinit { close(self.descriptor) }

    var isEmpty: Bool { lseek(self.descriptor, 0, SEEK_END) == 0 }

    private static let pieceBytes = 1 << 18
    /// A line beyond this is none of ours, and what is kept of it is its end alone: that is a line that means nothing.
    private static let lineBytesMax = 16 << 20

    /// Reads every complete line, without holding all of them. Returns whether an incomplete one was cut off
    /// at the end.
    func eachLine(_ body: (ArraySlice<UInt8>) -> Void) throws(SystemError) -> Bool {
        // A pipe or a device has no end that a reader could come to.
        var status = stat()
        guard unsafe fstat(self.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(call: "read \(self.path), which is not a file", code: EINVAL)
        }
        let newline = UInt8(ascii: "\n")
        var bytes: [UInt8] = []
        var whole = 0
        reading: while true {
            let unread = bytes.count
            switch DescriptorIO.read(self.descriptor, appendingTo: &bytes, limit: Self.pieceBytes) {
            case .bytes: break
            case .end, .wouldBlock: break reading
            case .failed(let code): throw SystemError(call: "read \(self.path)", code: code)
            }
            guard let last = bytes[unread...].lastIndex(of: newline) else {
                if bytes.count > Self.lineBytesMax {
                    whole += bytes.count
                    bytes.removeAll()
                }
                continue
            }
            for line in bytes[...last].split(separator: newline) { body(line) }
            bytes.removeFirst(last + 1)
            whole += last + 1
        }
        guard !bytes.isEmpty else { return false }
        guard ftruncate(self.descriptor, off_t(whole)) == 0 else {
            throw SystemError(call: "ftruncate \(self.path)", code: errno)
        }
        return true
    }

    /// Appends everything or throws; after a failure every call throws, because what follows a gap means nothing.
    func append(_ bytes: [UInt8]) throws(SystemError) {
        guard !self.isFailed else { throw SystemError(call: "write \(self.path)", code: EIO) }
        var start = 0
        while start < bytes.count {
            switch DescriptorIO.write(self.descriptor, bytes[start...]) {
            case .bytes(let count): start += count
            case .wouldBlock, .end: continue
            case .failed(let code):
                self.isFailed = true
                throw SystemError(call: "write \(self.path)", code: code)
            }
        }
    }

    func sync() { _ = fsync(self.descriptor) }
}

/// Folders and files by name.
package enum FileTree {
    /// Makes a folder and those above it; nothing happens when it is there.
    package static func makeFolder(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            guard unsafe mkdir(made, mode_t(mode)) == 0 || errno == EEXIST else {
                throw SystemError(call: "mkdir \(made)", code: errno)
            }
        }
    }

    /// A new, empty folder for this process alone, below `TMPDIR` or `/tmp`.
    package static func makeTemporaryFolder(named name: String) throws(SystemError) -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/\(name).XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) } != nil
        }
        guard made else { throw SystemError(call: "mkdtemp \(base)/\(name)", code: errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    package static func remove(_ path: String) { _ = unsafe unlink(path) }

    package static func removeFolder(_ path: String) { _ = unsafe rmdir(path) }

    package static func replace(_ path: String, by newPath: String) throws(SystemError) {
        guard unsafe rename(newPath, path) == 0 else {
            throw SystemError(call: "rename \(newPath)", code: errno)
        }
    }
}
