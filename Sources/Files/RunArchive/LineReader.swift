import SimBase
import SystemIO

/// The lines of a file, one after the other, in constant memory.
package struct LineReader {
    /// A line beyond this is none of ours; it is left out and counted.
    package static let lineBytesMax = 16 << 20
    private static let chunkBytes = 256 * 1_024

    private let file: File
    /// Whether the file is still being written: more may follow its end, and an incomplete line may become complete.
    private let isGrowing: Bool
    private var buffer: [UInt8] = []
    private var offset = 0
    /// The offset in the file of the first byte of the buffer.
    private var passed = 0
    /// The offset in the file of the line that `next` returned last, in bytes.
    private(set) var start = 0
    private var isAtEnd = false
    /// Whether the last line that came had its line feed.
    package private(set) var isWhole = true

    /// Nil when there is no such file or it cannot be read.
    package init?(path: String, isGrowing: Bool = false) {
        guard let file = InputFile.open(path) else { return nil }
        self.file = file
        self.isGrowing = isGrowing
    }

    /// The next line without its line feed; nil at the end. Of a growing file there may be more later.
    package mutating func next() -> ArraySlice<UInt8>? {
        var searched = self.offset
        while true {
            let end = self.buffer.offset(from: searched) { $0.equal(UInt8(ascii: "\n")) }
            if end < self.buffer.count {
                let line = self.buffer[self.offset..<end]
                self.start = self.passed + self.offset
                self.offset = end + 1
                return line
            }
            guard !self.isAtEnd else {
                guard self.offset < self.buffer.count else { return nil }
                self.isWhole = false
                let line = self.buffer[self.offset...]
                self.start = self.passed + self.offset
                self.offset = self.buffer.count
                return line
            }
            self.passed += self.offset
            self.buffer.removeFirst(self.offset)
            self.offset = 0
            if self.buffer.count > Self.lineBytesMax {
                self.passed += self.buffer.count
                self.buffer.removeAll()
            }
            searched = self.buffer.count
            let more = try? self.file.read(appendingTo: &self.buffer, limit: Self.chunkBytes)
            guard more ?? 0 == 0 else { continue }
            if self.isGrowing { return nil }
            self.isAtEnd = true
        }
    }
}
