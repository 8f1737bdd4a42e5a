import JSON
import SystemIO

/// A file that grows as the run goes: writes are gathered, and the first failure is kept and ends the writing.
struct OutputFile {
    /// Bytes gathered until they are written.
    static let bufferBytesMax = 64 * 1_024

    let path: String
    private let file: File
    private var buffer: [UInt8] = []
    /// Bytes taken so far.
    private(set) var bytes = 0
    /// The system's words for the first failure.
    private(set) var failure: String?

    /// Makes the file, or empties it.
    init(creating path: String) throws(OutputError.Failure) {
        self.path = path
        do throws(SystemError) {
            self.file = try File(path, .replace)
        } catch {
            throw OutputError.Failure(path: path, error)
        }
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
        do throws(SystemError) {
            try self.file.write(self.buffer)
        } catch {
            self.failure = error.reason
        }
        self.buffer.removeAll(keepingCapacity: true)
    }

    mutating func close() {
        self.flush()
        do throws(SystemError) {
            try self.file.checkStored()
        } catch {
            self.failure = self.failure ?? error.reason
        }
    }

    /// Writes a whole file so that it is never seen half written: next to its path, then moved there. What is
    /// not a file, such as a terminal or a pipe, is written to.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputError.Failure) {
        do throws(SystemError) {
            try File.save(bytes, to: path)
        } catch {
            throw OutputError.Failure(path: path, error)
        }
    }
}

extension OutputError.Failure: Error {
    init(path: String, _ error: SystemError) { self.init(path: path, reason: error.reason) }
}
