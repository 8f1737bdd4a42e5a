import Foundation

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
        do {
            try Data().write(to: URL(fileURLWithPath: path))
            self.handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        } catch {
            throw OutputError.Failure(path: path, reason: Self.reason(error))
        }
        self.buffer.reserveCapacity(Self.bufferBytesMax)
    }

    mutating func append(_ bytes: [UInt8]) {
        guard self.failure == nil else { return }
        self.buffer.append(contentsOf: bytes)
        self.appended(bytes.count)
    }

    mutating func append(_ line: borrowing JSONBytes) {
        guard self.failure == nil else { return }
        line.copy(to: &self.buffer)
        self.appended(line.count)
    }

    private mutating func appended(_ count: Int) {
        self.bytes += count
        if self.buffer.count >= Self.bufferBytesMax { self.flush() }
    }

    /// Hands what was gathered to the system: from then on a kill of this process loses nothing of it.
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

    /// Writes a whole file so that it is never seen half written: beside its place, then moved there.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputError.Failure) {
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw OutputError.Failure(path: path, reason: Self.reason(error))
        }
    }

    /// The system's words where there are any, else Foundation's.
    static func reason(_ error: any Error) -> String {
        var found: NSError? = error as NSError
        while let error = found {
            if error.domain == NSPOSIXErrorDomain { return Self.reason(code: Int32(error.code)) }
            found = error.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        return (error as NSError).localizedDescription
    }

    static func reason(code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)"
    }
}

extension OutputError.Failure: Error {}
