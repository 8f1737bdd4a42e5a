import SimBase
import SystemIO

/// An append-only file of lines. A line that a dying process did not finish is cut off when the file is opened again.
///
/// What was appended survives the end of the process: it is the kernel's by then. The end of the machine it may not survive
/// (Docs/design.md section 11.6).
final class JournalFile {
    private let file: File
    private var isFailed = false

    /// Opens or makes the file, readable by its owner alone, and gives out the whole lines that it holds.
    init(path: String) throws(SystemError) {
        self.file = try File(path, .append)
        self.size = self.file.size
    }

    /// The bytes of the file, all of whole lines once it was read.
    private(set) var size: Int

    private static let pieceBytes = 1 << 18
    /// A line beyond this is none of ours, and what is kept of it is its end alone: that is a line that means nothing.
    private static let lineBytesMax = 16 << 20

    /// Reads every complete line, without holding all of them. Returns whether an incomplete one was cut off
    /// at the end.
    func eachLine(_ body: (ArraySlice<UInt8>) -> Void) throws(SystemError) -> Bool {
        // A pipe or a device has no end that a reader could come to.
        guard case .file = FileTree.kind(of: self.file.path) else {
            throw SystemError(call: "read \(self.file.path), which is not a file", code: SystemCode.invalid)
        }
        let newline = UInt8(ascii: "\n")
        var bytes: [UInt8] = []
        var whole = 0
        var unread = 0
        while try self.file.read(appendingTo: &bytes, limit: Self.pieceBytes) > 0 {
            if let last = bytes[unread...].lastIndex(of: newline) {
                var start = 0
                while start <= last {
                    let end = bytes.offset(from: start) { $0.equal(newline) }
                    if end > start { body(bytes[start..<end]) }
                    start = end + 1
                }
                bytes.removeFirst(last + 1)
                whole += last + 1
            } else if bytes.count > Self.lineBytesMax {
                whole += bytes.count
                bytes.removeAll()
            }
            unread = bytes.count
        }
        guard !bytes.isEmpty else { return false }
        try self.file.truncate(to: whole)
        self.size = whole
        return true
    }

    /// Appends everything or throws; after a failure every call throws, because what follows a gap means nothing.
    func append(_ bytes: [UInt8]) throws(SystemError) {
        guard !self.isFailed else {
            throw SystemError(call: "write \(self.file.path)", code: SystemCode.inputOutput)
        }
        do throws(SystemError) {
            try self.file.write(bytes)
            self.size += bytes.count
        } catch {
            self.isFailed = true
            throw error
        }
    }
}
